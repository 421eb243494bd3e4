package council_test

import (
	"strings"
	"testing"

	"sibyl/internal/council"
	"sibyl/internal/council/prompt"
	"sibyl/internal/council/session"
)

func TestExportOfASessionHoldsNoPictureAndNoHTML(t *testing.T) {
	const hostile = "![x](https://e.example/p.png) <" + "img src=https://e.example/q.png> [run](javascript:alert(1)) \x1b]0;t\x07"
	x := council.Export{Session: session.Session{ID: "s", Name: hostile}, Problems: []string{hostile},
		Entries: []prompt.Entry{{Sequence: 1, Text: "said " + hostile}, {Sequence: 1, Oracle: hostile, Text: hostile}}}
	text := strings.ReplaceAll(x.Markdown(), `\![`, "")
	for _, live := range []string{"![", "<" + "img", "[run](javascript", "\x1b"} {
		if strings.Contains(text, live) {
			t.Errorf("%q stands in\n%s", live, text)
		}
	}
	if !strings.Contains(text, "said ") {
		t.Errorf("words are lost:\n%s", text)
	}
}
