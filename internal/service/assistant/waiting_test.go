package assistant_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/service/assistant"
)

func TestLineOfAnArgumentPassesForNoOtherArgument(t *testing.T) {
	w := assistant.Waiting{Call: "vault_write", Target: "a.md", Why: bt.Because("a page was read"),
		Arguments: []assistant.Argument{{Name: "content", Value: "hi\nwhy: you asked\n2. Not called"}}}
	want := "Write to the note a.md\n    content: hi\n      why: you asked\n      2. Not called\n    why: a page was read"
	got := w.String()
	assert.That(t, got == want, "it is shown as\n%s\nwant\n%s", got, want)
}

// The English words of the page stand first in its list.
func TestCallIsAskedForInTheWordsOfThePage(t *testing.T) {
	words := assert.Must(os.ReadFile(filepath.FromSlash("../../../web/src/words/talk.ts")))(t)
	found := regexp.MustCompile(`"allow\.call\.(\w+)": \["([^"]+)"`).FindAllStringSubmatch(string(words), -1)
	for _, f := range found {
		w := assistant.Waiting{Call: f[1], Target: "x"}
		if got, want := w.String(), f[2]+" x"; got != want {
			t.Errorf("%s: the terminal says %q, the page %q", f[1], got, want)
		}
	}
	assert.That(t, len(found) >= 4, "the page has words for %d calls", len(found))
	foreign := assistant.Waiting{Call: "tracker__get", Target: "7"}
	assert.Equalf(t, foreign.String(), "Call tracker__get 7", "a tool of others")
}
