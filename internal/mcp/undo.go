package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/task"
	"sibyl/internal/tool"
)

// undoName is the tool that takes back a change. Only the task assistant is offered it: it may remove a task that was just added.
const undoName = "undo_task"

const undoneSchema = `{"type": "object", "properties": {"before": ` + taskOrNull + `, "after": ` + taskOrNull + `}}`

const taskOrNull = `{"anyOf": [` + taskSchema + `, {"type": "null"}]}`

func (s *Server) undoTool() offer {
	return newOffer(tool.Spec{Name: undoName, Title: "Undo a change", Effect: tool.Once, Destructive: true,
		Description: "Takes back the last change to the list, if it was made to this task."},
		[]string{"task_id"}, `{`+idSchema+`}`, undoneSchema, s.undo)
}

// undone is the data of undo_task: the task before it and after; null: there was none, or is none.
type undone struct {
	Before *task.Task `json:"before"`
	After  *task.Task `json:"after"`
}

// undo takes back the last change if it left the task at the version that the caller saw: of a deleted task, the version that was deleted.
func (s *Server) undo(ctx context.Context, c call) (*sdk.CallToolResult, error) {
	id := c.args.id("task_id")
	if c.args.err != nil {
		return nil, c.args.err
	}
	made := false
	if c.by.Key != "" {
		var err error
		if made, err = s.config.Tasks.Made(ctx, c.by); err != nil {
			return nil, err
		}
	}
	var last task.Change
	if !made {
		var err error
		if last, err = s.config.Tasks.Last(ctx, c.by.Owner); err != nil {
			return nil, err
		}
		left := last.After
		if left == nil {
			left = last.Before
		}
		if last.Task != id || c.version != 0 && left.Version != c.version {
			return nil, task.ErrConflict
		}
	}
	change, err := s.config.Tasks.UndoChange(ctx, c.by, last.ID)
	if err != nil {
		return nil, err
	}
	said := change.After
	if said == nil {
		said = change.Before
	}
	return succeeded(undone{change.Before, change.After}, "Undone: "+named(*said)+".")
}
