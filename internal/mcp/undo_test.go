package mcp_test

import (
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/mcp"
)

func TestUndoTakesBackTheVeryChangeOrNothing(t *testing.T) {
	h := newHouse(t)
	h.server = h.process(mcp.Config{Tasks: h.tasks, Undo: true})
	c := h.connect("ada", newer, nil)
	refused := func(code mcp.Code, o outcome) {
		t.Helper()
		assert.That(t, !o.Success && o.Code == code, "%+v, want %s", o, code)
	}
	c.call("add_task", `{"title":"Buy milk"}`)
	c.call("complete_task", `{"task_id":1}`)
	refused(mcp.Conflict, c.call("undo_task", `{"task_id":1}`, mcp.MetaVersion, 1))
	refused(mcp.Conflict, c.call("undo_task", `{"task_id":2}`))
	for range 2 { // under one key it is undone once
		undone := c.call("undo_task", `{"task_id":1}`, mcp.MetaVersion, 2, mcp.MetaKey, "k")
		after, _ := undone.Data["after"].(map[string]any)
		assert.That(t, after["status"] == "pending", "undone: %+v", undone)
	}
	gone := c.call("undo_task", `{"task_id":1}`)
	assert.That(t, gone.Success && gone.Data["after"] == nil, "an addition is undone as %+v", gone)
	refused(mcp.NotFound, c.call("undo_task", `{"task_id":1}`))
}
