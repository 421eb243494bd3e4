package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"sibyl/internal/task"
)

// Tasks is a part of the task list.
type Tasks struct {
	Tasks []task.Task  `json:"tasks"`
	Total int          `json:"total" doc:"How many the query selects, on all pages."`
	Next  int64        `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
	Last  *task.Change `json:"last,omitempty" doc:"What an undo would take back. Left out if there is nothing."`
}

// TaskHistory is a part of the changes of a task.
type TaskHistory struct {
	Changes []task.Change `json:"changes" doc:"The latest first."`
	Next    int64         `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
}

// TaskUndo says which change is to be undone.
type TaskUndo struct {
	Change int64 `json:"change" minimum:"1" doc:"The id of the last change, as it was seen: if another one is the last by now, nothing is done."`
}

// NewTask is a task to be added.
type NewTask struct {
	Title       string  `json:"title" minLength:"1" maxLength:"255"`
	Description *string `json:"description,omitempty" maxLength:"1000"`
}

// TaskEdit is what is to be changed in a task; what is left out stays.
type TaskEdit struct {
	Version     int64        `json:"version" minimum:"1" doc:"The version that was seen: if the task has another one by now, nothing is done."`
	Title       *string      `json:"title,omitempty" minLength:"1" maxLength:"255"`
	Description *string      `json:"description,omitempty" maxLength:"1000" doc:"Empty: none."`
	Status      *task.Status `json:"status,omitempty" enum:"pending,completed" doc:"Completes the task, or opens it again. It stands alone."`
}

// TaskPath is the part of an address that names a task.
type TaskPath struct {
	Task int64 `path:"task" minimum:"1" doc:"The id of the task."`
}

type taskList struct {
	Status task.Status `query:"status" enum:"pending,completed" doc:"Only those of this status."`
	Order  string      `query:"order" enum:"oldest,newest" default:"oldest" doc:"Those that were added first, or last."`
	Limit  int         `query:"limit" minimum:"1" maximum:"200" default:"50"`
	After  int64       `query:"after" minimum:"1" doc:"next of the part of the list before."`
}

type taskHistoryQuery struct {
	TaskPath
	Limit int   `query:"limit" minimum:"1" maximum:"200" default:"50"`
	After int64 `query:"after" minimum:"1" doc:"next of the part of the list before."`
}

// byHTTP is the actor of changes that a person makes over HTTP.
const byHTTP = "http"

func (s *Server) taskRoutes() {
	if s.config.Tasks == nil {
		return
	}
	const tag = "tasks"
	registerForm(s, route{id: "listTasks", at: "GET /api/tasks", tag: tag, summary: "The task list"}, s.listTasks)
	registerForm(s, route{id: "getTaskHistory", at: "GET /api/tasks/{task}/history", tag: tag,
		summary: "What was changed in a task; also of a deleted one"},
		s.getTaskHistory)
	register(s, route{id: "addTask", at: "POST /api/tasks", tag: tag, summary: "Add a task",
		status: http.StatusCreated}, s.addTask)
	registerForm(s, route{id: "changeTask", at: "PATCH /api/tasks/{task}", tag: tag,
		summary: "Change, complete or reopen a task"}, s.changeTask)
	registerForm(s, route{id: "deleteTask", at: "DELETE /api/tasks/{task}", tag: tag,
		summary: "Delete a task. The change can be taken back"}, s.deleteTask)
	registerForm(s, route{id: "undoTask", at: "POST /api/tasks/undo", tag: tag,
		summary: "Take back the last change of the task list"}, s.undoTask)
}

func (s *Server) listTasks(ctx context.Context, in *taskList) (f Tasks, err error) {
	owner := string(ownerOf(ctx))
	page, err := s.config.Tasks.List(ctx, owner,
		task.Query{Filter: task.Filter{Status: in.Status, Newest: in.Order == "newest",
			After: in.After, Limit: in.Limit}})
	if err != nil {
		return f, err
	}
	f = Tasks{Tasks: page.Tasks, Total: page.Total, Next: page.Next}
	switch last, err := s.config.Tasks.Last(ctx, owner); {
	case err == nil:
		f.Last = &last
	case !errors.Is(err, task.ErrNoChange):
		return f, err
	}
	return f, nil
}

func (s *Server) getTaskHistory(ctx context.Context, in *taskHistoryQuery) (f TaskHistory, err error) {
	all, err := s.config.Tasks.History(ctx, string(ownerOf(ctx)), in.Task)
	if err != nil {
		return f, err
	}
	for _, c := range slices.Backward(all) {
		switch {
		case in.After != 0 && c.ID >= in.After:
		case len(f.Changes) == in.Limit:
			f.Next = f.Changes[in.Limit-1].ID
			return f, nil
		default:
			f.Changes = append(f.Changes, c)
		}
	}
	return f, nil
}

// byPerson is the author of a change over HTTP: the requesting user.
func byPerson(ctx context.Context, key string) task.By {
	return task.By{Owner: string(ownerOf(ctx)), Actor: byHTTP, Key: key}
}

func (s *Server) addTask(ctx context.Context, in *Keyed[NewTask]) (*withBody[task.Task], error) {
	t, _, err := s.config.Tasks.Add(context.WithoutCancel(ctx), byPerson(ctx, in.Key), in.Body.Title,
		in.Body.Description)
	return &withBody[task.Task]{t}, err
}

func (s *Server) changeTask(ctx context.Context, in *struct {
	TaskPath
	Body TaskEdit
}) (t task.Task, err error) {
	b, by := in.Body, byPerson(ctx, "")
	ctx = context.WithoutCancel(ctx)
	words := b.Title != nil || b.Description != nil
	switch {
	case b.Status != nil && words:
		return t, &task.Invalid{Field: "status", Problem: "stands alone: change the words in a request of their own"}
	case b.Status != nil && *b.Status == task.Completed:
		t, _, err = s.config.Tasks.Complete(ctx, by, in.Task, b.Version)
	case b.Status != nil || words:
		t, _, err = s.config.Tasks.Update(ctx, by, in.Task, b.Version,
			task.Edit{Title: b.Title, Description: b.Description, Status: b.Status})
	default:
		return t, &task.Invalid{Field: "body",
			Problem: "must hold title, description or status: there is nothing to change"}
	}
	return t, err
}

func (s *Server) deleteTask(ctx context.Context, in *struct {
	TaskPath
	Version int64 `query:"version" required:"true" minimum:"1" doc:"The version that was seen: if the task has another one by now, nothing is done."`
}) (task.Task, error) {
	was, _, err := s.config.Tasks.Delete(context.WithoutCancel(ctx), byPerson(ctx, ""), in.Task, in.Version)
	return was, err
}

func (s *Server) undoTask(ctx context.Context, in *Keyed[TaskUndo]) (task.Change, error) {
	by := byPerson(ctx, in.Key)
	return s.config.Tasks.UndoChange(context.WithoutCancel(ctx), by, in.Body.Change)
}
