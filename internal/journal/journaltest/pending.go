package journaltest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"sibyl/internal/journal"
)

// leave begins a run of ada's and ends it at a moment with these pending rows.
func (s *suite) leave(session, run string, at time.Time, pending ...journal.Pending) {
	s.Helper()
	s.begin(session, run, 1)
	end := &journal.End{Status: journal.NeedsUser, At: at, Pending: pending}
	s.ok(s.store.Append(s.ctx, ada, run, records(1, 1), end))
}

// consuming is the beginning of a run of ada's that consumes pending rows.
func consuming(session, run string, at time.Time, ids ...string) journal.Beginning {
	r := runOf(ada, session, run)
	r.StartedAt = at
	return journal.Beginning{Run: r, Consume: ids}
}

// pending wants the rows of a session that are open at now to be these.
func (s *suite) pending(session string, now time.Time, want ...string) {
	s.Helper()
	list := ask(s.store.Pending(s.ctx, ada, session, now)).ok(s)
	s.same("pending rows", idsOf(list, func(p journal.Pending) string { return p.ID }), want)
}

var pendingTests = map[string]func(*suite){
	"RowsComeBackAsLeftTheOldestFirst": func(s *suite) {
		data := []byte(`{"tool":"delete"}`)
		s.begin("s", "slow", 1)
		s.leave("s", "r", after(time.Hour), journal.Pending{ID: "b", Owner: bob, Session: "other", Run: "other", Kind: "choice", Data: data,
			CreatedAt: noon, ExpiresAt: after(2 * time.Hour)}, journal.Pending{ID: "a"})
		end := &journal.End{Status: journal.NeedsUser, At: after(time.Minute), Pending: []journal.Pending{{ID: "c"}}}
		s.ok(s.store.Append(s.ctx, ada, "slow", records(1, 1), end))
		copy(data, "spoilt")
		for range 2 {
			list := ask(s.store.Pending(s.ctx, ada, "s", noon)).ok(s)
			s.same("pending", list, []journal.Pending{
				{ID: "c", Owner: ada, Session: "s", Run: "slow", CreatedAt: after(time.Minute)},
				{ID: "a", Owner: ada, Session: "s", Run: "r", CreatedAt: after(time.Hour)},
				{ID: "b", Owner: ada, Session: "s", Run: "r", Kind: "choice", Data: []byte(`{"tool":"delete"}`),
					CreatedAt: after(time.Hour), ExpiresAt: after(2 * time.Hour)},
			})
			copy(list[2].Data, "spoilt")
		}
	},
	"ExpiredRowIsNotListedAndNotConsumed": func(s *suite) {
		s.leave("s", "r", noon, journal.Pending{ID: "p", ExpiresAt: after(time.Hour)}, journal.Pending{ID: "lasting"})
		s.pending("s", after(time.Hour-time.Millisecond), "lasting", "p")
		s.pending("s", after(time.Hour), "lasting")
		s.unchanged(func() {
			s.fails(s.store.Begin(s.ctx, consuming("s", "late", after(time.Hour), "p")), journal.ErrConsumed)
		})
		s.ok(s.store.Begin(s.ctx, consuming("s", "in time", after(time.Hour-time.Millisecond), "p")))
	},
	"BeginningConsumesItsRowsAndVoidsTheOthers": func(s *suite) {
		s.leave("s", "r", noon, journal.Pending{ID: "p"}, journal.Pending{ID: "q"})
		s.leave("other", "r2", noon, journal.Pending{ID: "p"})
		s.ok(s.store.Begin(s.ctx, consuming("s", "first", noon, "p", "p")))
		s.pending("s", noon)
		s.pending("other", noon, "p")
		s.unchanged(func() {
			for _, id := range []string{"p", "q", "never was"} {
				s.fails(s.store.Begin(s.ctx, consuming("s", "second", noon, id)), journal.ErrConsumed)
			}
		})
	},
	"RefusedBeginningConsumesNothing": func(s *suite) {
		s.leave("s", "r", noon, journal.Pending{ID: "p"}, journal.Pending{ID: "q"})
		s.unchanged(func() {
			s.fails(s.store.Begin(s.ctx, consuming("s", "r2", noon, "p", "unknown")), journal.ErrConsumed)
			s.fails(s.store.Begin(s.ctx, consuming("s", "r", noon, "p")), journal.ErrExists)
		})
	},
	"RowOfAnotherSessionOrOwnerIsNotConsumed": func(s *suite) {
		s.leave("s", "r", noon, journal.Pending{ID: "p"})
		s.begin("other", "r2", 0)
		session := sessionOf(bob, "bobs")
		s.unchanged(func() {
			s.fails(s.store.Begin(s.ctx, consuming("other", "r3", noon, "p")), journal.ErrConsumed)
			s.fails(s.store.Begin(s.ctx, journal.Beginning{Run: runOf(bob, "bobs", "r3"), Session: &session, Consume: []string{"p"}}), journal.ErrConsumed)
		})
		list := ask(s.store.Pending(s.ctx, bob, "s", noon)).ok(s)
		s.same("pending rows that bob sees", list, []journal.Pending(nil))
	},
	"TakenRowIDExistsAndTheRunGoesOn": func(s *suite) {
		s.begin("s", "slow", 1)
		s.leave("s", "r", noon, journal.Pending{ID: "p"})
		end := &journal.End{Status: journal.NeedsUser, At: noon, Pending: []journal.Pending{{ID: "q"}, {ID: "p"}}}
		s.unchanged(func() { s.fails(s.store.Append(s.ctx, ada, "slow", records(1, 1), end), journal.ErrExists) })
		s.append("slow", 1, 1)
	},
	"DeletedSessionTakesItsRows": func(s *suite) {
		s.leave("s", "r", noon, journal.Pending{ID: "p"})
		s.ok(s.store.DeleteSession(s.ctx, ada, "s", journal.ByPerson, noon))
		s.pending("s", noon)
	},
	"OfSixteenOneConsumesARow": func(s *suite) {
		s.leave("s", "r", noon, journal.Pending{ID: "p"})
		s.oneBegins(journal.ErrConsumed, func(id string) journal.Beginning { return consuming("s", id, noon, "p") })
	},
}

