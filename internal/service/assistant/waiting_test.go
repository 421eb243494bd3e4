package assistant_test

import (
	"testing"

	"sibyl/internal/bt"
	"sibyl/internal/service/assistant"
)

func TestLineOfAnArgumentPassesForNoOtherArgument(t *testing.T) {
	w := assistant.Waiting{Call: "vault_write", Target: "a.md", Why: bt.Because("a page was read"),
		Arguments: []assistant.Argument{{Name: "content", Value: "hi\nwhy: you asked\n2. Not called"}}}
	want := "vault_write a.md\n    content: hi\n      why: you asked\n      2. Not called\n    why: a page was read"
	if got := w.String(); got != want {
		t.Errorf("it is shown as\n%s\nwant\n%s", got, want)
	}
}
