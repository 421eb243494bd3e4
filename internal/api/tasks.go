package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sibyl/internal/task"
)

// Task is an entry of the task list.
type Task struct {
	ID          int64       `json:"id"`
	Title       string      `json:"title"`
	Description *string     `json:"description,omitempty"`
	Status      task.Status `json:"status" enum:"pending,completed"`
	CreatedAt   time.Time   `json:"created_at"`
	CompletedAt *time.Time  `json:"completed_at,omitempty"`
	Version     int64       `json:"version" doc:"1 when it was added, and one more with each change."`
}

func taskForm(t *task.Task) *Task {
	if t == nil {
		return nil
	}
	return &Task{t.ID, t.Title, t.Description, t.Status, t.CreatedAt, t.CompletedAt, t.Version}
}

// Tasks is a part of the task list.
type Tasks struct {
	Tasks []Task      `json:"tasks"`
	Total int         `json:"total" doc:"How many the query selects, on all pages."`
	Next  int64       `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
	Last  *TaskChange `json:"last,omitempty" doc:"What an undo would take back. Left out if there is nothing."`
}

// TaskChange is an entry of the history of tasks.
type TaskChange struct {
	ID     int64       `json:"id"`
	Task   int64       `json:"task_id"`
	Action task.Action `json:"action" enum:"add,update,complete,delete,undo"`
	Actor  string      `json:"actor" doc:"By which way it was made: cli, http, mcp: NAME of the client, chat: ID of the run."`
	Before *Task       `json:"before,omitempty" doc:"What the task was. Left out: there was none."`
	After  *Task       `json:"after,omitempty" doc:"What the task is. Left out: it is gone."`
	Undoes int64       `json:"undoes,omitempty" doc:"The change that an undo takes back."`
	At     time.Time   `json:"at"`
}

func changeForm(c task.Change) TaskChange {
	return TaskChange{c.ID, c.Task, c.Action, c.Actor, taskForm(c.Before), taskForm(c.After), c.Undoes, c.At}
}

// TaskHistory is a part of what was changed in a task.
type TaskHistory struct {
	Changes []TaskChange `json:"changes" doc:"The latest first."`
	Next    int64        `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
}

// TaskUndo says what is to be taken back.
type TaskUndo struct {
	Change int64 `json:"change" minimum:"1" doc:"The id of the last change, as it was seen: if another one is the last by now, nothing is done."`
}

type taskList struct {
	Status task.Status `query:"status" enum:"pending,completed" doc:"Only those of this status."`
	Order  string      `query:"order" enum:"oldest,newest" default:"oldest" doc:"Those that were added first, or last."`
	Limit  int         `query:"limit" minimum:"1" maximum:"200" default:"50"`
	After  int64       `query:"after" minimum:"1" doc:"next of the part of the list before."`
}

type taskPast struct {
	Task  int64 `path:"task" minimum:"1" doc:"The id of the task."`
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
	register(s, route{id: "listTasks", method: http.MethodGet, path: "/api/tasks", tag: tag, summary: "The task list"}, s.tasks)
	register(s, route{id: "getTaskHistory", method: http.MethodGet, path: "/api/tasks/{task}/history", tag: tag, summary: "What was changed in a task; also of a deleted one"},
		s.taskHistory)
	register(s, route{id: "undoTask", method: http.MethodPost, path: "/api/tasks/undo", tag: tag, summary: "Take back the last change of the task list",
		problems: []int{http.StatusConflict}}, s.undoTask)
}

func (s *Server) tasks(ctx context.Context, in *taskList) (*of[Tasks], error) {
	owner := string(exchangeOf(ctx).owner())
	page, err := s.config.Tasks.List(ctx, owner, task.Query{Filter: task.Filter{Status: in.Status, Newest: in.Order == "newest", After: in.After, Limit: in.Limit}})
	if err != nil {
		return nil, taskProblem(err)
	}
	f := Tasks{Tasks: forms(page.Tasks, func(t task.Task) Task { return *taskForm(&t) }), Total: page.Total, Next: page.Next}
	switch last, err := s.config.Tasks.Last(ctx, owner); {
	case err == nil:
		c := changeForm(last)
		f.Last = &c
	case !errors.Is(err, task.ErrNoChange):
		return nil, err
	}
	return &of[Tasks]{f}, nil
}

func (s *Server) taskHistory(ctx context.Context, in *taskPast) (*of[TaskHistory], error) {
	all, err := s.config.Tasks.History(ctx, string(exchangeOf(ctx).owner()), in.Task)
	if err != nil {
		return nil, taskProblem(err)
	}
	f := TaskHistory{Changes: []TaskChange{}}
	for i := len(all) - 1; i >= 0; i-- {
		switch {
		case in.After != 0 && all[i].ID >= in.After:
		case len(f.Changes) == in.Limit:
			f.Next = f.Changes[in.Limit-1].ID
			return &of[TaskHistory]{f}, nil
		default:
			f.Changes = append(f.Changes, changeForm(all[i]))
		}
	}
	return &of[TaskHistory]{f}, nil
}

func (s *Server) undoTask(ctx context.Context, in *keyed[TaskUndo]) (*of[TaskChange], error) {
	by := task.By{Owner: string(exchangeOf(ctx).owner()), Actor: byHTTP, Key: in.Key}
	c, err := s.config.Tasks.UndoChange(context.WithoutCancel(ctx), by, in.Body.Change)
	if err != nil {
		return nil, taskProblem(err)
	}
	return &of[TaskChange]{changeForm(c)}, nil
}

// taskProblem is what an error of the task list means for who asked.
func taskProblem(err error) error {
	switch invalid, is := errors.AsType[*task.Invalid](err); {
	case is && invalid.Field == "idempotency_key":
		return newProblem(http.StatusConflict, "key_used", "Something else was done under this Idempotency-Key.", "Make a new key for each request.")
	case is:
		return newProblem(http.StatusBadRequest, "invalid_request", sentence(invalid.Error()), "")
	case errors.Is(err, task.ErrNotFound):
		return newProblem(http.StatusNotFound, "not_found", "There is no such task here.", "The task list has the ids.")
	case errors.Is(err, task.ErrNoChange):
		return newProblem(http.StatusConflict, "no_change", "There is nothing to take back.", "")
	case errors.Is(err, task.ErrConflict):
		return newProblem(http.StatusConflict, "changed", "The tasks have changed since, so nothing was done.", "Look at the list as it is.")
	}
	return err
}
