// Package journaltest holds the suite that every journal.Store passes. Each guarantee that package journal states is a
// subtest named after it.
package journaltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/journal"
)

// Run checks a Store. Each call of open returns an empty one; the suite closes it.
func Run(t *testing.T, open func(t *testing.T) journal.Store) {
	groups := map[string]map[string]func(*suite){
		"Sessions": sessionTests,
		"Begin":    beginTests,
		"Append":   appendTests,
		"End":      endTests,
		"Content":  contentTests,
		"Pending":  pendingTests,
		"Claims":   claimTests,
		"Leases":   leaseTests,
		"Tries":    tryTests,
		"Owners":   ownerTests,
		"Lists":    listTests,
		"Cursors":  cursorTests,
		"Delete":   deleteTests,
		"Retire":   retentionTests,
		"Calls":    callTests,
	}
	for group, tests := range groups {
		t.Run(group, func(t *testing.T) {
			for name, test := range tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(newSuite(t, open(t)))
				})
			}
		})
	}
}

// RunPersistent checks what holds for a Store that outlives the process. place makes an empty place for one, and returns
// a function that opens what is there; the suite may open it several times at once, and closes what it opens.
func RunPersistent(t *testing.T, place func(t *testing.T) (open func() journal.Store)) {
	for name, test := range persistentTests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, place(t))
		})
	}
}

// The names that the tests use where any would do.
const (
	ada = journal.Owner("ada")
	bob = journal.Owner("bob")
	cy  = journal.Owner("cy")
)

// noon is the moment the tests start from.
var noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return noon.Add(d) }

type suite struct {
	*testing.T
	store journal.Store
	ctx   context.Context
}

func newSuite(t *testing.T, store journal.Store) *suite {
	s := &suite{T: t, store: store, ctx: t.Context()}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("unexpected error: %v", err)
	}
}

// fails wants err to match target.
func (s *suite) fails(err, target error) {
	s.Helper()
	if !errors.Is(err, target) {
		s.Errorf("error is %v, want one that matches %q", err, target)
	}
}

// answer is what a call on a store gave.
type answer[T any] struct {
	value T
	err   error
}

func ask[T any](value T, err error) answer[T] { return answer[T]{value, err} }

func (a answer[T]) ok(s *suite) T {
	s.Helper()
	s.ok(a.err)
	return a.value
}

func (a answer[T]) fails(s *suite, target error) {
	s.Helper()
	s.fails(a.err, target)
}

func (s *suite) same(what string, got, want any) {
	s.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		s.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func sessionOf(owner journal.Owner, id string) journal.Session {
	return journal.Session{
		ID: id, Owner: owner, Assistant: "oracle", Title: "title of " + id, Place: "/src/" + id, CreatedAt: noon, UpdatedAt: noon,
	}
}

func runOf(owner journal.Owner, session, id string) journal.Run {
	return journal.Run{
		ID: id, Session: session, Owner: owner, Assistant: "oracle", Title: "title of " + id,
		Status: journal.Running, StartedAt: noon,
	}
}

// records returns n records from sequence number from on, all different.
func records(from int64, n int) []journal.Record {
	recs := make([]journal.Record, n)
	for i := range recs {
		seq := from + int64(i)
		recs[i] = journal.Record{
			Seq: seq, At: after(time.Duration(seq) * time.Second), Kind: "test",
			Data: json.RawMessage(fmt.Sprintf(`{"n":%d}`, seq)),
		}
	}
	return recs
}

// begin begins a run of ada's with n records.
func (s *suite) begin(session, run string, n int) {
	s.Helper()
	s.start(runOf(ada, session, run), records(0, n))
}

// start begins a run, with sessionOf its session if that is not there.
func (s *suite) start(r journal.Run, recs []journal.Record, blobs ...string) {
	s.Helper()
	b := journal.Beginning{Run: r, Records: recs}
	for _, content := range blobs {
		b.Blobs = append(b.Blobs, []byte(content))
	}
	if _, err := s.store.Session(s.ctx, r.Owner, r.Session); errors.Is(err, journal.ErrNotFound) {
		session := sessionOf(r.Owner, r.Session)
		b.Session = &session
	}
	s.ok(s.store.Begin(s.ctx, b))
}

// create makes a session with one run, which has no records and began when the session was updated.
func (s *suite) create(session journal.Session) {
	s.Helper()
	s.ok(s.store.Begin(s.ctx, beginningOf(session)))
}

func beginningOf(session journal.Session) journal.Beginning {
	r := runOf(session.Owner, session.ID, "run of "+session.ID)
	r.StartedAt = session.UpdatedAt
	return journal.Beginning{Run: r, Session: &session}
}

func (s *suite) append(run string, from int64, n int) {
	s.Helper()
	s.ok(s.store.Append(s.ctx, ada, run, records(from, n), nil))
}

func (s *suite) end(run string, from int64, status journal.Status, at time.Time) {
	s.Helper()
	s.ok(s.store.Append(s.ctx, ada, run, records(from, 1), &journal.End{Status: status, At: at}))
}

func (s *suite) session(id string) journal.Session {
	s.Helper()
	return ask(s.store.Session(s.ctx, ada, id)).ok(s)
}

func (s *suite) run(id string) journal.Run {
	s.Helper()
	return ask(s.store.Run(s.ctx, ada, id)).ok(s)
}

func (s *suite) records(run string) []journal.Record {
	s.Helper()
	return ask(s.store.Records(s.ctx, ada, run, 0)).ok(s)
}

// state is all that can be seen of the sessions of ada and bob.
type state struct {
	Sessions []journal.Session
	Runs     []journal.Run
	Records  map[string][]journal.Record
	Pending  []journal.Pending

	Tombstones []journal.Tombstone
}

func (s *suite) state() state {
	s.Helper()
	all := state{Records: make(map[string][]journal.Record)}
	for _, owner := range []journal.Owner{ada, bob} {
		sessions := ask(s.store.Sessions(s.ctx, owner, journal.SessionFilter{Limit: 1000})).ok(s)
		for _, session := range sessions {
			pending := ask(s.store.Pending(s.ctx, owner, session.ID, noon)).ok(s)
			all.Pending = append(all.Pending, pending...)
		}
		runs := ask(s.store.Runs(s.ctx, owner, journal.Filter{Limit: 1000, Summaries: true})).ok(s)
		for _, run := range runs {
			all.Records[run.ID] = ask(s.store.Records(s.ctx, owner, run.ID, 0)).ok(s)
		}
		all.Sessions, all.Runs = append(all.Sessions, sessions...), append(all.Runs, runs...)
		tombstones := ask(s.store.Tombstones(s.ctx, owner, journal.SessionFilter{Limit: 1000})).ok(s)
		all.Tombstones = append(all.Tombstones, tombstones...)
	}
	return all
}

// unchanged wants do to change nothing that can be seen.
func (s *suite) unchanged(do func()) {
	s.Helper()
	before := s.state()
	do()
	s.same("changed by a refused call", s.state(), before)
}
