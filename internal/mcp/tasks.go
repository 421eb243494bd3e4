package mcp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/task"
	"sibyl/internal/tool"
)

// The tools of the task list.
const (
	addName      = "add_task"
	listName     = "list_tasks"
	updateName   = "update_task"
	completeName = "complete_task"
	deleteName   = "delete_task"
)

// Bounds of a list, in tasks.
const (
	usualList = 50
	mostList  = 200
)

// Parts of schemas. What may be null is described as either, since lists of types are not understood by every client.
const (
	idSchema  = `"task_id": {"type": "integer", "minimum": 1, "description": "as list_tasks gives it"}`
	mayBeNull = `{"anyOf": [{"type": "string"}, {"type": "null"}]}`
	fields    = `"id": {"type": "integer"}, "title": {"type": "string"}, "description": ` + mayBeNull + `, "status": {"type": "string"},
		"created_at": {"type": "string"}, "completed_at": ` + mayBeNull + `, "version": {"type": "integer"}`

	taskSchema      = `{"type": "object", "properties": {` + fields + `}}`
	completedSchema = `{"type": "object", "properties": {` + fields + `, "already_completed": {"type": "boolean"}}}`
	listSchema      = `{"type": "object", "properties": {
		"tasks": {"type": "array", "items": ` + taskSchema + `}, "total": {"type": "integer"}, "next_after": {"type": "integer"}}}`
)

// textsSchema describes the texts of a task.
func textsSchema() string {
	return fmt.Sprintf(`"title": {"type": "string", "minLength": 1, "maxLength": %d},
		"description": {"type": "string", "maxLength": %d, "description": "empty: none"}`, task.MaxTitle, task.MaxDescription)
}

// taskTools are the tools of the task list.
func (s *Server) taskTools() []offer {
	all := []offer{s.addTool(), s.listTool(), s.updateTool(), s.completeTool(), s.removeTool()}
	if s.config.Undo {
		all = append(all, s.undoTool())
	}
	for i := range all {
		all[i].database = true
	}
	return all
}

func (s *Server) addTool() offer {
	return newOffer(tool.Spec{Name: addName, Title: "Add a task", Effect: tool.Once,
		Description: "Adds a task. Keep the person's own words and case in the title, due dates and priorities too."},
		[]string{"title"}, `{`+textsSchema()+`}`, taskSchema, s.add)
}

func (s *Server) add(ctx context.Context, c call) (*sdk.CallToolResult, error) {
	title, description := c.args.required("title"), c.args.text("description")
	if c.args.err != nil {
		return nil, c.args.err
	}
	t, again, err := s.config.Tasks.Add(ctx, c.by, title, description)
	if err != nil {
		return nil, err
	}
	said := "Added "
	if again {
		said = "This was done before: added "
	}
	return succeeded(t, said+named(t)+".")
}

func (s *Server) listTool() offer {
	return newOffer(tool.Spec{Name: listName, Title: "List tasks", Effect: tool.Repeatable,
		Description: "Lists tasks, by default all, in order of creation."},
		nil, fmt.Sprintf(`{
			"status": {"type": "string", "enum": ["all", "pending", "completed"]},
			"order": {"type": "string", "enum": ["created", "newest"]},
			"limit": {"type": "integer", "minimum": 1, "maximum": %d, "default": %d},
			"after": {"type": "integer", "minimum": 1, "description": "next_after of the page before"},
			"query": {"type": "string", "description": "words; tasks that have one of them, best match first"},
			"task_ids": {"type": "array", "items": {"type": "integer"}, "maxItems": %d}}`, mostList, usualList, mostList), listSchema, s.list)
}

// page is the data of a list.
type page struct {
	Tasks []task.Task `json:"tasks"`
	Total int         `json:"total"`
	Next  int64       `json:"next_after,omitempty"`
}

func (s *Server) list(ctx context.Context, c call) (*sdk.CallToolResult, error) {
	q, err := queryOf(c.args)
	if err != nil {
		return nil, err
	}
	p, err := s.config.Tasks.List(ctx, c.by.Owner, q)
	if err != nil {
		return nil, err
	}
	return succeeded(page{append([]task.Task{}, p.Tasks...), p.Total, p.Next}, listed(p))
}

