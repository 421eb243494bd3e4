package journaltest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sibyl/internal/journal"
)

var leaseTests = map[string]func(*suite){
	"FreeLeaseIsTaken": func(s *suite) {
		s.begin("s", "r", 1)
		s.acquire("here", noon, after(time.Minute))
		s.holds("here", after(time.Minute))
	},
	"LiveLeaseIsRefusedToOthers": func(s *suite) {
		s.begin("s", "r", 1)
		s.acquire("here", noon, after(time.Minute))
		s.unchanged(func() {
			now := after(time.Minute - time.Millisecond)
			s.fails(s.store.Acquire(s.ctx, ada, "r", "there", now, after(time.Hour)), journal.ErrLeased)
		})
	},
	"OwnLeaseIsRenewedAliveOrExpired": func(s *suite) {
		s.begin("s", "r", 1)
		s.acquire("here", noon, after(time.Minute))
		s.acquire("here", after(time.Second), after(2*time.Minute))
		s.holds("here", after(2*time.Minute))
		s.acquire("here", after(time.Hour), after(2*time.Hour))
		s.holds("here", after(2*time.Hour))
	},
	"LeaseIsExpiredFromItsLastInstantOn": func(s *suite) {
		s.begin("s", "r", 1)
		s.acquire("here", noon, after(time.Minute))
		s.acquire("there", after(time.Minute), after(time.Hour))
		s.holds("there", after(time.Hour))
	},
	"LeaseGivenToBeginCounts": func(s *suite) {
		s.ok(s.store.CreateSession(s.ctx, sessionOf(ada, "s")))
		r := runOf(ada, "s", "r")
		r.LeaseHolder, r.LeaseUntil = "here", after(time.Minute)
		s.ok(s.store.Begin(s.ctx, r, nil, records(0, 1)))
		s.fails(s.store.Acquire(s.ctx, ada, "r", "there", noon, after(time.Hour)), journal.ErrLeased)
		s.acquire("there", after(time.Minute), after(time.Hour))
	},
	"LeaseWithoutAHolderIsFree": func(s *suite) {
		s.ok(s.store.CreateSession(s.ctx, sessionOf(ada, "s")))
		r := runOf(ada, "s", "r")
		r.LeaseUntil = after(time.Minute)
		s.ok(s.store.Begin(s.ctx, r, nil, records(0, 1)))
		s.holds("", time.Time{})
		s.fails(s.store.Acquire(s.ctx, ada, "r", "", noon, after(time.Hour)), journal.ErrInvalid)
		s.acquire("there", noon, after(time.Hour))
	},
	"ReleasedLeaseIsFreeAtOnce": func(s *suite) {
		s.begin("s", "r", 1)
		s.acquire("here", noon, after(time.Hour))
		s.ok(s.store.Release(s.ctx, ada, "r", "here"))
		s.holds("", time.Time{})
		s.acquire("there", noon, after(time.Minute))
	},
	"ReleaseByAnotherDoesNothing": func(s *suite) {
		s.begin("s", "r", 1)
		s.ok(s.store.Release(s.ctx, ada, "r", "there"))
		s.acquire("here", noon, after(time.Hour))
		s.unchanged(func() {
			s.ok(s.store.Release(s.ctx, ada, "r", "there"))
			s.ok(s.store.Release(s.ctx, ada, "r", ""))
		})
	},
	"EndedRunHasNoLease": func(s *suite) {
		s.begin("s", "r", 1)
		s.acquire("here", noon, after(time.Hour))
		s.end("r", 1, journal.Failed, noon)
		s.unchanged(func() {
			s.fails(s.store.Acquire(s.ctx, ada, "r", "here", noon, after(time.Hour)), journal.ErrEnded)
			s.ok(s.store.Release(s.ctx, ada, "r", "here"))
		})
	},
	"LeaseDoesNotDecideWhoAppends": func(s *suite) {
		s.begin("s", "r", 1)
		s.acquire("here", noon, after(time.Hour))
		s.append("r", 1, 1)
		s.holds("here", after(time.Hour))
	},
	"OfSixteenOneTakesAnExpiredLease": func(s *suite) {
		s.begin("s", "r", 1)
		s.acquire("dead", noon, after(time.Minute))
		var winners atomic.Int32
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				err := s.store.Acquire(s.ctx, ada, "r", fmt.Sprint(i), after(time.Minute), after(time.Hour))
				switch {
				case err == nil:
					winners.Add(1)
				case !errors.Is(err, journal.ErrLeased):
					s.Errorf("Acquire: %v, want ErrLeased", err)
				}
			})
		}
		all.Wait()
		s.same("winners", winners.Load(), int32(1))
	},
}

func (s *suite) acquire(holder string, now, until time.Time) {
	s.Helper()
	s.ok(s.store.Acquire(s.ctx, ada, "r", holder, now, until))
}

func (s *suite) holds(holder string, until time.Time) {
	s.Helper()
	got := s.run("r")
	if got.LeaseHolder != holder || !got.LeaseUntil.Equal(until) {
		s.Errorf("lease is %q's until %v, want %q's until %v", got.LeaseHolder, got.LeaseUntil, holder, until)
	}
}
