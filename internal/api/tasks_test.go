package api_test

import (
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/task"
)

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
