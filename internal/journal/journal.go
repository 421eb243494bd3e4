// Package journal remembers what came into a run, in order, and nothing else about it: all else is derived.
//
// Guarantees every Store keeps (checked by the tests of package store):
//   - A run's records have the sequence numbers 0, 1, 2 … without a gap. Append names the number it expects next; of
//     two writers that name the same one, exactly one succeeds and the other gets ErrConflict with nothing written.
//     This is the fence: a writer that lost its run cannot start an effect.
//   - Append and Begin are atomic and durable when they return: a crash leaves all of their records or none.
//   - Records are immutable. Data comes back byte for byte.
//   - A run that has ended (Run.Status other than Running) takes no more records: ErrEnded.
//   - A lease says who drives a run. It decides who may resume, not who may append. It is expired when its time is not
//     after the `now` the caller gives, and a released lease is free at once. A run may be released to rest: until then
//     Stranded leaves it out.
//   - A process that resumes a run is counted in its row before it reads a record, until it settles or releases the
//     run. A run that MaxTries processes did not settle is set aside: only Stranded leaves it out.
//   - Every query names its owner, alone or in a Key; only Stranded and Census look at all of them. What belongs to
//     another owner does not exist: ErrNotFound, or it is left out.
//   - A Pending row is left by the end of a run and consumed by one beginning in its session, at most once. A beginning
//     that does not consume it voids it.
//   - A run follows a run of its session, unless it is the first one, or replaces one that has ended: then it follows
//     what that one follows. All are kept (see Tree). The branch of the latest run is in force.
//   - A key is claimed by at most one Running run of an owner, from its beginning to its end.
//   - A session that was removed leaves a Tombstone and nothing else: no title, no record, no content that only its
//     runs named. Its id is never used again, and asking for it is a RemovedError, which is an ErrNotFound.
//   - Times are kept to the millisecond, in UTC.
//   - Text (ids, owners, titles, kinds, reasons, holders, keys) is valid UTF-8 without NUL, else ErrInvalid. Data,
//     summaries and blobs are bytes.
//
// After a restart: a run is Running with an expired or free lease (nobody drives it, Stranded lists it, anybody may
// acquire it) or it has ended. There is no third state.
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
	ErrEnded    = errors.New("already finished")
	ErrLeased   = errors.New("another process drives this run")
	ErrExists   = errors.New("already exists")
	ErrCorrupt  = errors.New("the journal is damaged")
	ErrLocked   = errors.New("the database is locked by another process")
	ErrFull     = errors.New("no space left to write")
	ErrReadOnly = errors.New("the journal can only be read")
	ErrConsumed = errors.New("it is no longer open")
	ErrClaimed  = errors.New("another run claims it")
	ErrNoPlace  = errors.New("it is no run of this session that another can follow or, once it has ended, replace")

	// ErrUnannounced is that of an Announcer which can't announce anything here: it is asked instead.
	ErrUnannounced = errors.New("the database can't announce anything here")

	// ErrUnreachable says that nothing was written. ErrUnsure says that nobody can tell: the database was lost while it
	// committed, or has not confirmed that the write would outlast it.
	ErrUnreachable = errors.New("the database can't be reached")
	ErrUnsure      = errors.New("it is not known whether this was written")
)

// CannotWrite says whether an error may be gone later: the journal can be read, but not be written to now.
func CannotWrite(err error) bool {
	return errors.Is(err, ErrReadOnly) || errors.Is(err, ErrLocked) || errors.Is(err, ErrFull)
}

// Owner is the person whose sessions and runs these are.
type Owner string

// ClaimedError is the ErrClaimed of a beginning: Run holds Key.
type ClaimedError struct{ Key, Run string }

func (e *ClaimedError) Error() string {
	return fmt.Sprintf("claim %q: %v: run %q", e.Key, ErrClaimed, e.Run)
}

// Unwrap makes it match ErrClaimed.
func (e *ClaimedError) Unwrap() error { return ErrClaimed }

