package journaltest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"sibyl/internal/journal"
)

// tombstoneOf is what a session of ada's leaves that sessionOf made.
func tombstoneOf(id string, runs int, why journal.Reason, at time.Time) journal.Tombstone {
	s := sessionOf(ada, id)
	return journal.Tombstone{ID: id, Owner: ada, Assistant: s.Assistant, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
		DeletedAt: at, Runs: runs, Reason: why}
}

func tombstoneID(t journal.Tombstone) string { return t.ID }

var deleteTests = map[string]func(*suite){
	"DeletedSessionTakesItsRunsAndRecordsAndNoOthers": func(s *suite) {
		s.begin("keep", "kept", 2)
		want := s.state()
		s.begin("s", "r1", 2)
		s.start(runOf(ada, "s", "r2"), records(0, 5))
		want.Tombstones = []journal.Tombstone{tombstoneOf("s", 2, journal.ByPerson, noon)}
		s.ok(s.store.DeleteSession(s.ctx, ada, "s", journal.ByPerson, noon))
		s.same("state", s.state(), want)
		for name, err := range s.everyCall(s.ctx, ada) {
			if name != "Tombstone" && !errors.Is(err, journal.ErrNotFound) {
				s.Errorf("%s: %v, want ErrNotFound", name, err)
			}
		}
		s.start(runOf(ada, "keep", "r1"), records(0, 1))
		s.same("records of the run's id used again", s.records("r1"), records(0, 1))
	},
	"RemovedSessionIsNotFoundAndSaysWhenAndWhy": func(s *suite) {
		s.begin("s", "r", 1)
		s.ok(s.store.DeleteSession(s.ctx, ada, "s", journal.ByPerson, after(time.Minute)))
		want := tombstoneOf("s", 1, journal.ByPerson, after(time.Minute))
		calls := s.everyCall(s.ctx, ada)
		for _, name := range []string{"Session", "RenameSession", "DeleteSession", "Begin"} {
			var removed *journal.RemovedError
			if err := calls[name]; !errors.As(err, &removed) || !errors.Is(err, journal.ErrNotFound) {
				s.Errorf("%s: %v, want a RemovedError", name, err)
			} else {
				s.same("what "+name+" tells", removed.Tombstone, want)
			}
		}
		s.same("tombstone", ask(s.store.Tombstone(s.ctx, ada, "s")).ok(s), want)
	},
	"RemovedSessionOfAnotherNeverWas": func(s *suite) {
		s.begin("s", "r", 1)
		s.ok(s.store.DeleteSession(s.ctx, ada, "s", journal.ByPerson, noon))
		for name, err := range s.everyCall(s.ctx, bob) {
			var removed *journal.RemovedError
			if errors.As(err, &removed) || !errors.Is(err, journal.ErrNotFound) {
				s.Errorf("%s: %v, want ErrNotFound and no more", name, err)
			}
		}
		list := ask(s.store.Tombstones(s.ctx, bob, journal.SessionFilter{})).ok(s)
		s.same("bob's tombstones", list, []journal.Tombstone(nil))
	},
	"IDOfARemovedSessionStaysTaken": func(s *suite) {
		s.begin("s", "r", 1)
		s.ok(s.store.DeleteSession(s.ctx, ada, "s", journal.ByPerson, noon))
		s.unchanged(func() {
			s.fails(s.store.Begin(s.ctx, beginningOf(sessionOf(ada, "s"))), journal.ErrExists)
			s.fails(s.store.Begin(s.ctx, beginningOf(sessionOf(bob, "s"))), journal.ErrExists)
		})
	},
	"SessionThatIsThereHasNoTombstone": func(s *suite) {
		s.begin("s", "r", 1)
		ask(s.store.Tombstone(s.ctx, ada, "s")).fails(s, journal.ErrNotFound)
	},
	"DeleteForNoReasonIsInvalid": func(s *suite) {
		s.begin("s", "r", 1)
		s.unchanged(func() {
			s.fails(s.store.DeleteSession(s.ctx, ada, "s", "", noon), journal.ErrInvalid)
			s.fails(s.store.DeleteSession(s.ctx, ada, "s", "a secret reason", noon), journal.ErrInvalid)
		})
	},
	"TombstonesAreOrderedByRemovalThenID": func(s *suite) {
		for id, d := range map[string]time.Duration{"a": 1, "b": 2, "c": 2, "d": 0, "e": 2} {
			s.create(sessionOf(ada, id))
			s.ok(s.store.DeleteSession(s.ctx, ada, id, journal.ByPerson, after(d*time.Minute)))
		}
		for limit, want := range map[int][]string{0: {"e", "c", "b", "a", "d"}, 2: {"e", "c"}} {
			list := ask(s.store.Tombstones(s.ctx, ada, journal.SessionFilter{Limit: limit})).ok(s)
			s.same("tombstones", idsOf(list, tombstoneID), want)
		}
	},
	"DeletedSessionTakesTheBlobsNobodyElseRefersTo": func(s *suite) {
		const own, shared = "own", "shared"
		s.start(runOf(ada, "s1", "r1"), nil, own, shared)
		s.start(runOf(ada, "s1", "r2"), nil, own)
		s.start(runOf(ada, "s2", "r3"), nil, shared, shared)
		s.ok(s.store.DeleteSession(s.ctx, ada, "s1", journal.ByPerson, noon))
		ask(s.store.Blob(s.ctx, ada, journal.BlobHash([]byte(own)))).fails(s, journal.ErrNotFound)
		s.same("shared blob", string(ask(s.store.Blob(s.ctx, ada, journal.BlobHash([]byte(shared)))).ok(s)), "shared")
		s.ok(s.store.DeleteSession(s.ctx, ada, "s2", journal.ByPerson, noon))
		ask(s.store.Blob(s.ctx, ada, journal.BlobHash([]byte(shared)))).fails(s, journal.ErrNotFound)
	},
	"DeleteIsRefusedUnderALiveLease": func(s *suite) {
		s.begin("s", "done", 1)
		s.end("done", 1, journal.Done, noon)
		s.start(runOf(ada, "s", "r"), records(0, 1))
		s.acquire("here", noon, after(time.Minute))
		s.unchanged(func() {
			s.fails(s.store.DeleteSession(s.ctx, ada, "s", journal.ByPerson, after(time.Minute-time.Millisecond)), journal.ErrLeased)
		})
		s.ok(s.store.DeleteSession(s.ctx, ada, "s", journal.ByPerson, after(time.Minute)))
	},
	"DeleteNeedsNoEndOfARunNobodyDrives": func(s *suite) {
		s.begin("s", "r", 1)
		s.acquire("here", noon, after(time.Hour))
		s.ok(s.store.Release(s.ctx, ada, "r", "here", time.Time{}))
		s.ok(s.store.DeleteSession(s.ctx, ada, "s", journal.ByPerson, noon))
	},
}

