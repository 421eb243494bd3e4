// Package journal remembers what came into a run, in order, and nothing else about it: all else is derived.
//
// Guarantees every Store keeps (checked by the suite in journaltest):
//   - A run's records have the sequence numbers 0, 1, 2 … without a gap. Append names the number it expects next; of
//     two writers that name the same one, exactly one succeeds and the other gets ErrConflict with nothing written.
//     This is the fence: a writer that lost its run cannot start an effect.
//   - Append and Begin are atomic and durable when they return: a crash leaves all of their records or none.
//   - Records are immutable. Data comes back byte for byte.
//   - A run that has ended (Run.Status other than Running) takes no more records: ErrEnded.
//   - A lease says who drives a run. It decides who may resume, not who may append. It is expired when its time is
//     not after the `now` the caller gives, and a released lease is free at once.
//   - Every query names its owner. What belongs to another owner does not exist: ErrNotFound.
//   - A session that was removed leaves a Tombstone and nothing else: no title, no record, no content that only its runs
//     named. Its id is never used again, and asking for it is a RemovedError, which is an ErrNotFound.
//   - Times are kept to the millisecond, in UTC.
//
// After a restart: a run is Running with an expired or free lease (nobody drives it, Open lists it, anybody may take it
// up) or it has ended. There is no third state.
package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Errors that every Store returns wrapped, with the id in question.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("another writer was first")
	ErrEnded    = errors.New("the run has ended")
	ErrLeased   = errors.New("another process drives this run")
	ErrExists   = errors.New("already exists")
	ErrCorrupt  = errors.New("the journal is damaged")
	ErrLocked   = errors.New("the database is locked by another process")
	ErrFull     = errors.New("no space left to write")
	ErrReadOnly = errors.New("the journal can only be read")
)

// Owner is the person whose sessions and runs these are.
type Owner string

// Session holds what lasts between runs: an order of runs, and a name.
type Session struct {
	ID        string    `json:"id"`
	Owner     Owner     `json:"-"`
	Assistant string    `json:"assistant"` // "oracle"
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"` // moved by Begin and by the end of a run
	Runs      int       `json:"runs"`       // how many runs it has; set by the store
}

// Reason says why a session was removed.
type Reason string

// The reasons to remove a session.
const (
	ByPerson    Reason = "deleted by the person"
	ByRetention Reason = "retention"
)

// Tombstone is what a removed session leaves: when and why, in counts, and none of its words.
type Tombstone struct {
	ID        string    `json:"id"`
	Owner     Owner     `json:"-"`
	Assistant string    `json:"assistant"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"` // the session's, when it was removed
	DeletedAt time.Time `json:"deleted_at"`
	Runs      int       `json:"runs"` // how many runs it had
	Reason    Reason    `json:"reason"`
}

// RemovedError is the ErrNotFound of a session that was there once. It says all that the tombstone knows.
type RemovedError struct{ Tombstone }

func (e *RemovedError) Error() string {
	return fmt.Sprintf("session %q: %v: it was removed at %s (%s); made at %s, last used at %s, runs: %d", e.ID, ErrNotFound,
		e.DeletedAt.Format(time.RFC3339), e.Reason, e.CreatedAt.Format(time.RFC3339), e.UpdatedAt.Format(time.RFC3339), e.Runs)
}

// Unwrap says that a removed session is not found.
func (e *RemovedError) Unwrap() error { return ErrNotFound }

// Status is a run's state.
type Status string

// The states of a run. Running ends as one of the others, once.
const (
	Running   Status = "running"
	Done      Status = "done"       // the tree succeeded
	Failed    Status = "failed"     // the tree failed, or could not go on
	Cancelled Status = "cancelled"  // the person stopped it
	NeedsUser Status = "needs_user" // it ended with a question to the person
)