// Session holds what lasts between runs: how they go on from each other, and a name.
type Session struct {
	ID        string    `json:"id"`
	Owner     Owner     `json:"-"`
	Assistant string    `json:"assistant"` // "oracle"
	Title     string    `json:"title"`
	Place     string    `json:"place,omitempty" hidden:"true"` // the folder on this machine that it is about; "": none
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`                  // moved by Begin and by the end of a run
	Runs      int       `json:"runs" doc:"How many it has."` // set by the store
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

// RemovedError is the ErrNotFound of a session that was removed. It has the session's tombstone.
type RemovedError struct{ Tombstone }

func (e *RemovedError) Error() string {
	return fmt.Sprintf("session %q: %v: it was removed at %s (%s); made at %s, last used at %s, runs: %d",
		e.ID, ErrNotFound, e.DeletedAt.Format(time.RFC3339), e.Reason, e.CreatedAt.Format(time.RFC3339),
		e.UpdatedAt.Format(time.RFC3339), e.Runs)
}

// Unwrap makes it match ErrNotFound.
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
	Title     string    `json:"title" doc:"The words that it began with, shortened."`
	Status    Status    `json:"status" enum:"running,done,failed,cancelled,needs_user"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	// the next sequence number; set by the store
	Records  int64  `json:"records" doc:"How many things the journal has of it."`
	Replaces string `json:"replaces,omitempty" doc:"The run before it in its session whose place it takes, in a branch of its own."`
	// without Replaces; Begin sets it to the latest run of the session where it is empty
	Follows string `json:"follows,omitempty" doc:"The run of its session that it goes on from. Left out: it replaces one, or is the first, or an earlier build kept it, in whose sessions each goes on from the one before."`

	// set by its end, at most 64 bytes
	Reason string `json:"reason,omitempty" doc:"Why it ended, in a word of its assistant."`
	// Summary is its outcome for lists and histories, in its assistant's form; see Filter.Summaries.
	Summary json.RawMessage `json:"summary,omitempty" hidden:"true"`

	LeaseHolder string    `json:"lease_holder,omitempty" hidden:"true"`
	LeaseUntil  time.Time `json:"lease_until,omitzero" hidden:"true"` // without a holder: until when it rests
	// how many processes tried to resume it since one last settled it; set by the store
	Tries int `json:"tries,omitempty" hidden:"true"`
}

// Record is one thing that came into a run. Kind and Data are the run room's business; the store keeps them as they
// are.
type Record struct {
	Seq  int64           `json:"seq"`
	At   time.Time       `json:"at"` // wall time, for people; no run is decided by it
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}

// Beginning is how a run begins: all of it in one transaction.
type Beginning struct {
	Run     Run
	Session *Session // made with the run; nil: it is there already
	Blobs   [][]byte // the contents that the records name
	Records []Record // numbered from 0
	Consume []string // ids of pending rows of the session that the run uses up
	Claims  []string // keys that the run holds, of its owner, until it ends
}

// End closes a run together with its last records.
type End struct {
	Status  Status
	At      time.Time
	Reason  string          // at most 64 bytes
	Summary json.RawMessage // at most 256 KiB
	Pending []Pending       // questions it leaves to the person, each with an ID of its own in the session
	Used    []Used          // what its models used, some dozens at most; nil: it was not counted
}

// The kinds of Pending rows that ask nothing: one that only ties the next run to the last one, and one whose question
// the person has declined.
const (
	NoQuestion = "turn"
	Declined   = "declined"
)

// Pending is a question that a run left to its person: a confirmation, a choice. It is left by the end of a run and
// used up by the beginning of another, once. NoQuestion only ties the next run to the last one.
type Pending struct {
	ID    string `json:"id"`
	Owner Owner  `json:"-"`
	// this, Owner, Run and CreatedAt are those of the end; set by the store
	Session   string          `json:"session_id"`
	Run       string          `json:"run_id"`
	Kind      string          `json:"kind"`
	Data      json.RawMessage `json:"data"`
	CreatedAt time.Time       `json:"created_at"`
	ExpiresAt time.Time       `json:"expires_at,omitzero"` // expired from then on; zero: never
	// how long after its end it is open, where ExpiresAt is zero; 0: it does not expire
	Lasts time.Duration `json:"-"`
}

// Filter selects runs. Zero fields select all; Limit 0 means 100.
type Filter struct {
	Session   string
	Assistant string
	Status    Status
	Ended     bool // only those that are no longer Running
	Limit     int
	After     Cursor
	Summaries bool      // fill Run.Summary
	From, To  time.Time // when it started: not before, and before
	Asking    time.Time // only those with a question to their person that is open at this time
}

// SessionFilter selects sessions, or what they left. Zero fields select all; Limit 0 means 100.
type SessionFilter struct {
	Assistant string
	Without   []string // names of assistants whose are left out; of sessions alone
	Place     string   // of sessions alone
	// what stands in the title of a session, whatever the case of its letters from A to Z; of sessions alone
	Title string
	Limit int
	After Cursor
}

// IdleFilter selects the sessions that nobody has used since Before, as of Now. An empty Assistant means all; Limit
// 0 means 100.
type IdleFilter struct {
	Assistant   string
	Before, Now time.Time
	Limit       int
}