// used makes a session of ada's with one run, which both were last used at that moment.
func (s *suite) used(id string, at time.Time, status journal.Status) {
	s.Helper()
	session := sessionOf(ada, id)
	session.CreatedAt, session.UpdatedAt = at, at
	b := beginningOf(session)
	b.Records, b.Blobs = []journal.Record{{At: at}}, [][]byte{[]byte("blob of " + id)}
	s.ok(s.store.Begin(s.ctx, b))
	if status != journal.Running {
		s.ok(s.store.Append(s.ctx, ada, b.Run.ID, []journal.Record{{Seq: 1, At: at}}, &journal.End{Status: status, At: at}))
	}
}

// retired wants Unused and then Retire to name these sessions, and Retire to leave nothing more to name.
func (s *suite) retired(before, now time.Time, want ...string) {
	s.Helper()
	unused := ask(s.store.Unused(s.ctx, ada, journal.Idle{Before: before, Now: now})).ok(s)
	left := ask(s.store.Retire(s.ctx, ada, journal.Idle{Before: before, Now: now})).ok(s)
	for i, session := range unused {
		if i < len(left) {
			t, err := session.Tombstone(journal.ByRetention, now)
			s.ok(err)
			s.same("tombstone of "+session.ID, left[i], t)
		}
	}
	s.same("unused", idsOf(unused, func(session journal.Session) string { return session.ID }), want)
	s.same("removed", idsOf(left, tombstoneID), want)
	again := ask(s.store.Retire(s.ctx, ada, journal.Idle{Before: before, Now: now})).ok(s)
	s.same("removed by another call", again, []journal.Tombstone(nil))
}

