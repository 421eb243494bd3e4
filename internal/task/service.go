package task

import (
	"context"
	"time"
)

// By says who makes a change: whose list it is, by which way, and under which idempotency key; without one it has none.
type By struct{ Owner, Actor, Key string }

// Edit is what an update changes. Nil fields stay.
type Edit struct {
	Title       *string
	Description *string // "": none
	Status      *Status // Pending opens a completed task again
}

// Query selects tasks for people and models.
type Query struct {
	Filter
	Words string // tasks that have one of these words in title or description, the best match first; then Newest and After count for nothing
}

// Page is a part of a list.
type Page struct {
	Tasks []Task
	Total int   // that the query selects, on all pages
	Next  int64 // what After is for the next page; 0: this is the last
}

// Service is what can be done with tasks. It is safe for concurrent use.
type Service struct {
	store Store
	now   func() time.Time
}

// New makes a Service. now is the time of changes.
func New(store Store, now func() time.Time) *Service { return &Service{store, now} }

// The use cases. A version of 0 is any; else ErrConflict if the task's is another. again says that the key was used up by this very change
// before, which is returned.
type _ interface {
	Add(ctx context.Context, by By, title string, description *string) (t Task, again bool, err error)
	Update(ctx context.Context, by By, id, version int64, e Edit) (t Task, again bool, err error)
	// Complete keeps the first completion time: already says that it was completed before.
	Complete(ctx context.Context, by By, id, version int64) (t Task, already bool, err error)
	Delete(ctx context.Context, by By, id, version int64) (was Task, again bool, err error)
	Task(ctx context.Context, owner string, id int64) (Task, error)
	List(ctx context.Context, owner string, q Query) (Page, error)
	History(ctx context.Context, owner string, id int64) ([]Change, error)
	// Undo takes back the last change of the owner that is neither an undo nor taken back already; ErrNoChange if there is none,
	// ErrConflict if its task changed since.
	Undo(ctx context.Context, by By) (Change, error)
}
