package journaltest

import (
	"fmt"
	"time"

	"sibyl/internal/journal"
)

var tryTests = map[string]func(*suite){
	"WhoeverTakesARunUpIsCountedBeforeReadingIt": func(s *suite) {
		s.begin("s", "r", 1)
		s.tried(0)
		for n := 1; n <= 5; n++ {
			s.acquire(fmt.Sprint(n), after(time.Duration(n)*time.Minute), after(time.Duration(n+1)*time.Minute))
			s.tried(n)
		}
	},
	"BeginningWithALeaseIsNoTry": func(s *suite) {
		r := runOf(ada, "s", "r")
		r.LeaseHolder, r.LeaseUntil, r.Tries = "here", after(time.Minute), 7
		s.start(r, records(0, 1))
		s.tried(0)
	},
	"TakingAgainWhatIsHeldIsNoTry": func(s *suite) {
		s.begin("s", "r", 1)
		s.acquire("here", noon, after(time.Minute))
		s.acquire("here", noon, after(time.Hour))
		s.fails(s.store.Acquire(s.ctx, ada, "r", "there", noon, after(time.Hour)), journal.ErrLeased)
		s.ok(s.store.Renew(s.ctx, "here", []journal.Key{{Owner: ada, Run: "r"}}, after(2*time.Hour)))
		s.tried(1)
	},
	"SettledRunIsCountedAnew": func(s *suite) {
		s.vain("r", 2)
		s.acquire("here", after(time.Hour), after(2*time.Hour))
		s.ok(s.store.Settle(s.ctx, ada, "r", "here"))
		s.tried(0)
		s.holds("here", after(2*time.Hour))
		s.acquire("there", after(3*time.Hour), after(4*time.Hour))
		s.tried(1)
	},
	"OnlyTheHolderSettles": func(s *suite) {
		s.vain("r", 2)
		s.unchanged(func() {
			s.ok(s.store.Settle(s.ctx, ada, "r", "another"))
			s.ok(s.store.Settle(s.ctx, ada, "r", ""))
			s.fails(s.store.Settle(s.ctx, bob, "r", "2"), journal.ErrNotFound)
			s.fails(s.store.Settle(s.ctx, ada, "unknown", "2"), journal.ErrNotFound)
		})
	},
	"RunThatIsGivenBackInOrderWasNotTriedInVain": func(s *suite) {
		s.vain("r", 2)
		s.acquire("here", after(time.Hour), after(2*time.Hour))
		s.ok(s.store.Release(s.ctx, ada, "r", "here", time.Time{}))
		s.tried(2)
		s.ok(s.store.Release(s.ctx, ada, "r", "here", time.Time{}))
		s.tried(2)
		s.acquire("here", after(time.Hour), after(2*time.Hour))
		s.ok(s.store.Settle(s.ctx, ada, "r", "here"))
		s.ok(s.store.Release(s.ctx, ada, "r", "here", time.Time{}))
		s.tried(0)
	},
	"RunThatWasTakenUpInVainIsSetAsideAndTakenByNameAllTheSame": func(s *suite) {
		s.vain("r", journal.MaxTries-1)
		at := journal.When{Now: after(24 * time.Hour)}
		s.same("stranded after two tries", len(ask(s.store.Stranded(s.ctx, at, 0)).ok(s)), 1)
		s.acquire("third", at.Now, at.Now.Add(time.Minute))
		at.Now = at.Now.Add(time.Hour)
		s.same("stranded after three", len(ask(s.store.Stranded(s.ctx, at, 0)).ok(s)), 0)
		s.same("set aside", s.run("r").SetAside(), true)
		s.same("listed", ask(s.store.Runs(s.ctx, ada, journal.Filter{Status: journal.Running})).ok(s)[0].SetAside(), true)
		s.acquire("person", at.Now, at.Now.Add(time.Minute))
		s.append("r", 1, 1)
		s.tried(journal.MaxTries + 1)
	},
	"RunThatIsSetAsideTakesNoTurnOfItsOwner": func(s *suite) {
		s.vain("poisoned", journal.MaxTries)
		s.begin("s", "good", 1)
		s.start(runOf(bob, "bobs", "other"), records(0, 1))
		var got []string
		for _, r := range ask(s.store.Stranded(s.ctx, journal.When{Now: after(24 * time.Hour)}, 0)).ok(s) {
			got = append(got, r.ID)
		}
		s.same("stranded", got, []string{"good", "other"})
	},
	"EndedRunHasNoTries": func(s *suite) {
		s.vain("r", journal.MaxTries)
		s.end("r", 1, journal.Cancelled, noon)
		s.tried(0)
		s.same("set aside", s.run("r").SetAside(), false)
	},
	"LeaseOrRestBeyondTheLatestThereCanBeIsOver": func(s *suite) {
		year := after(365 * 24 * time.Hour)
		s.begin("s", "leased", 1)
		s.ok(s.store.Acquire(s.ctx, ada, "leased", "here", noon, year))
		s.begin("s", "rests", 1)
		s.ok(s.store.Acquire(s.ctx, ada, "rests", "here", noon, after(time.Minute)))
		s.ok(s.store.Release(s.ctx, ada, "rests", "here", year))
		stranded := func(at journal.When) (ids []string) {
			for _, r := range ask(s.store.Stranded(s.ctx, at, 0)).ok(s) {
				ids = append(ids, r.ID)
			}
			return ids
		}
		s.same("where none is too late", len(stranded(journal.When{Now: noon})), 0)
		s.same("leases of a minute", stranded(journal.When{Now: noon, Leases: after(time.Minute)}), []string{"leased"})
		s.same("rests of an hour", stranded(journal.When{Now: noon, Rests: after(time.Hour)}), []string{"rests"})
		s.same("to the millisecond", stranded(journal.When{Now: noon, Leases: year, Rests: year.Add(-time.Millisecond)}), []string{"rests"})
	},
}

// vain has a run that was taken up so often by processes that died of it.
func (s *suite) vain(run string, times int) {
	s.Helper()
	s.begin("s", run, 1)
	for n := range times {
		now := after(time.Duration(n) * time.Minute)
		s.ok(s.store.Acquire(s.ctx, ada, run, fmt.Sprint(n+1), now, now.Add(time.Minute)))
	}
}

func (s *suite) tried(want int) {
	s.Helper()
	s.same("tries", s.run("r").Tries, want)
}