// Key names a run.
type Key struct {
	Owner Owner
	Run   string
}

// LeaseTimes is the time with which leases and rests are compared. A lease that ends after Leases, and a rest that ends
// after Rests, were set by a clock that was wrong, and count as over; the zero time says that none can be.
type LeaseTimes struct{ Now, Leases, Rests time.Time }

// RunSnapshot is a run's status, number of records and lease holder at one moment.
type RunSnapshot struct {
	Key
	Records     int64
	Status      Status
	LeaseHolder string
}

// RunState says whether a Running run is driven, resting, waiting or set aside.
type RunState string

// The states of a Running run; it has one of these at any time.
const (
	IsDriven   RunState = "driven"    // under a lease
	IsSetAside RunState = "set_aside" // too many processes ended before they had read it
	IsResting  RunState = "resting"   // released to rest
	IsStranded RunState = "waiting"   // to be resumed by a process with room
)

// Count is the number of runs of an assistant in a state, and when the first of them started. It has nobody's words.
type Count struct {
	Assistant string    `json:"assistant"`
	Stand     RunState  `json:"state" enum:"driven,waiting,resting,set_aside" doc:"How they stand."`
	Runs      int       `json:"runs"`
	Oldest    time.Time `json:"oldest" doc:"When the first of them started."`
}

