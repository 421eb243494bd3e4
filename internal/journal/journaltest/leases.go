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
		r := runOf(ada, "s", "r")
		r.LeaseHolder, r.LeaseUntil = "here", after(time.Minute)
		s.start(r, records(0, 1))
		s.fails(s.store.Acquire(s.ctx, ada, "r", "there", noon, after(time.Hour)), journal.ErrLeased)
		s.acquire("there", after(time.Minute), after(time.Hour))
	},
	"LeaseWithoutAHolderIsFree": func(s *suite) {
		r := runOf(ada, "s", "r")
		r.LeaseUntil = after(time.Minute)
		s.start(r, records(0, 1))
		s.holds("", time.Time{})
		s.fails(s.store.Acquire(s.ctx, ada, "r", "", noon, after(time.Hour)), journal.ErrInvalid)
		s.acquire("there", noon, after(time.Hour))
	},
	"ReleasedLeaseIsFreeAtOnce": func(s *suite) {
		s.begin("s", "r", 1)
		s.acquire("here", noon, after(time.Hour))
		s.ok(s.store.Release(s.ctx, ada, "r", "here", time.Time{}))
		s.holds("", time.Time{})
		s.acquire("there", noon, after(time.Minute))
	},
	"ReleaseByAnotherDoesNothing": func(s *suite) {
		s.begin("s", "r", 1)
		s.ok(s.store.Release(s.ctx, ada, "r", "there", after(time.Hour)))
		s.acquire("here", noon, after(time.Hour))
		s.unchanged(func() {
			s.ok(s.store.Release(s.ctx, ada, "r", "there", after(time.Hour)))
			s.ok(s.store.Release(s.ctx, ada, "r", "", after(time.Hour)))
		})
	},
	"EndedRunHasNoLease": func(s *suite) {
		s.begin("s", "r", 1)
		s.acquire("here", noon, after(time.Hour))
		s.end("r", 1, journal.Failed, noon)
		s.unchanged(func() {
			s.fails(s.store.Acquire(s.ctx, ada, "r", "here", noon, after(time.Hour)), journal.ErrEnded)
			s.ok(s.store.Release(s.ctx, ada, "r", "here", time.Time{}))
		})
	},
	"LeaseDoesNotDecideWhoAppends": func(s *suite) {
		s.begin("s", "r", 1)
		s.acquire("here", noon, after(time.Hour))
		s.append("r", 1, 1)
		s.holds("here", after(time.Hour))
	},
	"RenewSetsTheLeasesThatTheHolderHasAndNoOthers": func(s *suite) {
		leased := map[string]string{"mine": "here", "mine too": "here", "lost": "there", "free": "", "ended": "here", "bob's": "here", "not named": "here"}
		var keys []journal.Key
		for id, holder := range leased {
			r := runOf(ada, "s", id)
			if id == "bob's" {
				r.Owner, r.Session = bob, "bobs"
			}
			if r.LeaseHolder = holder; holder != "" {
				r.LeaseUntil = after(time.Minute)
			}
			s.start(r, records(0, 1))
			if id != "not named" {
				keys = append(keys, journal.Key{Owner: r.Owner, Run: id})
			}
		}
		s.end("ended", 1, journal.Done, noon)
		want := s.state()
		for i := range want.Runs {
			if r := &want.Runs[i]; r.ID != "not named" && r.LeaseHolder == "here" {
				r.LeaseUntil = after(time.Hour)
			}
		}
		keys = append(keys, journal.Key{Owner: bob, Run: "not named"}, journal.Key{Owner: ada, Run: "unknown"})
		s.ok(s.store.Renew(s.ctx, "here", keys, after(time.Hour)))
		s.ok(s.store.Renew(s.ctx, "here", nil, after(2*time.Hour)))
		s.fails(s.store.Renew(s.ctx, "", keys, after(time.Hour)), journal.ErrInvalid)
		s.same("state", s.state(), want)
	},
	"StandingTellsOfTheRunsThatAreThere": func(s *suite) {
		s.begin("s", "r", 3)
		s.acquire("here", noon, after(time.Minute))
		s.begin("s", "ended", 1)
		s.end("ended", 1, journal.Failed, noon)
		s.start(runOf(bob, "bobs", "bob's"), nil)
		key := func(owner journal.Owner, run string) journal.Key { return journal.Key{Owner: owner, Run: run} }
		s.same("standing", ask(s.store.Standing(s.ctx, []journal.Key{key(bob, "bob's"), key(ada, "ended"), key(ada, "unknown"), key(ada, "bob's"), key(ada, "r")})).ok(s), []journal.Standing{
			{Key: key(bob, "bob's"), Status: journal.Running},
			{Key: key(ada, "ended"), Records: 2, Status: journal.Failed},
			{Key: key(ada, "r"), Records: 3, Status: journal.Running, LeaseHolder: "here"},
		})
	},
	"StrandedRunsAreThoseOfAllOwnersWithoutALiveLease": func(s *suite) {
		var want []journal.Run
		add := func(owner journal.Owner, id, holder string, until time.Duration) {
			r := runOf(owner, "session of "+id, id)
			if r.LeaseHolder = holder; holder != "" {
				r.LeaseUntil = after(until)
			}
			s.start(r, nil)
			want = append(want, r)
		}
		add(ada, "free", "", 0)
		add(bob, "gone long", "dead", time.Minute)
		add(cy, "just now", "dead", time.Hour)
		s.same("stranded", ask(s.store.Stranded(s.ctx, journal.When{Now: after(time.Hour)}, 0)).ok(s), want)
		s.same("stranded before the last lease ran out", ask(s.store.Stranded(s.ctx, journal.When{Now: after(time.Hour - time.Millisecond)}, 0)).ok(s), want[:2])
		s.same("two of them", ask(s.store.Stranded(s.ctx, journal.When{Now: after(time.Hour)}, 2)).ok(s), want[:2])
		s.ok(s.store.Append(s.ctx, ada, "free", records(0, 1), &journal.End{Status: journal.Done, At: noon}))
		s.same("stranded after one has ended", ask(s.store.Stranded(s.ctx, journal.When{Now: after(time.Hour)}, 0)).ok(s), want[1:])
	},
	"CensusCountsTheRunsOfAllOwnersByHowTheyStand": func(s *suite) {
		add := func(owner journal.Owner, id, holder string, started, until time.Duration) {
			r := runOf(owner, "session of "+id, id)
			r.StartedAt = after(started)
			if r.LeaseHolder = holder; holder != "" {
				r.LeaseUntil = after(until)
			}
			s.start(r, nil)
		}
		add(ada, "driven", "here", time.Minute, 3*time.Hour)
		add(bob, "driven, too", "there", time.Second, 3*time.Hour)
		add(ada, "gone", "dead", time.Minute, time.Hour)
		add(cy, "free", "", 2*time.Minute, 0)
		add(bob, "over", "", 0, 0)
		s.ok(s.store.Append(s.ctx, bob, "over", records(0, 1), &journal.End{Status: journal.Done, At: noon}))
		add(ada, "rests", "", time.Minute, 0)
		s.ok(s.store.Acquire(s.ctx, ada, "rests", "here", noon, after(time.Minute)))
		s.ok(s.store.Release(s.ctx, ada, "rests", "here", after(3*time.Hour)))
		add(bob, "aside", "", time.Minute, 0)
		for n := range journal.MaxTries {
			at := after(time.Duration(n) * time.Minute)
			s.ok(s.store.Acquire(s.ctx, bob, "aside", fmt.Sprint("dead ", n), at, at.Add(time.Second)))
		}
		at := journal.When{Now: after(2 * time.Hour)}
		want := []journal.Count{{Stand: journal.IsDriven, Runs: 2, Oldest: after(time.Second)}, {Stand: journal.IsResting, Runs: 1, Oldest: after(time.Minute)},
			{Stand: journal.IsSetAside, Runs: 1, Oldest: after(time.Minute)}, {Stand: journal.IsStranded, Runs: 2, Oldest: after(time.Minute)}}
		for i := range want {
			want[i].Assistant = s.run("driven").Assistant
		}
		s.same("census", ask(s.store.Census(s.ctx, at)).ok(s), want)
		at.Leases = after(time.Hour)
		s.same("driven where no lease lasts so long", ask(s.store.Census(s.ctx, at)).ok(s)[0].Stand, journal.IsResting)
	},
	"StrandedRunsOfOwnersTakeTurns": func(s *suite) {
		var n int
		add := func(owner journal.Owner, id, holder string) {
			n++
			r := runOf(owner, "session of "+id, id)
			r.StartedAt = after(time.Duration(n) * time.Second)
			if r.LeaseHolder = holder; holder != "" {
				r.LeaseUntil = after(time.Hour)
			}
			s.start(r, nil)
		}
		add(ada, "driven", "here")
		for _, id := range []string{"a1", "a2", "a3"} {
			add(ada, id, "")
		}
		add(bob, "b1", "")
		add(cy, "c1", "")
		add(bob, "b2", "")
		var got []string
		for _, r := range ask(s.store.Stranded(s.ctx, journal.When{Now: after(time.Minute)}, 0)).ok(s) {
			got = append(got, r.ID)
		}
		s.same("turns", got, []string{"b1", "c1", "a1", "b2", "a2", "a3"})
	},
	"AReleasedRunRestsAndIsTakenByNameAllTheSame": func(s *suite) {
		s.begin("s", "r", 1)
		stranded := func(now time.Time) int { return len(ask(s.store.Stranded(s.ctx, journal.When{Now: now}, 0)).ok(s)) }
		s.acquire("here", noon, after(time.Second))
		s.ok(s.store.Release(s.ctx, ada, "r", "here", after(time.Minute)))
		s.holds("", after(time.Minute))
		s.same("stranded while it rests", stranded(after(time.Minute-time.Millisecond)), 0)
		s.same("stranded after its rest", stranded(after(time.Minute)), 1)
		s.acquire("there", after(time.Second), after(time.Hour))
		s.holds("there", after(time.Hour))
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