// Run is one turn of the person.
type Run struct {
	ID        string    `json:"id"`
	Session   string    `json:"session_id"`
	Owner     Owner     `json:"-"`
	Assistant string    `json:"assistant"`
	Title     string    `json:"title"` // the person's words, shortened
	Status    Status    `json:"status"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Records   int64     `json:"records"` // the next sequence number; set by the store

	LeaseHolder string    `json:"lease_holder,omitempty"`
	LeaseUntil  time.Time `json:"lease_until,omitzero"`
}

// Record is one thing that came into a run. Kind and Data are the run room's business; the store keeps them as they are.
type Record struct {
	Seq  int64           `json:"seq"`
	At   time.Time       `json:"at"` // wall time, for people; no run is decided by it
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}

// End closes a run together with its last records.
type End struct {
	Status Status
	At     time.Time
}

// Filter selects runs. Zero fields select all; Limit 0 means 100.
type Filter struct {
	Session string
	Status  Status
	Limit   int
}

// Store keeps sessions, runs, records and leases. Implementations are safe for concurrent use and, where they are a
// database, from several processes.
type Store interface {
	// CreateSession adds a session; ErrExists if the id is taken, or was by a session that is removed.
	CreateSession(ctx context.Context, s Session) error
	// Session returns one session.
	Session(ctx context.Context, owner Owner, id string) (Session, error)
	// Sessions lists sessions, the most recently updated first (ties by id, descending).
	Sessions(ctx context.Context, owner Owner, limit int) ([]Session, error)
	// RenameSession sets the title.
	RenameSession(ctx context.Context, owner Owner, id, title string) error
	// DeleteSession removes a session with its runs, records and the blobs that no other run names, and leaves its
	// tombstone. It refuses with ErrLeased while a run of it is Running under a lease that is not expired at now.
	DeleteSession(ctx context.Context, owner Owner, id string, why Reason, now time.Time) error
	// Unused lists the sessions that nobody has used since before, the longest unused first (ties by id, ascending). A
	// session was last used when it was updated, or when a run of it that is still Running took its last record: an
	// interrupted run keeps its session as long as a finished one does. One that somebody drives at now is in use.
	Unused(ctx context.Context, owner Owner, before, now time.Time, limit int) ([]Session, error)
	// Retire removes the sessions that Unused lists, at most limit of them, in one transaction, by retention. It returns
	// what they leave. Where there is nothing to remove it waits for no writer.
	Retire(ctx context.Context, owner Owner, before, now time.Time, limit int) ([]Tombstone, error)
	// Tombstone returns what a removed session left; ErrNotFound for one that was never there, or still is.
	Tombstone(ctx context.Context, owner Owner, id string) (Tombstone, error)
	// Tombstones lists them, the latest removed first (ties by id, descending).
	Tombstones(ctx context.Context, owner Owner, limit int) ([]Tombstone, error)

	// Begin adds a run (Status Running, lease as given in r) with its first records, numbered from 0, and the blobs
	// they name. ErrNotFound if the session is not the owner's, ErrExists if the run id is taken.
	Begin(ctx context.Context, r Run, blobs [][]byte, recs []Record) error
	// Append adds recs, whose Seq must be next, next+1 …; with end, the run ends in the same transaction and its
	// lease is freed.
	Append(ctx context.Context, owner Owner, run string, recs []Record, end *End) error
	// Run returns one run.
	Run(ctx context.Context, owner Owner, id string) (Run, error)
	// Runs lists runs, the latest started first (ties by id, descending).
	Runs(ctx context.Context, owner Owner, f Filter) ([]Run, error)
	// Records returns the records of a run from sequence number from on, in order.
	Records(ctx context.Context, owner Owner, run string, from int64) ([]Record, error)
	// Blob returns the content that BlobHash names.
	Blob(ctx context.Context, hash string) ([]byte, error)

	// Acquire takes the lease of a Running run for holder until until, if it is free, expired at now, or already
	// holder's. Otherwise ErrLeased; ErrEnded if the run has ended.
	Acquire(ctx context.Context, owner Owner, run, holder string, now, until time.Time) error
	// Release frees the lease if holder has it; otherwise it does nothing.
	Release(ctx context.Context, owner Owner, run, holder string) error

	// Close frees what the store holds.
	Close() error
}
