package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/task"
)

func TestRunThatIsSetAsideIsShownForcedAndCancelled(t *testing.T) {
	for name, force := range map[string]bool{"forced": true, "cancelled": false} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t).open()
			release := h.holds("ada")
			dying := &faulty{Store: h.store}
			dead, _ := h.service("dead", dying, h.panel)
			left := assert.Must(dead.Submit(t.Context(), "ada", service.Request{Assistant: "panel",
				Words: "Tea?", Options: "ada bob"}))(t)
			dying.fail(errDown)
			release()
			_, _ = left.Driven.Wait(t.Context())
			for n := range journal.MaxTries {
				now := time.Now().Add(time.Duration(n+1) * time.Hour)
				assert.NoError(t, h.store.Acquire(t.Context(), "ada", left.Run, fmt.Sprint("dead ", n), now, now.Add(time.Minute)))
			}
			at := "/api/runs/" + left.Run
			var all api.Runs
			h.get(question{path: "/api/runs"}, &all)
			if r := all.Runs[0]; r.Cause != run.CauseSetAside || r.State != run.StatePaused || !strings.Contains(r.Text, "3 times") {
				t.Errorf("it is %s, because %q", r.Cause, r.Text)
			}
			refused := h.refused("resumed", question{method: "POST", path: at + "/resume"}, 409, "set_aside")
			assert.That(t, strings.Contains(string(refused.body), "force=true"), "resumed: %s", refused.body)
			want := journal.Cancelled
			if force {
				want = journal.Done
				h.get(question{method: "POST", path: at + "/resume?force=true"}, nil)
			} else {
				h.get(question{method: "POST", path: at + "/cancel"}, nil)
			}
			r := h.ended("", left.Run)
			assert.That(t, r.Status == want && r.Text == "", "it ended as %s, because %q", r.Status, r.Why)
		})
	}
}

func TestRunsOfACompanionAreMarkedAndNotBegunByARequest(t *testing.T) {
	h := newHouse(t).open()
	request := asking("Tea?")
	request["assistant"] = "shadow"
	h.refused("a companion", question{method: "POST", path: "/api/runs", body: request}, 400, "invalid_request")
	now := time.Now()
	assert.NoError(t, h.store.Begin(t.Context(), journal.Beginning{Session: &journal.Session{ID: "s1", Owner: "ada",
		Assistant: "shadow", CreatedAt: now, UpdatedAt: now},
		Run:     journal.Run{ID: "r1", Session: "s1", Owner: "ada", Assistant: "shadow", StartedAt: now},
		Records: []journal.Record{{Kind: run.KindStart, Data: []byte("{}")}}}))
	var list api.Runs
	h.get(question{path: "/api/runs"}, &list)
	assert.That(t, len(list.Runs) == 1 && list.Runs[0].Companion, "the runs are %+v", list)
	var all api.Assistants
	h.get(question{path: "/api/assistants"}, &all)
	assert.That(t, len(all.Assistants) == 2 && !all.Assistants[0].Companion && all.Assistants[1].Companion &&
		all.Assistants[1].Options == nil, "the assistants are %+v", all)
}

// withTaskList is a house in which ada has a list: the first of three tasks was renamed, the second is done, and a
// fourth was deleted.
func withTaskList(t testing.TB) *house {
	h := newHouse(t)
	tasks, ada := h.config.Tasks, task.By{Owner: "ada", Actor: "chat: r1"}
	for _, title := range []string{"Call mum", "Buy milk", "Water the plants", "A secret plan"} {
		_, _, err := tasks.Add(t.Context(), ada, title, nil)
		assert.NoError(t, err)
	}
	title := "Call mum and dad"
	_, _, renamed := tasks.Update(t.Context(), ada, 1, 0, task.Edit{Title: &title})
	_, _, done := tasks.Complete(t.Context(), ada, 2, 0)
	_, _, gone := tasks.Delete(t.Context(), ada, 4, 0)
	assert.Require(t, renamed == nil && done == nil && gone == nil, "%v %v %v", renamed, done, gone)
	return h.open()
}

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
