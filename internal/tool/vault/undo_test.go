package vault

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/files"
	"sibyl/internal/tool"
)

// vaultWithShelf opens a vault with a shelf.
func vaultWithShelf(t *testing.T, dir, shelf string) *Vault {
	t.Helper()
	v, err := Open(dir, &files.Shelf{Folder: shelf, MaxBytes: 1 << 20, MaxAge: time.Hour, Now: time.Now}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// lastWrite is the newest write on the shelf.
func lastWrite(t *testing.T, v *Vault) files.Replaced {
	t.Helper()
	all, err := v.writes.Shelf.List(t.Context(), "")
	if err != nil || len(all) == 0 {
		t.Fatalf("on the shelf: %v, %v", all, err)
	}
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
			if !done || err != nil {
				t.Fatalf("Undo = %v, %v", done, err)
			}
			if diff := cmp.Diff(startingFiles(), contents(t, dir)); diff != "" {
				t.Error(diff)
			}
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
	if done || !errors.As(err, &changed) {
		t.Fatalf("Undo = %v, %v", done, err)
	}
	if !strings.HasSuffix(changed.Diff, "@@\n-ours\n-the person's\n") {
		t.Errorf("difference %q", changed.Diff)
	}
	if kept, err := os.ReadFile(changed.Kept); err != nil || string(kept) != "old\n" ||
		!strings.Contains(changed.Error(), changed.Kept) {
		t.Errorf("kept %q, %v", kept, err)
	}
	if got := contents(t, dir)["a.md"]; got != "old\nours\nthe person's\n" {
		t.Errorf("the note holds %q", got)
	}
}

func TestUndoTwiceChangesNothingMore(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "old\n"})
	v := vaultWithShelf(t, dir, t.TempDir())
	mustCallOnce(t, v, "vault_write", "k", object{"path": "a.md", "mode": "append", "content": "ours"})
	w := lastWrite(t, v)
	for i, want := range []bool{true, false, false} {
		if done, err := v.Undo(t.Context(), w); done != want || err != nil {
			t.Errorf("time %d: %v, %v", i+1, done, err)
		}
		if i == 1 {
			writeFile(t, filepath.Join(dir, "a.md"), "later\n")
		}
	}
	if got := contents(t, dir)["a.md"]; got != "later\n" {
		t.Errorf("the note holds %q", got)
	}
	undo := lastWrite(t, v)
	if undo.Action != files.ActionUndo || undo.Of != w.ID {
		t.Errorf("the undo is not recorded: %+v", undo)
	}
	if text, err := v.writes.Shelf.Text(undo); err != nil || string(text) != "old\nours\n" {
		t.Errorf("what the undo replaced is kept as %q, %v", text, err)
	}
	if _, err := v.Undo(t.Context(), undo); err == nil {
		t.Error("an undo was undone")
	}
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
			if times[i], err = map[bool]*Vault{true: v, false: other}[i%2 == 0].Undo(t.Context(), w); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	n := 0
	for _, done := range times {
		if done {
			n++
		}
	}
	if got := contents(t, dir)["a.md"]; n != 1 || got != "old\n" {
		t.Errorf("done %d times, the note holds %q", n, got)
	}
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
						if _, ok := recover().(crash); !ok {
							t.Fatalf("no step %q", step)
						}
					}()
					_, _ = v.Undo(t.Context(), w)
				}()
				if _, err := vaultWithShelf(t, dir, shelf).Undo(t.Context(), w); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(map[string]string{"a.md": "old\n"}, contents(t, dir)); diff != "" {
					t.Error(diff)
				}
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
	if got := contents(t, dir)["a.md"]; got != "old\n" {
		t.Errorf("the note holds %q", got)
	}
}