// oneBegins begins sixteen runs at once and wants one to succeed and the others to fail so.
func (s *suite) oneBegins(refused error, beginning func(id string) journal.Beginning) {
	s.Helper()
	errs := make([]error, 16)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = s.store.Begin(s.ctx, beginning(fmt.Sprint("racer ", i))) })
	}
	all.Wait()
	var begun int
	for _, err := range errs {
		switch {
		case err == nil:
			begun++
		case !errors.Is(err, refused):
			s.Errorf("Begin: %v, want %v", err, refused)
		}
	}
	s.same("runs begun", begun, 1)
}

// claiming is the beginning of a run of an owner's, in a session of its own, that claims keys.
func claiming(owner journal.Owner, run string, keys ...string) journal.Beginning {
	session := sessionOf(owner, "session of "+run)
	return journal.Beginning{Run: runOf(owner, session.ID, run), Session: &session, Records: records(0, 1), Claims: keys}
}

var claimTests = map[string]func(*suite){
	"ClaimIsHeldUntilTheRunEnds": func(s *suite) {
		s.ok(s.store.Begin(s.ctx, claiming(ada, "r", "inquiry", "lock", "inquiry")))
		for _, key := range []string{"inquiry", "lock"} {
			s.same("run that claims "+key, ask(s.store.Claimed(s.ctx, ada, key)).ok(s), "r")
		}
		s.unchanged(func() {
			err := s.store.Begin(s.ctx, claiming(ada, "r2", "free", "lock"))
			var claimed *journal.ClaimedError
			if !errors.As(err, &claimed) || !errors.Is(err, journal.ErrClaimed) {
				s.Fatalf("error is %v, want a ClaimedError", err)
			}
			s.same("claim", *claimed, journal.ClaimedError{Key: "lock", Run: "r"})
		})
		s.end("r", 1, journal.Failed, noon)
		for _, key := range []string{"inquiry", "lock", "free"} {
			ask(s.store.Claimed(s.ctx, ada, key)).fails(s, journal.ErrNotFound)
		}
		s.ok(s.store.Begin(s.ctx, claiming(ada, "r2", "lock")))
	},
	"EachOwnerHasKeysOfTheirOwn": func(s *suite) {
		s.ok(s.store.Begin(s.ctx, claiming(ada, "r", "inquiry")))
		ask(s.store.Claimed(s.ctx, bob, "inquiry")).fails(s, journal.ErrNotFound)
		s.ok(s.store.Begin(s.ctx, claiming(bob, "r2", "inquiry")))
	},
	"ClaimOutlivesItsLeaseAndNotItsSession": func(s *suite) {
		s.ok(s.store.Begin(s.ctx, claiming(ada, "r", "inquiry")))
		s.fails(s.store.Begin(s.ctx, claiming(ada, "r2", "inquiry")), journal.ErrClaimed)
		s.ok(s.store.DeleteSession(s.ctx, ada, "session of r", journal.ByPerson, noon))
		s.ok(s.store.Begin(s.ctx, claiming(ada, "r2", "inquiry")))
	},
	"OfSixteenOneClaimsAKey": func(s *suite) {
		s.oneBegins(journal.ErrClaimed, func(id string) journal.Beginning { return claiming(ada, id, "inquiry") })
	},
}
