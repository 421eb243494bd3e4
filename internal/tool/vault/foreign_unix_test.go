//go:build unix

package vault

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
)

const foreignKey = "0000000000000000000000000000000000000000000000000000000000000000"

// forgedVault is a vault as somebody may hand it over: with a state folder that says of a file that it was being
// appended to.
func forgedVault(t *testing.T, name, was, after string, size int) (dir string) {
	t.Helper()
	begun := encode(t, object{
		"tool": "vault_write", "args": "x", "path": name, "before": files.Hash(nil), "after": after, "size": size,
		"appends": true, "result": object{},
	})
	return folder(t, map[string]string{name: was, "note.md": "# Note\n", stateDir + "/content": "evil", intentDir +
		"/" + foreignKey + ".json": string(begun)})
}

func appendTo(t *testing.T, dir, note string) error {
	t.Helper()
	_, err := callTool(t, open(t, dir), "vault_write", note, object{"path": note, "mode": modeAppend,
		"content": "- a line\n"})
	return err
}

func TestStateFolderOfSomebodyElseChangesNothingButNotes(t *testing.T) {
	const was = "[core]\n\tbare = false\n"
	for _, name := range []string{".git/config", ".git/hooks/post-commit", "Makefile", ".obsidian/app.json", "../out",
		".sibyl/lock"} {
		for _, after := range []string{files.Hash([]byte(was)), files.Hash([]byte("evil")), ""} {
			dir := forgedVault(t, name, was, after, len(was))
			err := appendTo(t, dir, "note.md")
			assert.That(t, err == nil, "%s: %v", name, err)
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			assert.That(t, err == nil && string(text) == was, "%s became %q, %v", name, text, err)
		}
	}
}

func TestStateFolderOfSomebodyElseWithNumbersThatCannotBeBreaksNothing(t *testing.T) {
	for _, size := range []int{-1, 7, 1 << 40} {
		assert.Nilf(t, appendTo(t, forgedVault(t, "other.md", "# Other", files.Hash(nil), size), "note.md"), "%d", size)
	}
}

func TestPartsOfAStateFolderThatHaveNoEndKeepNobodyWaiting(t *testing.T) {
	for _, part := range []string{"pending/" + foreignKey + ".json", "pending/.begun", "ops/" + foreignKey + ".json",
		"content"} {
		for about, put := range map[string]func(name string) error{
			"a pipe": func(name string) error { return syscall.Mkfifo(name, 0o600) },
			"a link": func(name string) error { return os.Symlink("/dev/zero", name) },
			"vast": func(name string) error {
				if err := os.WriteFile(name, nil, 0o600); err != nil {
					return err
				}
				return os.Truncate(name, 1<<40)
			},
		} {
			dir := folder(t, map[string]string{"note.md": "# Note\n", intentDir + "/x": "", receiptDir + "/x": ""})
			assert.NoError(t, put(filepath.Join(dir, stateDir, filepath.FromSlash(part))))
			err := appendTo(t, dir, "note.md")
			assert.That(t, err == nil, "%s in %s: %v", about, part, err)
			text, err := os.ReadFile(filepath.Join(dir, "note.md"))
			assert.That(t, err == nil && bytes.Contains(text, []byte("a line")),
				"%s in %s: the note is %q, %v", about, part, text, err)
		}
	}
}
