package council_test

import (
	"strings"
	"testing"

	"sibyl/internal/council"
	"sibyl/internal/council/prompt"
	"sibyl/internal/council/session"
	"sibyl/internal/text/markdown/markdowntest"
)

func TestExportOfASessionHoldsNoPictureAndNoHTML(t *testing.T) {
	for _, hostile := range markdowntest.Texts() {
		x := council.Export{Session: session.Session{ID: "s", Name: hostile}, Problems: []string{hostile},
			Entries: []prompt.Entry{{Sequence: 1, Text: "said \x1b]0;t\x07" + hostile}, {Sequence: 1, Oracle: hostile,
				Text: hostile}}}
		text := x.Markdown()
		markdowntest.Check(t, hostile, text)
		if strings.Contains(text, "\x1b") || !strings.Contains(text, "said ") {
			t.Errorf("a control character stays, or words are lost:\n%s", text)
		}
	}
}
