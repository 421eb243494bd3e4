package mcp_test

import (
	"testing"

	"sibyl/internal/mcp"
)

func TestUndoTakesBackTheVeryChangeOrNothing(t *testing.T) {
	h := newHouse(t)
	h.server = h.process(mcp.Config{Tasks: h.tasks, Undo: true})
	c := h.connect("ada", newer, nil)
	refused := func(code mcp.Code, o outcome) {
		t.Helper()
		if o.Success || o.Code != code {
			t.Errorf("%+v, want %s", o, code)
		}
	}
	c.call("add_task", `{"title":"Buy milk"}`)
	c.call("complete_task", `{"task_id":1}`)
	refused(mcp.Conflict, c.call("undo_task", `{"task_id":1}`, mcp.MetaVersion, 1))
	refused(mcp.Conflict, c.call("undo_task", `{"task_id":2}`))
	for range 2 { // under one key it is undone once
		undone := c.call("undo_task", `{"task_id":1}`, mcp.MetaVersion, 2, mcp.MetaKey, "k")
		if after, _ := undone.Data["after"].(map[string]any); after["status"] != "pending" {
			t.Errorf("undone: %+v", undone)
		}
	}
	if gone := c.call("undo_task", `{"task_id":1}`); !gone.Success || gone.Data["after"] != nil {
		t.Errorf("an addition is undone as %+v", gone)
	}
	refused(mcp.NotFound, c.call("undo_task", `{"task_id":1}`))
}
