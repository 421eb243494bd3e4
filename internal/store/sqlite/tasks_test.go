package sqlite

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/task"
	"sibyl/internal/task/tasktest"
)

func TestTasksKeepTheGuarantees(t *testing.T) {
	tasktest.Run(t, func(t *testing.T) task.Store { return openAt(t, newPath(t), unsynced) })
}

func TestTasksAreSharedByHandlesOnOneFile(t *testing.T) {
	tasktest.RunShared(t, func(t *testing.T) func() task.Store {
		path := newPath(t)
		return func() task.Store { return openAt(t, path, unsynced) }
	})
}

func TestTasksAreAnsweredForAsInMemory(t *testing.T) {
	tasktest.Agree(t, openAt(t, newPath(t), unsynced))
}

func TestTasksAndTheirHistoryAreThereAfterReopening(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path)
	ada := task.By{Owner: "ada", Actor: "cli"}
	tasks := task.New(db, time.Now)
	added, _, err := tasks.Add(t.Context(), ada, "one", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = tasks.Delete(t.Context(), ada, added.ID, 0); err != nil {
		t.Fatal(err)
	}
	closed(t, db)
	tasks = task.New(openAt(t, path), time.Now)
	c, err := tasks.Undo(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	added.Version = 2
	if diff := cmp.Diff(&added, c.After); diff != "" {
		t.Errorf("what is back (-want +got):\n%s", diff)
	}
}

// What a call costs must not grow with what others keep.
func TestTasksAreFoundByIndexes(t *testing.T) {
	db := openAt(t, newPath(t))
	where, _, err := selected("ada", task.Filter{Status: task.Pending, IDs: []int64{1}})
	if err != nil {
		t.Fatal(err)
	}
	for query, index := range map[string]string{
		selectTask + `WHERE id = 1 AND owner = 'ada'`:                           "INTEGER PRIMARY KEY",
		selectTask + `WHERE owner = 'ada' AND gone = 0 ORDER BY created_at, id`: "task_by_owner",
		`SELECT count(*) FROM task ` + where:                                    "task_by_owner",
		selectChange + `WHERE owner = 'ada' AND key = 'k'`:                      "task_change_by_key",
		selectChange + `WHERE owner = 'ada' ORDER BY id DESC`:                   "task_change_by_owner",
		selectChange + `WHERE task = 1 AND owner = 'ada' ORDER BY id`:           "task_change_by_task",
	} {
		found, err := read(t.Context(), db, everything, func(r row) string { return r.text(3) }, `EXPLAIN QUERY PLAN `+query, make([]any, strings.Count(query, "?"))...)
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(found, "; ")
		if !strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "SCAN task") {
			t.Errorf("the plan of %q is %q", query, plan)
		}
	}
}

func BenchmarkTenThousandTasks(b *testing.B) {
	tasktest.BenchmarkLists(b, openAt(b, newPath(b), unsynced))
}
