//go:build unix

package vault

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/files"
)

// forged is a vault as somebody may hand it over: with a state folder that says of a file that it was appended to, and that an editor wrote
// something into the one that was replaced.
func forged(t *testing.T, name, was, evil string, kept int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	const key = "0000000000000000000000000000000000000000000000000000000000000000"
	receipt, err := json.Marshal(map[string]any{"tool": "vault_write", "args": "x", "path": name, "after": files.Hash([]byte(was)), "size": len(was), "appends": true,
		"before": files.Hash(nil), "kept": kept, "result": map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{name: was, "note.md": "# Note\n", ".sibyl/ops/" + key + ".json": string(receipt), ".sibyl/replaced/" + key: evil} {
		at := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func appendTo(t *testing.T, dir, note string) error {
	t.Helper()
	v, err := Open(dir, &files.Shelf{Folder: filepath.Join(t.TempDir(), "replaced"), MaxBytes: 1 << 20, MaxAge: time.Hour, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	_, err = try(t, v, "vault_write", note, object{"path": note, "mode": modeAppend, "content": "- a line\n"})
	if closed := v.Close(); closed != nil {
		t.Error(closed)
	}
	return err
}

func TestStateFolderOfSomebodyElseChangesNothingButNotes(t *testing.T) {
	for _, name := range []string{".git/config", ".git/hooks/post-commit", "Makefile", ".obsidian/app.json", ".sibyl/lock"} {
		was := "[core]\n\tbare = false\n"
		dir := forged(t, name, was, "[core]\n\tfsmonitor = evil\n", 0)
		if err := appendTo(t, dir, "note.md"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || string(text) != was {
			t.Errorf("%s became %q, %v", name, text, err)
		}
	}
}

func TestStateFolderOfSomebodyElseWithNumbersThatCannotBeBreaksNothing(t *testing.T) {
	for _, kept := range []int{-1, 7, 1 << 40} {
		dir := forged(t, "other.md", "# Other", "late\n", kept)
		if err := appendTo(t, dir, "note.md"); err != nil {
			t.Errorf("%d: %v", kept, err)
		}
	}
}

func TestPartsOfAStateFolderThatHaveNoEndKeepNobodyWaiting(t *testing.T) {
	for _, folder := range []string{"pending", "ops", "replaced"} {
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
			dir := forged(t, "other.md", "# Other", "late\n", 0)
			name := filepath.Join(dir, ".sibyl", folder, strings.Repeat("1", 64))
			if folder != "replaced" {
				name += ".json"
			}
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := put(name); err != nil {
				t.Fatal(err)
			}
			if err := appendTo(t, dir, "note.md"); err != nil {
				t.Errorf("%s in %s: %v", about, folder, err)
			}
			text, err := os.ReadFile(filepath.Join(dir, "note.md"))
			if err != nil || !bytes.Contains(text, []byte("a line")) {
				t.Errorf("%s in %s: the note is %q, %v", about, folder, text, err)
			}
		}
	}
}