var retentionTests = map[string]func(*suite){
	"SessionsUnusedSinceAreRemovedTheLongestUnusedFirst": func(s *suite) {
		for id, d := range map[string]time.Duration{"c": 1, "b": 2, "a": 2, "edge": 3, "later": 4} {
			s.used(id, after(d*time.Hour), journal.Done)
		}
		s.retired(after(3*time.Hour), after(9*time.Hour), "c", "a", "b")
		s.same("sessions", s.sessionIDs(0), []string{"later", "edge"})
		_, err := s.store.Session(s.ctx, ada, "a")
		var removed *journal.RemovedError
		if !errors.As(err, &removed) || removed.Reason != journal.ByRetention || removed.Runs != 1 {
			s.Errorf("error is %v, want one that tells of a removal by retention of 1 run", err)
		}
		ask(s.store.Blob(s.ctx, ada, journal.BlobHash([]byte("blob of a")))).fails(s, journal.ErrNotFound)
		ask(s.store.Run(s.ctx, ada, "run of a")).fails(s, journal.ErrNotFound)
	},
	"RetireTakesAtMostItsLimit": func(s *suite) {
		for i := range 5 {
			s.used(fmt.Sprint(i), after(time.Duration(i)*time.Minute), journal.Done)
		}
		for _, want := range []int{2, 2, 1, 0} {
			left := ask(s.store.Retire(s.ctx, ada, journal.Idle{Before: after(time.Hour), Now: after(time.Hour), Limit: 2})).ok(s)
			s.same("removed", len(left), want)
		}
	},
	"SessionThatSomebodyDrivesIsInUse": func(s *suite) {
		s.used("s", noon, journal.Running)
		s.ok(s.store.Acquire(s.ctx, ada, "run of s", "here", noon, after(time.Hour)))
		s.retired(after(30*time.Minute), after(time.Hour-time.Millisecond))
		s.retired(after(30*time.Minute), after(time.Hour), "s")
	},
	"InterruptedRunKeepsItsSessionFromItsLastRecordOn": func(s *suite) {
		s.used("s", noon, journal.Running)
		s.ok(s.store.Append(s.ctx, ada, "run of s", []journal.Record{{Seq: 1, At: after(time.Hour)}}, nil))
		s.retired(after(time.Hour), after(9*time.Hour))
		s.retired(after(time.Hour+time.Millisecond), after(9*time.Hour), "s")
	},
	"InterruptedRunWithoutRecordsKeepsNothing": func(s *suite) {
		s.begin("s", "r", 0)
		s.retired(after(time.Millisecond), after(time.Hour), "s")
	},
	"LastRecordOfAnEndedRunKeepsNothing": func(s *suite) {
		s.used("s", noon, journal.Running)
		end := &journal.End{Status: journal.Failed, At: noon}
		s.ok(s.store.Append(s.ctx, ada, "run of s", []journal.Record{{Seq: 1, At: after(time.Hour)}}, end))
		s.retired(after(time.Minute), after(9*time.Hour), "s")
	},
	"RunInUseOfAnotherSessionKeepsNothing": func(s *suite) {
		s.used("s", noon, journal.Running)
		s.used("other", noon, journal.Running)
		s.ok(s.store.Acquire(s.ctx, ada, "run of other", "here", noon, after(time.Hour)))
		s.retired(after(time.Minute), after(2*time.Minute), "s")
	},
	"EachAssistantHasItsOwnRetention": func(s *suite) {
		council := sessionOf(ada, "council's")
		council.Assistant = "council"
		s.create(council)
		s.create(sessionOf(ada, "oracle's"))
		idle := journal.Idle{Assistant: "council", Before: after(time.Hour), Now: after(time.Hour)}
		unused := ask(s.store.Unused(s.ctx, ada, idle)).ok(s)
		left := ask(s.store.Retire(s.ctx, ada, idle)).ok(s)
		if len(unused) != 1 || unused[0].ID != council.ID || len(left) != 1 || left[0].ID != council.ID {
			s.Errorf("unused are %v, removed %v, want the council's session alone", unused, left)
		}
		for assistant, want := range map[string]int{"": 1, "council": 1, "oracle": 0} {
			list := ask(s.store.Tombstones(s.ctx, ada, journal.SessionFilter{Assistant: assistant})).ok(s)
			s.same("tombstones of "+assistant, len(list), want)
		}
	},
	"SessionsOfOthersAreNotRetired": func(s *suite) {
		s.create(sessionOf(bob, "bobs"))
		s.used("s", noon, journal.Done)
		s.retired(after(time.Hour), after(time.Hour), "s")
		_, err := s.store.Session(s.ctx, bob, "bobs")
		s.ok(err)
	},
	"OfEightThatRetireEachSessionIsOnesOnly": func(s *suite) {
		const sessions = 12
		for i := range sessions {
			s.used(fmt.Sprint(i), noon, journal.Done)
		}
		var mu sync.Mutex
		taken := make(map[string]int)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for {
					left, err := s.store.Retire(s.ctx, ada, journal.Idle{Before: after(time.Hour), Now: after(time.Hour), Limit: 2})
					if err != nil {
						s.Errorf("Retire: %v", err)
					}
					if len(left) == 0 {
						return
					}
					mu.Lock()
					for _, t := range left {
						taken[t.ID]++
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		s.same("sessions removed", len(taken), sessions)
		for id, n := range taken {
			s.same("times that session "+id+" was removed", n, 1)
		}
	},
}
