// Package task is the task list: the entity, its rules, and what can be done with it, by owner.
//
// Guarantees every Store keeps (checked by the tests of package store):
//   - Every call names its owner. What is another's does not exist: ErrNotFound, or it is left out.
//   - A change and its entry in the history are written in one transaction: both are on the disk when Apply returns, or
//     neither is.
//   - An idempotency key of an owner is used up by one change, for good. Applying it again changes nothing and gives
//     that change.
//   - Versions of a task grow by one with each change of it. Of several changes at once each one sees the task that the
//     one before left.
//   - An id is never used for another task. A deleted task that is brought back has its id again.
//   - Times are kept to the millisecond, in UTC. Text is valid UTF-8 without NUL.
//
// After a restart the list is what the last change left: nothing is kept in memory.
package task

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Errors of a Store and a Service, wrapped. None repeats what was sent.
var (
	ErrNotFound = errors.New("no such task")
	ErrConflict = errors.New("the task has changed since")
	ErrNoChange = errors.New("there is nothing to undo")
)

// Invalid is a request that breaks a rule: which field, and what would be right.
type Invalid struct {
	Field   string // "title"
	Problem string // "has 300 characters; 255 at most"
}

func (e *Invalid) Error() string { return fmt.Sprintf("%s %s", e.Field, e.Problem) }

// Status of a task.
type Status string

// The states of a task (requirement 3, Task Entity).
const (
	Pending   Status = "pending"
	Completed Status = "completed"
)

// The limits of texts, in characters (requirement 3, Validation Rules).
const (
	MaxTitle       = 255
	MaxDescription = 1000
)

// Task is an entry of somebody's list (requirement 3, Task Entity).
type Task struct {
	ID          int64      `json:"id"`
	Title       string     `json:"title"`                 // 1 to MaxTitle characters
	Description *string    `json:"description,omitempty"` // up to MaxDescription characters; nil: none
	Status      Status     `json:"status" enum:"pending,completed"`
	CreatedAt   time.Time  `json:"created_at"`
	CompletedAt *time.Time `json:"completed_at,omitempty"` // set while Status is Completed
	Version     int64      `json:"version" doc:"1 when it was added, and one more with each change."`
}

// Action says what a change did.
type Action string

// The actions. Undo takes back another change.
const (
	Add      Action = "add"
	Update   Action = "update"
	Complete Action = "complete"
	Delete   Action = "delete"
	Undo     Action = "undo"
)

// Change is an entry of the history: what a task was before and after, and who changed it.
type Change struct {
	ID     int64     `json:"id"` // grows with every change; set by the store
	Task   int64     `json:"task_id"`
	Action Action    `json:"action" enum:"add,update,complete,delete,undo"`
	Actor  string    `json:"actor" doc:"By which way it was made: cli, http, mcp: NAME of the client, chat: ID of the run."`
	Before *Task     `json:"before,omitempty" doc:"What the task was. Left out: there was none."`
	After  *Task     `json:"after,omitempty" doc:"What the task is. Left out: it is gone."`
	Undoes int64     `json:"undoes,omitempty" doc:"The change that an undo takes back."`
	At     time.Time `json:"at"`
}

// Act is one change to be made. Change gets the task as it is (nil for Add, and for what is deleted) and gives what it
// is to be; nil to remove it. It may be called more than once, and an error of it is returned as it is, with nothing
// written. Equal before and after write nothing. The store sets ID and Version of what it gives.
type Act struct {
	Task   int64 // 0 for Add
	Key    string
	Action Action
	Actor  string
	Undoes int64
	At     time.Time
	Change func(now *Task) (*Task, error)
}

// Filter selects tasks. Zero fields select all.
type Filter struct {
	Status Status
	IDs    []int64 // some hundreds at most
	Newest bool    // the latest created first; else in order of creation. Ties by id
	After  int64   // those that come after this id, in the order asked for
	Limit  int     // 0: no limit
}

// Store keeps tasks and their history. Implementations are safe for concurrent use and, where they are a database, from
// several processes.
type Store interface {
	// Apply makes one change. ErrNotFound if the task is not the owner's, or is deleted and the action is not Undo. A
	// change that was made under its key before comes back with again set; a key used up by another action or task is
	// an *Invalid of the field "idempotency_key". Where nothing changed, the change has equal Before and After and no
	// ID, and its key is not used up.
	Apply(ctx context.Context, owner string, a Act) (c Change, again bool, err error)
	// Made returns the change made under a key; ErrNotFound.
	Made(ctx context.Context, owner, key string) (Change, error)
	// Tasks lists tasks.
	Tasks(ctx context.Context, owner string, f Filter) ([]Task, error)
	// Count counts tasks, whatever the filter's After and Limit.
	Count(ctx context.Context, owner string, f Filter) (int, error)
	// Task returns one task; ErrNotFound.
	Task(ctx context.Context, owner string, id int64) (Task, error)
	// History lists the changes of a task, the oldest first; also of a deleted one. ErrNotFound if there never was one.
	History(ctx context.Context, owner string, id int64) ([]Change, error)
	// Changes lists the latest changes of the owner, the latest first.
	Changes(ctx context.Context, owner string, limit int) ([]Change, error)
}
