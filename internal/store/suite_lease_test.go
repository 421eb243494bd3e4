package store

import (
	"errors"
	"fmt"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

// acquire takes the lease of run r.
func (s *suite) acquire(holder string, now, until time.Duration) error {
	return s.db.Acquire(s.ctx, ada, "r", holder, after(now), after(until))
}

func (s *suite) release(holder string, rest time.Time) {
	s.Helper()
	assert.NoError(s, s.db.Release(s.ctx, ada, "r", holder, rest))
}

// holds wants the lease of run r, and how often it was taken up in vain, to be these.
func (s *suite) holds(holder string, until time.Time, tries int) {
	s.Helper()
	got := s.run("r")
	s.same("lease and tries", []any{got.LeaseHolder, got.LeaseUntil, got.Tries}, []any{holder, until, tries})
}

// stranded are the ids of the runs that are stranded then, in order.
func (s *suite) stranded(at journal.LeaseTimes) []string {
	s.Helper()
	return idsOf(assert.Must(s.db.Stranded(s.ctx, at, 0))(s), func(r journal.Run) string { return r.ID })
}

// vain has a run that was taken up so often by processes that died of it, by the last of them for a minute.
func (s *suite) vain(run string, times int) {
	s.Helper()
	s.begin("s", run, 1)
	for n := range times {
		now := after(time.Duration(n) * time.Minute)
		assert.NoError(s, s.db.Acquire(s.ctx, ada, run, fmt.Sprint(n+1), now, now.Add(time.Minute)))
	}
}

var leaseTests = map[string]func(*suite){
	"LeaseIsItsHoldersUntilItsLastInstant": func(s *suite) {
		s.begin("s", "r", 1)
		for _, step := range []struct {
			holder         string
			now, until     time.Duration
			refused        error
			tries          int
			heldBy         string
			heldUntilHours time.Duration
		}{
			{"here", 0, time.Hour, nil, 1, "here", 1},
			{"there", time.Hour - time.Millisecond, 9 * time.Hour, journal.ErrLeased, 1, "here", 1},
			{"", 2 * time.Hour, 9 * time.Hour, journal.ErrInvalid, 1, "here", 1},
			{"here", time.Second, 2 * time.Hour, nil, 1, "here", 2},     // renewed
			{"here", 3 * time.Hour, 4 * time.Hour, nil, 1, "here", 4},   // though it had run out
			{"there", 4 * time.Hour, 5 * time.Hour, nil, 2, "there", 5}, // free from its last instant on
			{"third", 6 * time.Hour, 7 * time.Hour, nil, 3, "third", 7}, // each is counted before reading the run
			// one that is set aside is taken by name, too
			{"fourth", 7 * time.Hour, 8 * time.Hour, nil, 4, "fourth", 8},
		} {
			err := s.acquire(step.holder, step.now, step.until)
			assert.That(s, errors.Is(err, step.refused),
				"Acquire for %q at %s: %v, want %v", step.holder, step.now, err, step.refused)
			s.holds(step.heldBy, after(step.heldUntilHours*time.Hour), step.tries)
		}
		assert.NoError(s, s.appendTo("r", 1, 1)) // whoever has the lease
	},
	"LeaseGivenToBeginCountsAndIsNoTry": func(s *suite) {
		r := leased(runOf(ada, "s", "r"), "here", time.Minute)
		r.Tries = 7
		s.start(r, nil)
		s.holds("here", after(time.Minute), 0)
		s.fails(journal.ErrLeased, s.acquire("there", 0, time.Hour))
		assert.NoError(s, s.acquire("there", time.Minute, time.Hour))
		free := runOf(ada, "s", "free")
		free.LeaseUntil = after(time.Minute)
		s.start(free, nil)
		s.same("a lease without a holder", s.run("free").LeaseUntil, time.Time{})
	},
	"ReleasedRunIsFreeAndTheTryIsTakenBack": func(s *suite) {
		s.vain("r", 2)
		assert.NoError(s, s.acquire("here", time.Hour, 2*time.Hour))
		s.unchanged(func() { // by another
			s.release("there", after(time.Hour))
			s.release("", after(time.Hour))
		})
		s.release("here", time.Time{})
		s.holds("", time.Time{}, 2)
		s.release("here", time.Time{})
		s.holds("", time.Time{}, 2)
		assert.NoError(s, s.acquire("there", time.Hour, 2*time.Hour))
	},
	"OnlyTheHolderSettlesAndARunThatIsSettledIsCountedAnew": func(s *suite) {
		s.vain("r", 2)
		s.unchanged(func() {
			assert.NoError(s, s.db.Settle(s.ctx, ada, "r", "another"))
			assert.NoError(s, s.db.Settle(s.ctx, ada, "r", ""))
			s.fails(journal.ErrNotFound, s.db.Settle(s.ctx, bob, "r", "2"), s.db.Settle(s.ctx, ada, "unknown", "2"))
		})
		assert.NoError(s, s.acquire("here", time.Hour, 2*time.Hour))
		assert.NoError(s, s.db.Settle(s.ctx, ada, "r", "here"))
		s.holds("here", after(2*time.Hour), 0)
		assert.NoError(s, s.acquire("there", 3*time.Hour, 4*time.Hour))
		s.holds("there", after(4*time.Hour), 1)
		assert.NoError(s, s.db.Settle(s.ctx, ada, "r", "there"))
		s.release("there", time.Time{})
		s.holds("", time.Time{}, 0)
		s.vain("ended", journal.MaxTries)
		s.end("ended", 1, journal.Cancelled, noon)
		s.same("tries of a run that has ended", s.run("ended").Tries, 0)
	},
	"RunThatWasTakenUpInVainIsSetAsideAndTakesNoTurnOfItsOwner": func(s *suite) {
		at := journal.LeaseTimes{Now: after(24 * time.Hour)}
		s.vain("r", journal.MaxTries-1)
		s.same("stranded after two tries", s.stranded(at), []string{"r"})
		assert.NoError(s, s.acquire("third", time.Hour, 2*time.Hour))
		s.begin("s of z", "z", 1)
		s.start(runOf(bob, "bobs", "zz"), recordsFrom(0, 1))
		s.same("stranded after three", s.stranded(at), []string{"z", "zz"})
		s.same("set aside", s.run("r").SetAside(), true)
		listed := assert.Must(s.db.Runs(s.ctx, ada, journal.Filter{Status: journal.Running}))(s)
		s.same("set aside in a list", listed[1].SetAside(), true)
	},
	"ReleasedRunRestsAndIsTakenByNameAllTheSame": func(s *suite) {
		s.begin("s", "r", 1)
		assert.NoError(s, s.acquire("here", 0, time.Second))
		s.release("here", after(time.Minute))
		s.holds("", after(time.Minute), 0)
		s.same("stranded while it rests", s.stranded(journal.LeaseTimes{Now: after(time.Minute - time.Millisecond)}),
			[]string{})
		s.same("stranded after its rest", s.stranded(journal.LeaseTimes{Now: after(time.Minute)}), []string{"r"})
		assert.NoError(s, s.acquire("there", time.Second, time.Hour))
		s.holds("there", after(time.Hour), 1)
	},
	"LeaseOrRestBeyondTheLatestThereCanBeIsOver": func(s *suite) {
		year := after(365 * 24 * time.Hour)
		s.start(leased(runOf(ada, "s", "leased"), "here", 365*24*time.Hour), nil)
		s.begin("s", "r", 1)
		assert.NoError(s, s.acquire("here", 0, time.Minute))
		s.release("here", year)
		s.same("where none is too late", s.stranded(journal.LeaseTimes{Now: noon}), []string{})
		s.same("leases of a minute", s.stranded(journal.LeaseTimes{Now: noon, Leases: after(time.Minute)}),
			[]string{"leased"})
		s.same("rests of an hour", s.stranded(journal.LeaseTimes{Now: noon, Rests: after(time.Hour)}), []string{"r"})
		s.same("to the millisecond",
			s.stranded(journal.LeaseTimes{Now: noon, Leases: year, Rests: year.Add(-time.Millisecond)}), []string{"r"})
	},
	"RenewSetsTheLeasesThatTheHolderHasAndNoOthers": func(s *suite) {
		holders := map[string]string{"mine": "here", "mine too": "here", "lost": "there", "free": "", "ended": "here",
			"not named": "here"}
		keys := []journal.Key{{Owner: bob, Run: "bob's"}, {Owner: bob, Run: "not named"}, {Owner: ada, Run: "unknown"}}
		for id, holder := range holders {
			s.start(leased(runOf(ada, "s", id), holder, time.Minute), recordsFrom(0, 1))
			if id != "not named" {
				keys = append(keys, journal.Key{Owner: ada, Run: id})
			}
		}
		s.start(leased(runOf(bob, "bobs", "bob's"), "here", time.Minute), nil)
		s.end("ended", 1, journal.Done, noon)
		assert.NoError(s, s.db.Renew(s.ctx, "here", keys, after(time.Hour)))
		assert.NoError(s, s.db.Renew(s.ctx, "here", nil, after(2*time.Hour)))
		s.fails(journal.ErrInvalid, s.db.Renew(s.ctx, "", keys, after(2*time.Hour)))
		for id := range holders {
			want := map[string]time.Time{"mine": after(time.Hour), "mine too": after(time.Hour),
				"lost": after(time.Minute), "not named": after(time.Minute)}[id]
			s.same("lease of "+id, s.run(id).LeaseUntil, want)
		}
		s.same("lease of bob's", assert.Must(s.db.Run(s.ctx, bob, "bob's"))(s).LeaseUntil, after(time.Hour))
	},
	"SnapshotsTellOfTheRunsThatAreThere": func(s *suite) {
		s.begin("s", "r", 3)
		assert.NoError(s, s.acquire("here", 0, time.Minute))
		s.begin("s", "ended", 1)
		s.end("ended", 1, journal.Failed, noon)
		s.start(runOf(bob, "bobs", "bob's"), nil)
		key := func(owner journal.Owner, run string) journal.Key { return journal.Key{Owner: owner, Run: run} }
		keys := []journal.Key{key(bob, "bob's"), key(ada, "ended"), key(ada, "unknown"), key(ada, "bob's"),
			key(ada, "r")}
		s.same("standing", assert.Must(s.db.Snapshots(s.ctx, keys))(s), []journal.RunSnapshot{
			{Key: key(bob, "bob's"), Status: journal.Running},
			{Key: key(ada, "ended"), Records: 2, Status: journal.Failed},
			{Key: key(ada, "r"), Records: 3, Status: journal.Running, LeaseHolder: "here"},
		})
	},
	"StrandedRunsAreThoseWithoutALiveLeaseAndOwnersTakeTurns": func(s *suite) {
		for i, r := range []struct {
			owner journal.Owner
			id    string
			until time.Duration // of its lease; 0: it has none
		}{
			{ada, "driven", 2 * time.Hour}, {ada, "a1", 0}, {ada, "a2", time.Minute}, {ada, "a3", 0}, {ada, "over", 0},
			{bob, "b1", time.Hour}, {cy, "c1", 0}, {bob, "b2", 0},
		} {
			holder := ""
			if r.until > 0 {
				holder = "dead"
			}
			run := leased(runOf(r.owner, "session of "+r.id, r.id), holder, r.until)
			run.StartedAt = after(time.Duration(i) * time.Second)
			s.start(run, nil)
		}
		s.end("over", 0, journal.Done, noon)
		at := journal.LeaseTimes{Now: after(time.Hour)}
		s.same("turns", s.stranded(at), []string{"b1", "c1", "a1", "b2", "a2", "a3"})
		s.same("the first", assert.Must(s.db.Stranded(s.ctx, at, 1))(s),
			[]journal.Run{assert.Must(s.db.Run(s.ctx, bob, "b1"))(s)})
		other := leased(runOf(cy, "session of other", "other"), "", 0)
		other.Assistant, other.StartedAt = "council", after(time.Minute)
		s.start(other, nil)
		ids := func(r journal.Run) string { return r.ID }
		s.same("without an assistant", idsOf(assert.Must(s.db.Stranded(s.ctx, at, 0, "tasks", "oracle"))(s), ids),
			[]string{"other"})
		s.same("before a lease runs out", s.stranded(journal.LeaseTimes{Now: after(time.Hour - time.Millisecond)}),
			[]string{"c1", "a1", "b2", "other", "a2", "a3"})
	},
	"CensusCountsTheRunsOfAllOwnersByHowTheyStand": func(s *suite) {
		add := func(owner journal.Owner, id, holder string, started, until time.Duration) {
			r := leased(runOf(owner, "session of "+id, id), holder, until)
			r.StartedAt = after(started)
			s.start(r, nil)
		}
		add(ada, "driven", "here", time.Minute, 3*time.Hour)
		add(bob, "driven, too", "there", time.Second, 3*time.Hour)
		add(ada, "gone", "dead", time.Minute, time.Hour)
		add(cy, "free", "", 2*time.Minute, 0)
		add(ada, "over", "", 0, 0)
		s.end("over", 0, journal.Done, noon)
		add(ada, "r", "here", time.Minute, time.Hour)
		s.release("here", after(3*time.Hour))
		s.vain("aside", journal.MaxTries)
		count := func(stand journal.RunState, runs int, oldest time.Duration) journal.Count {
			return journal.Count{Assistant: "oracle", Stand: stand, Runs: runs, Oldest: after(oldest)}
		}
		at := journal.LeaseTimes{Now: after(2 * time.Hour)}
		s.same("census", assert.Must(s.db.Census(s.ctx, at))(s), []journal.Count{count(journal.IsDriven, 2, time.Second),
			count(journal.IsResting, 1, time.Minute), count(journal.IsSetAside, 1, 0),
			count(journal.IsStranded, 2, time.Minute)})
		at.Leases = after(time.Hour)
		s.same("driven where no lease lasts so long", assert.Must(s.db.Census(s.ctx, at))(s)[0].Stand, journal.IsResting)
	},
	"OfSixteenOneTakesAnExpiredLease": func(s *suite) {
		s.vain("r", 1)
		s.oneWins(16, journal.ErrLeased, func(i int) error {
			return s.acquire(fmt.Sprint("racer ", i), time.Minute, time.Hour)
		})
	},
}

// leave begins a run of ada's and ends it at a moment with these pending rows.
func (s *suite) leave(session, run string, at time.Time, pending ...journal.Pending) {
	s.Helper()
	s.begin(session, run, 1)
	assert.NoError(s, s.db.Append(s.ctx, ada, run, recordsFrom(1, 1), &journal.End{Status: journal.NeedsUser, At: at,
		Pending: pending}))
}

// consume begins a run of ada's that consumes pending rows.
func (s *suite) consume(session, run string, at time.Time, ids ...string) error {
	r := runOf(ada, session, run)
	r.StartedAt = at
	return s.db.Begin(s.ctx, journal.Beginning{Run: r, Consume: ids})
}

// pending wants the rows of a session that are open at now to be these.
func (s *suite) pending(session string, now time.Time, want ...string) {
	s.Helper()
	list := assert.Must(s.db.Pending(s.ctx, ada, session, now))(s)
	s.same("pending rows", idsOf(list, func(p journal.Pending) string { return p.ID }), want)
}

// claim begins a run of an owner's, in a session of its own, that claims keys.
func (s *suite) claim(owner journal.Owner, run string, keys ...string) error {
	session := sessionOf(owner, "session of "+run)
	return s.db.Begin(s.ctx, journal.Beginning{Run: runOf(owner, session.ID, run), Session: &session,
		Records: recordsFrom(0, 1), Claims: keys})
}

var pendingTests = map[string]func(*suite){
	"RowsComeBackAsLeftTheOldestFirst": func(s *suite) {
		s.begin("s", "slow", 1)
		s.leave("s", "r", after(time.Hour), journal.Pending{ID: "b", Owner: bob, Session: "other",
			Run: "other", Kind: "choice",
			Data: []byte(`{"tool":"delete"}`), CreatedAt: noon, ExpiresAt: after(2 * time.Hour)},
			journal.Pending{ID: "a"})
		end := &journal.End{Status: journal.NeedsUser, At: after(time.Minute), Pending: []journal.Pending{{ID: "c"}}}
		assert.NoError(s, s.db.Append(s.ctx, ada, "slow", recordsFrom(1, 1), end))
		s.same("pending", assert.Must(s.db.Pending(s.ctx, ada, "s", noon))(s), []journal.Pending{
			{ID: "c", Owner: ada, Session: "s", Run: "slow", CreatedAt: after(time.Minute)},
			{ID: "a", Owner: ada, Session: "s", Run: "r", CreatedAt: after(time.Hour)},
			{ID: "b", Owner: ada, Session: "s", Run: "r", Kind: "choice", Data: []byte(`{"tool":"delete"}`),
				CreatedAt: after(time.Hour), ExpiresAt: after(2 * time.Hour)},
		})
		s.same("pending rows that bob sees", assert.Must(s.db.Pending(s.ctx, bob, "s", noon))(s), []journal.Pending{})
	},
	"ExpiredRowIsNotListedAndNotConsumed": func(s *suite) {
		s.leave("s", "r", noon, journal.Pending{ID: "p", ExpiresAt: after(time.Hour)}, journal.Pending{ID: "lasting"})
		s.pending("s", after(time.Hour-time.Millisecond), "lasting", "p")
		s.pending("s", after(time.Hour), "lasting")
		s.unchanged(func() { s.fails(journal.ErrConsumed, s.consume("s", "late", after(time.Hour), "p")) })
		assert.NoError(s, s.consume("s", "in time", after(time.Hour-time.Millisecond), "p"))
	},
	"BeginningConsumesItsRowsAndVoidsTheOthersOfItsSession": func(s *suite) {
		s.leave("s", "r", noon, journal.Pending{ID: "p"}, journal.Pending{ID: "q"})
		s.leave("other", "r2", noon, journal.Pending{ID: "p"}, journal.Pending{ID: "o"})
		bobs := sessionOf(bob, "bobs")
		s.unchanged(func() {
			s.fails(journal.ErrConsumed, s.consume("s", "r3", noon, "p", "unknown"), s.consume("s", "r3", noon, "o"),
				s.db.Begin(s.ctx, journal.Beginning{Run: runOf(bob, "bobs", "r3"), Session: &bobs,
					Consume: []string{"p"}}))
			s.fails(journal.ErrExists, s.consume("s", "r", noon, "p"))
		})
		assert.NoError(s, s.consume("s", "first", noon, "p", "p"))
		s.pending("s", noon)
		s.pending("other", noon, "o", "p")
		s.unchanged(func() {
			s.fails(journal.ErrConsumed, s.consume("s", "second", noon, "p"), s.consume("s", "second", noon, "q"))
		})
		assert.NoError(s, s.db.DeleteSession(s.ctx, ada, "other", journal.ByPerson, noon))
		s.pending("other", noon)
	},
	"TakenRowIDExistsAndTheRunGoesOn": func(s *suite) {
		s.begin("s", "slow", 1)
		s.leave("s", "r", noon, journal.Pending{ID: "p"})
		end := &journal.End{Status: journal.NeedsUser, At: noon, Pending: []journal.Pending{{ID: "q"}, {ID: "p"}}}
		s.unchanged(func() { s.fails(journal.ErrExists, s.db.Append(s.ctx, ada, "slow", recordsFrom(1, 1), end)) })
		assert.NoError(s, s.appendTo("slow", 1, 1))
	},
	"OfSixteenOneConsumesARow": func(s *suite) {
		s.leave("s", "r", noon, journal.Pending{ID: "p"})
		s.oneWins(16, journal.ErrConsumed, func(i int) error {
			return s.consume("s", fmt.Sprint("racer ", i), noon, "p")
		})
	},
	"ClaimIsHeldUntilTheRunEndsOrItsSessionIsDeleted": func(s *suite) {
		assert.NoError(s, s.claim(ada, "r", "inquiry", "lock", "inquiry"))
		assert.NoError(s, s.claim(bob, "bob's", "inquiry"))
		for _, key := range []string{"inquiry", "lock"} {
			s.same("run that claims "+key, assert.Must(s.db.Claimed(s.ctx, ada, key))(s), "r")
		}
		s.unchanged(func() {
			err := s.claim(ada, "r2", "free", "lock")
			claimed, _ := errors.AsType[*journal.ClaimedError](err)
			s.same("claim", claimed, &journal.ClaimedError{Key: "lock", Run: "r"})
			s.fails(journal.ErrClaimed, err)
		})
		s.end("r", 1, journal.Failed, noon)
		for _, key := range []string{"inquiry", "lock", "free"} {
			s.fails(journal.ErrNotFound, errOf(s.db.Claimed(s.ctx, ada, key)))
		}
		assert.NoError(s, s.claim(ada, "r2", "lock"))
		assert.NoError(s, s.db.DeleteSession(s.ctx, ada, "session of r2", journal.ByPerson, noon))
		assert.NoError(s, s.claim(ada, "r3", "lock"))
	},
	"OfSixteenOneClaimsAKey": func(s *suite) {
		s.oneWins(16, journal.ErrClaimed, func(i int) error { return s.claim(ada, fmt.Sprint("racer ", i), "inquiry") })
	},
}