// Store keeps sessions, runs, records and leases. Implementations are safe for concurrent use and, where they are a
// database, from several processes.
type Store interface {
	// Session returns one session.
	Session(ctx context.Context, owner Owner, id string) (Session, error)
	// Sessions lists sessions, the most recently updated first (ties by id, descending).
	Sessions(ctx context.Context, owner Owner, f SessionFilter) ([]Session, error)
	// RenameSession sets the title.
	RenameSession(ctx context.Context, owner Owner, id, title string) error
	// DeleteSession removes a session with its runs, records, pending rows and the blobs that no other run names, and
	// leaves its tombstone. It refuses with ErrLeased while a run of it is Running under a lease that is not expired at
	// now.
	DeleteSession(ctx context.Context, owner Owner, id string, why Reason, now time.Time) error
	// Unused lists the sessions that nobody has used since idle.Before, the longest unused first (ties by id,
	// ascending). A session was last used when it was updated, or when a run of it that is still Running took its last
	// record: an interrupted run keeps its session as long as a finished one does. One that somebody drives at idle.Now
	// is in use.
	Unused(ctx context.Context, owner Owner, idle IdleFilter) ([]Session, error)
	// Retire removes the sessions that Unused lists in one transaction, by retention. It returns what they leave. Where
	// there is nothing to remove it waits for no writer.
	Retire(ctx context.Context, owner Owner, idle IdleFilter) ([]Tombstone, error)
	// Tombstone returns what a removed session left; ErrNotFound for one that was never there, or still is.
	Tombstone(ctx context.Context, owner Owner, id string) (Tombstone, error)
	// Tombstones lists them, the latest removed first (ties by id, descending).
	Tombstones(ctx context.Context, owner Owner, f SessionFilter) ([]Tombstone, error)

	// Begin adds a run (Status Running, lease as given) with its session, blobs, records and claims, and consumes pending
	// rows; those of the session that it does not consume are void and removed. A StartedAt that is not after another
	// run's of the session is moved after it. ErrNotFound if the session is not the owner's; ErrNoPlace if it follows or
	// replaces a run that is not in the session, or replaces one that is Running; ErrExists if the id of the run or of a
	// session to be made is taken, or was by a session that is removed; ErrConsumed if a row is not open in this session
	// when the run starts: used up, void or expired; a ClaimedError if a Running run of the owner holds a claim. Nothing
	// is written with an error.
	Begin(ctx context.Context, b Beginning) error
	// Append adds recs, whose Seq must be next, next+1 …; with end, the run ends in the same transaction: its reason,
	// summary and pending rows are kept (ErrExists if the session has a row of that id), its claims and its lease are
	// freed.
	Append(ctx context.Context, owner Owner, run string, recs []Record, end *End) error
	// Run returns one run, with its summary.
	Run(ctx context.Context, owner Owner, id string) (Run, error)
	// Runs lists runs, the latest started first (ties by id, descending).
	Runs(ctx context.Context, owner Owner, f Filter) ([]Run, error)
	// Find lists sessions, the last used first, or runs, the latest started first (ties by id, descending).
	Find(ctx context.Context, owner Owner, q Search) ([]Found, error)
	// Unread lists sessions and ended runs whose words are not kept: Find does not find them. A session that is renamed
	// is among them again.
	Unread(ctx context.Context, owner Owner, limit int) ([]Found, error)
	// KeepWords keeps the words of what Unread listed. What is removed or renamed meanwhile is left alone.
	KeepWords(ctx context.Context, owner Owner, all []Wording) error
	// UsedBetween returns the kept usage of the runs that began from the first of these times until before the last, by
	// model, summed between each two times; and those of these runs whose usage is not kept, all as of one moment.
	UsedBetween(ctx context.Context, owner Owner, times ...time.Time) (kept []UsedAt, others []Uncounted, err error)
	// UsedBy returns the kept usage of these runs, some hundreds at most, and those of them whose usage is not kept.
	// Missing runs are left out.
	UsedBy(ctx context.Context, runs []Key) (kept map[Key][]Used, others []Uncounted, err error)
	// KeepUsed keeps the usage of runs that have ended, unless it is kept already. Missing runs are left out.
	KeepUsed(ctx context.Context, all map[Key][]Used) error
	// Records returns the records of a run from sequence number from on, in order.
	Records(ctx context.Context, owner Owner, run string, from int64) ([]Record, error)
	// Blob returns the content that BlobHash names, if a run of the owner does.
	Blob(ctx context.Context, owner Owner, hash string) ([]byte, error)
	// Pending lists the rows of a session that are not expired at now, the oldest first (ties by id, ascending).
	Pending(ctx context.Context, owner Owner, session string, now time.Time) ([]Pending, error)
	// Void makes the pending rows that a run left and that are still there Declined, and takes their data: the person
	// wants none of it. They are open no more, and stay when other runs begin. ErrNotFound if the run is not the owner's.
	Void(ctx context.Context, owner Owner, run string) error
	// Claimed returns the id of the run that holds a key; ErrNotFound if none does.
	Claimed(ctx context.Context, owner Owner, key string) (run string, err error)

	// Acquire takes the lease of a Running run for holder until until, if it is free, expired at now, or already
	// holder's. Otherwise ErrLeased; ErrEnded if the run has ended. Unless it was holder's already, Tries grows by one.
	Acquire(ctx context.Context, owner Owner, run, holder string, now, until time.Time) error
	// Settle says that holder, if it has the lease, has read the run and can continue it: its Tries are 0 again.
	Settle(ctx context.Context, owner Owner, run, holder string) error
	// Release frees the lease if holder has it; otherwise it does nothing. A try that did not settle is taken back:
	// Tries falls by one, if it is not 0. Until rest Stranded leaves the run out, while Acquire takes it at any time;
	// the zero time is no rest.
	Release(ctx context.Context, owner Owner, run, holder string, rest time.Time) error
	// Renew sets the end of the leases that holder has of Running runs among these, in one transaction. It leaves the
	// others alone.
	Renew(ctx context.Context, holder string, runs []Key, until time.Time) error
	// Snapshots returns the RunSnapshot of these runs, some hundreds at most, in the order given. Missing runs are left
	// out.
	Snapshots(ctx context.Context, runs []Key) ([]RunSnapshot, error)
	// Stranded lists the Running runs of all owners whose lease is free or over at that time, that do not rest and are
	// not set aside, in the order in which they should be resumed, so that owners take turns: the fewer runs of an
	// owner are driven, or stranded and started before, the earlier a run comes (ties by start and id, ascending).
	// Runs of the assistants named in without are left out. Limit 0 means 100.
	Stranded(ctx context.Context, at LeaseTimes, limit int, without ...string) ([]Run, error)

	// Census counts the Running runs of all owners at that time, by assistant and how they stand, in that order.
	Census(ctx context.Context, at LeaseTimes) ([]Count, error)

	// Close frees what the store holds.
	Close() error
}

// Confirmer is a Store whose reads may see what a failover would lose.
type Confirmer interface {
	// Confirm returns when all that could be read before is as durable as a write that has returned. Its error is
	// ErrUnsure if that can't be known.
	Confirm(ctx context.Context) error
}

// Announcer is a Store that announces what any process writes, so that watchers need not wait for the next poll.
type Announcer interface {
	// Announced calls began when announcements begin, and then heard, one call at a time, with the runs that took records
	// or were freed, until ctx is done or the connection is lost, and returns why; ErrUnannounced if there will be no
	// announcements. all: none is missed, and those that are removed while they run are announced, too. Nothing is
	// announced while nobody listens.
	Announced(ctx context.Context, began func(all bool), heard func(Key)) error
}