func queryOf(a *arguments) (q task.Query, err error) {
	if status := a.oneOf("status", "all", string(task.Pending), string(task.Completed)); status != "all" {
		q.Status = task.Status(status)
	}
	q.Newest = a.oneOf("order", "created", "newest") == "newest"
	q.Limit = int(a.whole("limit", 1, mostList, usualList))
	q.After = a.whole("after", 1, math.MaxInt64, 0)
	if words := a.text("query"); words != nil {
		q.Words = *words
	}
	q.IDs = a.ids("task_ids", mostList)
	if a.err != nil {
		return q, a.err
	}
	if strings.TrimSpace(q.Words) != "" && q.After != 0 {
		return q, invalid("after", "can't stand beside query, which gives the best matches and no pages")
	}
	return q, nil
}

func (s *Server) updateTool() offer {
	return newOffer(tool.Spec{Name: updateName, Title: "Change a task", Effect: tool.Once, Destructive: true, Idempotent: true,
		Description: "Changes what is given of a task, and leaves the rest."},
		[]string{"task_id"}, `{`+idSchema+`, `+textsSchema()+`,
			"status": {"type": "string", "enum": ["pending"], "description": "opens a completed task again"}}`, taskSchema, s.update)
}

func (s *Server) update(ctx context.Context, c call) (*sdk.CallToolResult, error) {
	id, e := c.args.id("task_id"), task.Edit{Title: c.args.text("title"), Description: c.args.text("description")}
	if status := c.args.text("status"); status != nil {
		if e.Status = new(task.Pending); *status != string(task.Pending) {
			c.args.wrong("status", "must be pending; complete_task completes")
		}
	}
	if c.args.err != nil {
		return nil, c.args.err
	}
	if e == (task.Edit{}) {
		return nil, invalid("arguments", "must hold title, description or status: there is nothing to change")
	}
	t, again, err := s.config.Tasks.Update(ctx, c.by, id, c.version, e)
	if err != nil {
		return nil, err
	}
	said := "Changed "
	if again {
		said = "This was done before: changed "
	}
	return succeeded(t, said+named(t)+".")
}

func (s *Server) completeTool() offer {
	return newOffer(tool.Spec{Name: completeName, Title: "Complete a task", Effect: tool.Once, Idempotent: true,
		Description: "Marks a task as done. One that was keeps its time of completion."},
		[]string{"task_id"}, `{`+idSchema+`}`, completedSchema, s.complete)
}

// completed is the data of complete_task.
type completed struct {
	task.Task
	Already bool `json:"already_completed"`
}

func (s *Server) complete(ctx context.Context, c call) (*sdk.CallToolResult, error) {
	id := c.args.id("task_id")
	if c.args.err != nil {
		return nil, c.args.err
	}
	t, already, err := s.config.Tasks.Complete(ctx, c.by, id, c.version)
	if err != nil {
		return nil, err
	}
	said := "Completed " + named(t) + "."
	if already && t.CompletedAt != nil {
		said = named(t) + " was completed already, at " + t.CompletedAt.UTC().Format(time.RFC3339) + "."
	}
	return succeeded(completed{t, already}, strings.ToUpper(said[:1])+said[1:])
}

// named is a task as people read of it, in one line.
func named(t task.Task) string {
	return fmt.Sprintf("task %d, “%s”", t.ID, strings.Join(strings.Fields(t.Title), " "))
}

// listed is a list as people read it, with the ids that a model needs.
func listed(p task.Page) string {
	if len(p.Tasks) == 0 {
		return "There are no such tasks."
	}
	lines := slices.Grow([]string{}, len(p.Tasks)+2)
	lines = append(lines, tool.Count(p.Total, "task")+":")
	for _, t := range p.Tasks {
		mark := " "
		if t.Status == task.Completed {
			mark = "x"
		}
		lines = append(lines, fmt.Sprintf("- [%s] %s (task_id %d)", mark, strings.Join(strings.Fields(t.Title), " "), t.ID))
	}
	if p.Next > 0 {
		lines = append(lines, fmt.Sprintf("There are more: after %d.", p.Next))
	}
	return strings.Join(lines, "\n")
}
