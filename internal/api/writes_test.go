package api_test

import (
	"context"
	"testing"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/files"
	"sibyl/internal/journal"
)

// withNotes is a house in which assistants have written notes.
func withNotes(t testing.TB) *house {
	h := newHouse(t)
	at := time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)
	kept := map[journal.Owner][]files.Replaced{
		"ada": {{ID: "a3", At: at, Owner: "ada", Folder: "/srv/code-of-ada", Path: "c.md", Action: "vault_write",
			Before: "x", After: "y", Undone: "a4"},
			{ID: "a4", At: at, Owner: "ada", Folder: "/srv/code-of-ada", Path: "c.md",
				Action: files.ActionUndo, Of: "a3"},
			{ID: "a2", At: at, Owner: "ada", Folder: "/srv/code-of-ada", Path: "b.md", Action: "vault_write",
				After: "y", Key: "run2/7"},
			{ID: "a1", At: at, Owner: "ada", Folder: "/srv/no-more", Path: "a.md", Action: "vault_write",
				Before: "x", After: "y"}},
		"eve": {{ID: "e1", At: at, Owner: "eve", Folder: "/srv/eves", Path: "e.md", Action: "vault_write",
			Before: "x", After: "y"}}}
	h.config.Notes = &api.Notes{
		Writes: func(_ context.Context, owner journal.Owner) ([]files.Replaced, error) { return kept[owner], nil },
		Written: func(_ context.Context, owner journal.Owner, id string) (before, now []byte, err error) {
			if id == "a3" {
				return nil, nil, files.ErrNotKept
			}
			return []byte("was of " + string(owner)), []byte("is \u202e" + id), nil
		},
		Undo: func(_ context.Context, owner journal.Owner, id string) (files.Replaced, bool, error) {
			h.taken = append(h.taken, string(owner)+" "+id)
			for _, w := range kept[owner] {
				if w.ID == id && w.Path == "e.md" {
					return w, false, &files.UndoError{Write: w, Kept: "/srv/data/kept", Diff: "- secret"}
				}
				if w.ID == id {
					return w, w.Undone == "", nil
				}
			}
			return files.Replaced{}, false, files.ErrNotKept
		}}
	return h.open()
}
