package vault

import (
	"fmt"
	"testing"

	"sibyl/internal/text/markdown/markdowntest"
)

// What a note says may come from a stranger: whoever opens the note loads and runs nothing of it.
func TestNothingThatIsWrittenIntoANoteIsLive(t *testing.T) {
	v := vaultOf(t, map[string]string{"mine.md": "# Mine\n\n![holiday](https://photos.example/1.jpg)\n"})
	for i, text := range markdowntest.Texts() {
		if i%10 > 0 { // each write is synced
			continue
		}
		name := object{"path": "n.md", "mode": "create", "content": text}
		if i > 0 {
			name["mode"] = "append"
		}
		mustCallOnce(t, v, "vault_write", fmt.Sprint("key-", i), name)
	}
	markdowntest.Check(t, "notes", content(t, mustCall(t, v, "vault_read", object{"path": "n.md"})))
	read := mustCall(t, v, "vault_read", object{"path": "mine.md"})
	own := "# Ours\n\n![holiday](https://photos.example/1.jpg)"
	mustCallOnce(t, v, "vault_write", "mine", object{"path": "mine.md", "mode": "replace", "content": own,
		"base_hash": read.Refs[0].Hash})
	if got := content(t, mustCall(t, v, "vault_read", object{"path": "mine.md"})); got != own+"\n" {
		t.Errorf("a picture of the person's own became %q", got)
	}
}
