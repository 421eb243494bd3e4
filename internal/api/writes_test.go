package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/api"
	"sibyl/internal/files"
	"sibyl/internal/journal"
)

// withNotes is a house in which assistants have written notes. taken are the writes that were taken back, with their owners.
func withNotes(t *testing.T) (h *house, taken *[]string) {
	h, taken = newHouse(t), &[]string{}
	at := time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)
	kept := map[journal.Owner][]files.Replaced{
		"ada": {{ID: "a3", At: at, Owner: "ada", Folder: "/srv/code-of-ada", Path: "c.md", Action: "vault_write", Before: "x", After: "y", Undone: "a4"},
			{ID: "a4", At: at, Owner: "ada", Folder: "/srv/code-of-ada", Path: "c.md", Action: files.ActionUndo, Of: "a3"},
			{ID: "a2", At: at, Owner: "ada", Folder: "/srv/code-of-ada", Path: "b.md", Action: "vault_write", After: "y", Key: "run2/7"},
			{ID: "a1", At: at, Owner: "ada", Folder: "/srv/no-more", Path: "a.md", Action: "vault_write", Before: "x", After: "y"}},
		"eve": {{ID: "e1", At: at, Owner: "eve", Folder: "/srv/eves", Path: "e.md", Action: "vault_write", Before: "x", After: "y"}}}
	h.config.Notes = &api.Notes{
		Writes: func(_ context.Context, owner journal.Owner) ([]files.Replaced, error) { return kept[owner], nil },
		Written: func(_ context.Context, owner journal.Owner, id string) (before, now []byte, err error) {
			if id == "a3" {
				return nil, nil, files.ErrNotKept
			}
			return []byte("was of " + string(owner)), []byte("is \u202e" + id), nil
		},
		Undo: func(_ context.Context, owner journal.Owner, id string) (files.Replaced, bool, error) {
			*taken = append(*taken, string(owner)+" "+id)
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
	return h.open(), taken
}

func TestWritesToNotesAreListedAndTakenBackByTheirOwner(t *testing.T) {
	h, taken := withNotes(t)
	var all api.Writes
	h.get(question{path: "/api/writes", token: adasReader}, &all)
	ids := ""
	for _, w := range all.Writes {
		ids += w.ID + " " + w.Folder + "/" + w.Path + " "
	}
	if ids != "a3 code/c.md a2 code/b.md " {
		t.Errorf("listed: %s", ids)
	}
	h.get(question{path: "/api/writes?run=run2", token: adasReader}, &all)
	if len(all.Writes) != 1 || all.Writes[0].ID != "a2" || all.Writes[0].Run != "run2" {
		t.Errorf("of the run: %+v", all.Writes)
	}
	var written api.Written
	h.get(question{path: "/api/writes/a2", token: adasReader}, &written)
	if written.Before != "was of ada" || written.Now != "is a2" || written.Path != "b.md" {
		t.Errorf("written: %+v", written)
	}
	h.refused("a write into a folder that is no more", question{path: "/api/writes/a1", token: adasReader}, 404, "not_found")
	h.refused("what is kept no longer", question{path: "/api/writes/a3", token: adasReader}, 410, "not_kept")
	var undone api.Undone
	h.get(question{method: "POST", path: "/api/writes/a2/undo"}, &undone)
	if !undone.Done || !undone.Undone || !undone.Made || undone.Path != "b.md" {
		t.Errorf("undone: %+v", undone)
	}
	h.get(question{method: "POST", path: "/api/writes/a3/undo"}, &undone)
	if undone.Done {
		t.Errorf("undone twice: %+v", undone)
	}
	if diff := cmp.Diff([]string{"ada a2", "ada a3"}, *taken); diff != "" {
		t.Errorf("taken back (-want +got):\n%s", diff)
	}
}

func TestWriteThatIsNoneOfTheUsersIsNotTakenBack(t *testing.T) {
	h, taken := withNotes(t)
	for about, q := range map[string]question{
		"another's":                  {path: "/api/writes/e1/undo"},
		"one that never was":         {path: "/api/writes/zz/undo"},
		"the beginning of an id":     {path: "/api/writes/a/undo"},
		"in a folder that was taken": {path: "/api/writes/a1/undo"},
		"an undo":                    {path: "/api/writes/a4/undo"},
	} {
		q.method = "POST"
		h.refused(about, q, 404, "not_found")
	}
	h.refused("with a token that reads", question{method: "POST", path: "/api/writes/a2/undo", token: adasReader}, 403, "scope")
	if len(*taken) > 0 {
		t.Errorf("taken back: %v", *taken)
	}
	a := h.refused("a note that changed since", question{method: "POST", path: "/api/writes/e1/undo", token: evesToken}, 409, "changed")
	if strings.Contains(string(a.body), "/srv") || strings.Contains(string(a.body), "secret") {
		t.Errorf("it tells %s", a.body)
	}
}
