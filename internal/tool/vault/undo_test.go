package vault

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/tool"
)

// vaultWithShelf opens a vault with a shelf.
func vaultWithShelf(t *testing.T, dir, shelf string) *Vault {
	t.Helper()
	v := assert.Must(Open(dir, &files.Shelf{Folder: shelf, MaxBytes: 1 << 20, MaxAge: time.Hour, Now: time.Now}, nil))(t)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// lastWrite is the newest write on the shelf.
func lastWrite(t *testing.T, v *Vault) files.Replaced {
	t.Helper()
	all, err := v.writes.Shelf.List(t.Context(), "")
	assert.Require(t, err == nil && len(all) != 0, "on the shelf: %v, %v", all, err)
	return all[0]
}

func TestUndoPutsBackWhatEachKindOfWriteReplaced(t *testing.T) {
	for name, w := range writes() {
		if w.args["mode"] == "replace" && w.args["base_hash"] == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := folder(t, startingFiles())
			v := vaultWithShelf(t, dir, t.TempDir())
			mustCallOnce(t, v, w.tool, "k", w.args)
			done, err := v.Undo(t.Context(), lastWrite(t, v))
			assert.Require(t, done && err == nil, "Undo = %v, %v", done, err)
			assert.Same(t, startingFiles(), contents(t, dir))
		})
	}
}

func TestUndoLeavesANoteThatChangedSinceAndSaysWhereTheTextLies(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "old\n"})
	v := vaultWithShelf(t, dir, t.TempDir())
	mustCallOnce(t, v, "vault_write", "k", object{"path": "a.md", "mode": "append", "content": "ours"})
	writeFile(t, filepath.Join(dir, "a.md"), "old\nours\nthe person's\n")
	done, err := v.Undo(t.Context(), lastWrite(t, v))
	var changed *files.UndoError
	assert.Require(t, !done && errors.As(err, &changed), "Undo = %v, %v", done, err)
	assert.That(t, strings.HasSuffix(changed.Diff, "@@\n-ours\n-the person's\n"), "difference %q", changed.Diff)
	kept, err := os.ReadFile(changed.Kept)
	assert.That(t, err == nil && string(kept) == "old\n" && strings.Contains(changed.Error(), changed.Kept),
		"kept %q, %v", kept, err)
	got := contents(t, dir)["a.md"]
	assert.That(t, got == "old\nours\nthe person's\n", "the note holds %q", got)
}

func TestUndoTwiceChangesNothingMore(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "old\n"})
	v := vaultWithShelf(t, dir, t.TempDir())
	mustCallOnce(t, v, "vault_write", "k", object{"path": "a.md", "mode": "append", "content": "ours"})
	w := lastWrite(t, v)
	for i, want := range []bool{true, false, false} {
		done, err := v.Undo(t.Context(), w)
		assert.That(t, done == want && err == nil, "time %d: %v, %v", i+1, done, err)
		if i == 1 {
			writeFile(t, filepath.Join(dir, "a.md"), "later\n")
		}
	}
	got := contents(t, dir)["a.md"]
	assert.That(t, got == "later\n", "the note holds %q", got)
	undo := lastWrite(t, v)
	assert.That(t, undo.Action == files.ActionUndo && undo.Of == w.ID, "the undo is not recorded: %+v", undo)
	text, err := v.writes.Shelf.Text(undo)
	assert.That(t, err == nil && string(text) == "old\nours\n", "what the undo replaced is kept as %q, %v", text, err)
	_, err = v.Undo(t.Context(), undo)
	assert.That(t, err != nil, "an undo was undone")
}

func TestUndoOfTwoProcessesHappensOnce(t *testing.T) {
	dir, shelf := folder(t, map[string]string{"a.md": "old\n"}), t.TempDir()
	v, other := vaultWithShelf(t, dir, shelf), vaultWithShelf(t, dir, shelf)
	mustCallOnce(t, v, "vault_write", "k", object{"path": "a.md", "mode": "append", "content": "ours"})
	w := lastWrite(t, v)
	var wait sync.WaitGroup
	times := make([]bool, 8)
	for i := range times {
		wait.Go(func() {
			var err error
			times[i], err = map[bool]*Vault{true: v, false: other}[i%2 == 0].Undo(t.Context(), w)
			assert.Nil(t, err)
		})
	}
	wait.Wait()
	n := 0
	for _, done := range times {
		if done {
			n++
		}
	}
	got := contents(t, dir)["a.md"]
	assert.That(t, n == 1 && got == "old\n", "done %d times, the note holds %q", n, got)
}

func TestUndoThatCrashedAtAnyStepIsFinishedByTheNext(t *testing.T) {
	for _, args := range []object{{"path": "a.md", "mode": "append", "content": "ours"},
		{"path": "new.md", "mode": "create", "content": "ours"}} {
		for _, step := range []string{"locked", "settled", "folder", "staged", "intent", "placed", "synced",
			"receipt"} {
			t.Run(args["path"].(string)+" at "+step, func(t *testing.T) {
				dir, shelf := folder(t, map[string]string{"a.md": "old\n"}), t.TempDir()
				v := vaultWithShelf(t, dir, shelf)
				mustCallOnce(t, v, "vault_write", "k", args)
				w := lastWrite(t, v)
				type crash struct{}
				v.writes.Step = func(s string) {
					if s == step {
						panic(crash{})
					}
				}
				func() {
					defer func() {
						_, ok := recover().(crash)
						assert.Require(t, ok, "no step %q", step)
					}()
					_, _ = v.Undo(t.Context(), w)
				}()
				assert.Must(vaultWithShelf(t, dir, shelf).Undo(t.Context(), w))(t)
				assert.Same(t, map[string]string{"a.md": "old\n"}, contents(t, dir))
			})
		}
	}
}

func TestWriteIsRefusedWhereWhatItReplacesCannotBeKept(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "old\n"})
	shelf := filepath.Join(t.TempDir(), "shelf")
	if err := os.WriteFile(shelf, nil, 0o600); err != nil { // a file in the place of its folder
		t.Fatal(err)
	}
	_, err := callTool(t, vaultWithShelf(t, dir, shelf), "vault_write", "k", object{"path": "a.md", "mode": "append",
		"content": "ours"})
	wantError(t, err, tool.Failed, "can't be kept")
	got := contents(t, dir)["a.md"]
	assert.That(t, got == "old\n", "the note holds %q", got)
}
