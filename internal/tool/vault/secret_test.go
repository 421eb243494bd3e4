package vault

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/redact"
	"sibyl/internal/redact/redacttest"
	"sibyl/internal/tool"
)

func wantNoSecret(t *testing.T, v redacttest.Vector, how string, res tool.Result) {
	t.Helper()
	for _, leak := range v.Leaks(res.Text + "\n" + string(res.Data)) {
		t.Errorf("%s, %s: %q is in\n%s", v.Name, how, leak, res.Text)
	}
}

func TestSecretsInNotesAreTakenOutOfWhatToolsSay(t *testing.T) {
	for all := range slices.Chunk(redacttest.Vectors(t), 8) { // a search reads all notes of a vault
		notes := map[string]string{}
		for i, v := range all {
			notes[fmt.Sprintf("v%03d.md", i)] = fmt.Sprintf("# Plan%d\n\n%s\n", i, v.Text)
		}
		v := vaultOf(t, notes)
		for i, x := range all {
			name := fmt.Sprintf("v%03d.md", i)
			read := mustCall(t, v, "vault_read", object{"path": name})
			wantNoSecret(t, x, "read", read)
			if got := content(t, read); len(x.Secrets) == 0 && !strings.Contains(got, strings.Split(x.Text, "\n")[0]) {
				t.Errorf("%s does not stay: %q", x.Name, got)
			}
			for start := 4; start <= read.Refs[0].End; start++ {
				wantNoSecret(t, x, fmt.Sprintf("read from line %d", start),
					mustCall(t, v, "vault_read", object{"path": name, "start": start}))
			}
			wantNoSecret(t, x, "read by its section",
				mustCall(t, v, "vault_read", object{"path": name, "section": fmt.Sprintf("Plan%d", i)}))
			wantNoSecret(t, x, "found", mustCall(t, v, "vault_search", object{"query": fmt.Sprintf("Plan%d", i)}))
			word := strings.FieldsFunc(x.Text, func(r rune) bool { return r < 'A' || r > 'z' })
			if len(word) > 0 {
				wantNoSecret(t, x, "found by a word of it", mustCall(t, v, "vault_search", object{"query": word[0]}))
			}
		}
		list := mustCall(t, v, "vault_list", object{})
		for _, x := range all {
			wantNoSecret(t, x, "listed", list)
		}
	}
}

func TestSecretsInThreadsAreTakenOutOfWhatToolsSay(t *testing.T) {
	v, entry := vaultOf(t, nil), 0
	for group := range slices.Chunk(redacttest.Vectors(t), 12) { // each entry is synced
		text := ""
		for _, x := range group {
			text += x.Text + "\n\nAnd then there is another thing, which is told in some words.\n\n"
		}
		thread := fmt.Sprintf("t%d", entry%3)
		entry++
		mustCallOnce(t, v, "thread_push", fmt.Sprintf("key-%d", entry), object{"thread": thread, "text": text})
		read, list := mustCall(t, v, "thread_read", object{"thread": thread}), mustCall(t, v, "thread_list", object{})
		for _, x := range group {
			words := strings.Join(strings.FieldsFunc(x.Want, func(r rune) bool { return r < 'A' || r > 'z' }), " ")
			wantNoSecret(t, x, "as an entry of a thread", read)
			wantNoSecret(t, x, "in the list of threads", list)
			wantNoSecret(t, x, "found in a thread",
				mustCall(t, v, "thread_seek", object{"query": "thing " + tool.Clip(words, 200), "thread": thread}))
		}
	}
}

func TestNoteIsNotReplacedByATextWithoutItsSecret(t *testing.T) {
	note := "# Router\n\npassword: hQ4w" + "Tz8kP2mN\n"
	v := vaultOf(t, map[string]string{"router.md": note})
	read := mustCall(t, v, "vault_read", object{"path": "router.md"})
	text := content(t, read)
	assert.Require(t, strings.Contains(text, redact.Mark), "the secret is shown: %s", text)
	_, err := callTool(t, v, "vault_write", "one", object{"path": "router.md", "mode": "replace",
		"content": text + "more\n", "base_hash": read.Refs[0].Hash})
	wantError(t, err, tool.Denied, "router.md", "lose it")
	res := mustCallOnce(t, v, "vault_write", "two", object{"path": "router.md", "mode": "append", "content": "it was " +
		redact.Mark})
	assert.That(t, strings.Contains(res.Text, "a secret was taken out"),
		"nothing says that a secret is missing: %s", res.Text)
}
