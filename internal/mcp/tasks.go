package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/task"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// deleteName is the tool whose calls a person must confirm.
const deleteName = "delete_task"

// taskTools returns the tools of the task list.
func (s *Server) taskTools() []offer {
	all := []offer{
		newOffer(tool.Spec{Name: "add_task", Title: "Add a task", Effect: tool.Once,
			Description: "Adds a task. Keep the person's own words and case in the title, due dates and priorities too.",
		}, s.add),
		newOffer(tool.Spec{Name: "list_tasks", Title: "List tasks", Effect: tool.Repeatable,
			Description: "Lists tasks, by default all, in order of creation."}, s.list),
		newOffer(tool.Spec{Name: "update_task", Title: "Change a task",
			Effect: tool.Once, Destructive: true, Idempotent: true,
			Description: "Changes what is given of a task, and leaves the rest."}, s.update),
		newOffer(tool.Spec{Name: "complete_task", Title: "Complete a task", Effect: tool.Once, Idempotent: true,
			Description: "Marks a task as done. One that was keeps its time of completion."}, s.complete),
		newOffer(tool.Spec{Name: deleteName, Title: "Delete a task",
			Effect: tool.Once, Destructive: true, Idempotent: true,
			Description: "Deletes a task, once the person has said yes: the client asks them."}, s.deleteTask),
	}
	if s.config.Undo { // only the task assistant is offered it: it may remove a task that was just added
		all = append(all, newOffer(tool.Spec{Name: "undo_task", Title: "Undo a change",
			Effect: tool.Once, Destructive: true,
			Description: "Takes back the last change to the list, if it was made to this task."}, s.undo))
	}
	for i := range all {
		all[i].database = true
	}
	return all
}

type added struct {
	Title       string  `json:"title" min:"1" max:"255"`
	Description *string `json:"description,omitempty" max:"1000" doc:"empty: none"`
}

func (s *Server) add(ctx context.Context, c call, in added) (task.Task, string, error) {
	t, again, err := s.config.Tasks.Add(ctx, c.by, in.Title, in.Description)
	return t, resultText("added", t, again), err
}

// resultText describes a change in words for people.
func resultText(done string, t task.Task, again bool) string {
	if again {
		return "This was done before: " + done + " " + taskName(t) + "."
	}
	return text.Capitalize(done) + " " + taskName(t) + "."
}

type listing struct {
	Status string  `json:"status,omitempty" enum:"all,pending,completed"`
	Order  string  `json:"order,omitempty" enum:"created,newest"`
	Limit  int     `json:"limit,omitempty" min:"1" max:"200" default:"50"`
	After  int64   `json:"after,omitempty" min:"1" doc:"next_after of the page before"`
	Query  string  `json:"query,omitempty" doc:"words; tasks that have one of them, best match first"`
	IDs    []int64 `json:"task_ids,omitempty" min:"1" max:"200"`
}

// page is the result data of a list.
type page struct {
	Tasks []task.Task `json:"tasks"`
	Total int         `json:"total"`
	Next  int64       `json:"next_after,omitempty"`
}

func (s *Server) list(ctx context.Context, c call, in listing) (page, string, error) {
	q := task.Query{Words: in.Query, Filter: task.Filter{Newest: in.Order == "newest",
		Limit: in.Limit, After: in.After, IDs: in.IDs}}
	if in.Status != "all" {
		q.Status = task.Status(in.Status)
	}
	if strings.TrimSpace(q.Words) != "" && q.After != 0 {
		return page{}, "", invalid("after", "can't stand beside query, which gives the best matches and no pages")
	}
	p, err := s.config.Tasks.List(ctx, c.by.Owner, q)
	return page{append([]task.Task{}, p.Tasks...), p.Total, p.Next}, listText(p), err
}

type oneTask struct {
	ID int64 `json:"task_id" min:"1" doc:"as list_tasks gives it"`
}

type changed struct {
	oneTask
	Title       *string      `json:"title,omitempty" min:"1" max:"255"`
	Description *string      `json:"description,omitempty" max:"1000" doc:"empty: none"`
	Status      *task.Status `json:"status,omitempty" enum:"pending" doc:"opens a completed task again"`
}

func (s *Server) update(ctx context.Context, c call, in changed) (task.Task, string, error) {
	e := task.Edit{Title: in.Title, Description: in.Description, Status: in.Status}
	if e == (task.Edit{}) {
		return task.Task{}, "", invalid("arguments",
			"must hold title, description or status: there is nothing to change")
	}
	t, again, err := s.config.Tasks.Update(ctx, c.by, in.ID, c.version, e)
	return t, resultText("changed", t, again), err
}

// completed is the result data of complete_task.
type completed struct {
	task.Task
	Already bool `json:"already_completed"`
}

func (s *Server) complete(ctx context.Context, c call, in oneTask) (completed, string, error) {
	t, already, err := s.config.Tasks.Complete(ctx, c.by, in.ID, c.version)
	said := "Completed " + taskName(t) + "."
	if already && t.CompletedAt != nil {
		said = fmt.Sprintf("Task %d, “%s” was completed already, at %s.", t.ID, text.OneLine(t.Title),
			t.CompletedAt.UTC().Format(time.RFC3339))
	}
	return completed{t, already}, said, err
}

// undone is the data of undo_task: the task before it and after; null: there was none, or is none.
type undone struct {
	Before *task.Task `json:"before"`
	After  *task.Task `json:"after"`
}

// undo reverts the last change if the task is still at the version that the caller saw; for a deleted task, at the
// deleted version.
func (s *Server) undo(ctx context.Context, c call, in oneTask) (data undone, text string, err error) {
	made := false
	if c.by.Key != "" {
		if made, err = s.config.Tasks.Made(ctx, c.by); err != nil {
			return data, "", err
		}
	}
	var last task.Change
	if !made {
		if last, err = s.config.Tasks.Last(ctx, c.by.Owner); err != nil {
			return data, "", err
		}
		left := cmp.Or(last.After, last.Before)
		if last.Task != in.ID || c.version != 0 && left.Version != c.version {
			return data, "", task.ErrConflict
		}
	}
	change, err := s.config.Tasks.UndoChange(ctx, c.by, last.ID)
	if err != nil {
		return data, "", err
	}
	return undone{change.Before, change.After}, "Undone: " + taskName(*cmp.Or(change.After, change.Before)) + ".", nil
}

// taskName describes a task in one line.
func taskName(t task.Task) string {
	return fmt.Sprintf("task %d, “%s”", t.ID, text.OneLine(t.Title))
}

// listText describes a list for people, with the ids that a model needs.
func listText(p task.Page) string {
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
		lines = append(lines, fmt.Sprintf("- [%s] %s (task_id %d)", mark, text.OneLine(t.Title), t.ID))
	}
	if p.Next > 0 {
		lines = append(lines, fmt.Sprintf("There are more: after %d.", p.Next))
	}
	return strings.Join(lines, "\n")
}
