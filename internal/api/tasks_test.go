package api_test

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/task"
)

// withTaskList is a house in which ada has a list: the first of three tasks was renamed, the second is done, and a fourth was deleted.
func withTaskList(t *testing.T) *house {
	h := newHouse(t)
	tasks, ada := h.config.Tasks, task.By{Owner: "ada", Actor: "chat: r1"}
	for _, title := range []string{"Call mum", "Buy milk", "Water the plants", "A secret plan"} {
		if _, _, err := tasks.Add(t.Context(), ada, title, nil); err != nil {
			t.Fatal(err)
		}
	}
	title := "Call mum and dad"
	_, _, renamed := tasks.Update(t.Context(), ada, 1, 0, task.Edit{Title: &title})
	_, _, done := tasks.Complete(t.Context(), ada, 2, 0)
	_, _, gone := tasks.Delete(t.Context(), ada, 4, 0)
	if renamed != nil || done != nil || gone != nil {
		t.Fatal(renamed, done, gone)
	}
	return h.open()
}

// titles are those of a list at an address, and where it goes on.
func (h *house) titles(path string) (titles string, next int64) {
	h.Helper()
	var all api.Tasks
	h.get(question{path: path, token: adasReader}, &all)
	for _, t := range all.Tasks {
		titles += t.Title + "; "
	}
	return titles, all.Next
}

func TestTaskListIsFilteredOrderedAndPaged(t *testing.T) {
	h := withTaskList(t)
	for path, want := range map[string]string{
		"/api/tasks":                        "Call mum and dad; Buy milk; Water the plants; ",
		"/api/tasks?order=newest":           "Water the plants; Buy milk; Call mum and dad; ",
		"/api/tasks?status=completed":       "Buy milk; ",
		"/api/tasks?status=pending":         "Call mum and dad; Water the plants; ",
		"/api/tasks?limit=2":                "Call mum and dad; Buy milk; ",
		"/api/tasks?limit=2&after=2":        "Water the plants; ",
		"/api/tasks?status=pending&after=3": "",
	} {
		if got, _ := h.titles(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if _, next := h.titles("/api/tasks?limit=2"); next != 2 {
		t.Errorf("the list goes on at %d, want 2", next)
	}
	var evens api.Tasks
	a := h.get(question{path: "/api/tasks", token: evesToken}, &evens)
	if !strings.Contains(string(a.body), `"tasks":[]`) || evens.Last != nil || evens.Total != 0 {
		t.Errorf("another user sees %s", a.body)
	}
}

func TestHistoryOfATaskIsToldTheLatestFirstAlsoOnceItIsDeleted(t *testing.T) {
	h := withTaskList(t)
	var past api.TaskHistory
	h.get(question{path: "/api/tasks/1/history", token: adasReader}, &past)
	if n := len(past.Changes); n != 2 || past.Changes[0].Action != task.Update || past.Changes[0].Before.Title != "Call mum" || past.Changes[0].After.Version != 2 ||
		past.Changes[1].Before != nil || past.Changes[1].Actor != "chat: r1" {
		t.Errorf("the history has %d changes: %+v", n, past.Changes)
	}
	var first, second api.TaskHistory
	h.get(question{path: "/api/tasks/4/history?limit=1"}, &first)
	h.get(question{path: fmt.Sprintf("/api/tasks/4/history?limit=1&after=%d", first.Next)}, &second)
	if first.Changes[0].Action != task.Delete || first.Changes[0].After != nil || second.Changes[0].Action != task.Add || second.Next != 0 {
		t.Errorf("of a deleted task: %+v, then %+v", first, second)
	}
}

func TestLastChangeOfTheTasksIsTakenBackOnceUnderAKey(t *testing.T) {
	h := withTaskList(t)
	last := func() int64 {
		var all api.Tasks
		h.get(question{path: "/api/tasks"}, &all)
		return all.Last.ID
	}
	undo := question{method: "POST", path: "/api/tasks/undo", body: api.TaskUndo{Change: last()}, header: map[string]string{"Idempotency-Key": "k1"}}
	var first, again task.Change
	h.get(undo, &first)
	h.get(undo, &again)
	if first.Undoes != undo.body.(api.TaskUndo).Change || first.After == nil || first.After.Title != "A secret plan" || first.Actor != "http" || again.ID != first.ID {
		t.Errorf("taken back: %+v, and again %+v", first, again)
	}
	undo.header = nil
	h.refused("what is not the last any more", undo, 409, "changed")
	if titles, _ := h.titles("/api/tasks"); !strings.Contains(titles, "A secret plan") {
		t.Errorf("the list is %q", titles)
	}
	for last() != 1 {
		undo.body = api.TaskUndo{Change: last()}
		h.get(undo, nil)
	}
	undo.body = api.TaskUndo{Change: 1}
	h.get(undo, nil)
	h.refused("nothing", undo, 409, "no_change")
}

func TestTaskIsAddedChangedCompletedReopenedAndDeletedByAPerson(t *testing.T) {
	h := withTaskList(t)
	add := question{method: "POST", path: "/api/tasks", body: api.NewTask{Title: "Call Ada"}, header: map[string]string{"Idempotency-Key": "k"}}
	var made, again, now task.Task
	h.get(add, &made)
	h.get(add, &again)
	if made.Title != "Call Ada" || again.ID != made.ID {
		t.Fatalf("added: %+v, and again %+v", made, again)
	}
	path := fmt.Sprint("/api/tasks/", made.ID)
	change := func(e api.TaskEdit) question { return question{method: "PATCH", path: path, body: e} }
	title, pending, completed := "Call Ada back", task.Pending, task.Completed
	h.get(change(api.TaskEdit{Version: made.Version, Title: &title}), &now)
	if now.Title != title || now.Status != task.Pending {
		t.Errorf("renamed: %+v", now)
	}
	h.refused("an older version", change(api.TaskEdit{Version: made.Version, Status: &completed}), 409, "changed")
	h.get(change(api.TaskEdit{Version: now.Version, Status: &completed}), &now)
	if now.Status != task.Completed {
		t.Errorf("completed: %+v", now)
	}
	h.get(change(api.TaskEdit{Version: now.Version, Status: &pending}), &now)
	if now.Status != task.Pending {
		t.Errorf("reopened: %+v", now)
	}
	h.refused("nothing to change", change(api.TaskEdit{Version: now.Version}), 400, "invalid_request")
	h.refused("words beside a status", change(api.TaskEdit{Version: now.Version, Title: &title, Status: &completed}), 400, "invalid_request")
	remove := question{method: "DELETE", path: fmt.Sprint(path, "?version=", now.Version)}
	complete := change(api.TaskEdit{Version: now.Version, Status: &completed})
	for about, q := range map[string]question{"adding": add, "changing": complete, "deleting": remove} {
		q.header, q.token = nil, adasReader
		h.refused(about+", who may only read", q, 403, "scope")
		if q.token = evesToken; q.method != "POST" {
			h.refused(about+" another's", q, 404, "not_found")
		}
	}
	if titles, _ := h.titles("/api/tasks?status=pending"); titles != "Call mum and dad; Water the plants; Call Ada back; " {
		t.Errorf("then the list is %q", titles)
	}
	h.get(remove, nil)
	h.refused("a task that is deleted", remove, 404, "not_found")
}

func TestTasksThatCannotBeSeenOrChangedAreRefused(t *testing.T) {
	h := withTaskList(t)
	h.refused("another's history", question{path: "/api/tasks/1/history", token: evesToken}, 404, "not_found")
	h.refused("a history that never was", question{path: "/api/tasks/99/history"}, 404, "not_found")
	for _, path := range []string{"/api/tasks/x/history", "/api/tasks/0/history", "/api/tasks?status=open", "/api/tasks?limit=0", "/api/tasks?after=-1", "/api/tasks?after=99"} {
		h.refused(path, question{path: path}, 400, "invalid_request")
	}
	undo := question{method: "POST", path: "/api/tasks/undo", body: api.TaskUndo{Change: 7}}
	for about, q := range map[string]question{"an undo of no change": {method: "POST", path: undo.path, body: "{}"}, "an undo without a body": {method: "POST", path: undo.path}} {
		h.refused(about, q, 400, "invalid_request")
	}
	undo.token = adasReader
	h.refused("an undo by who may only read", undo, 403, "scope")
	undo.token = evesToken
	h.refused("an undo of another's change", undo, 409, "no_change")
}
