package store

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

func sessionID(s journal.Session) string { return s.ID }

func tombstoneID(t journal.Tombstone) string { return t.ID }

func (s *suite) sessionIDs(limit int) []string {
	s.Helper()
	return idsOf(assert.Must(s.db.Sessions(s.ctx, ada, journal.SessionFilter{Limit: limit}))(s), sessionID)
}

func (s *suite) runIDs(f journal.Filter) []string {
	s.Helper()
	return idsOf(assert.Must(s.db.Runs(s.ctx, ada, f))(s), func(r journal.Run) string { return r.ID })
}

var listTests = map[string]func(*suite){
	"ListsGoFromTheLatestOnTiesByIDWhileEntriesAreAdded": func(s *suite) {
		want := []string{"s8", "s7", "s6", "s5", "s4", "s3", "s2", "s1", "s0"}
		for i, id := range slices.Backward(want) {
			session := sessionOf(ada, id)
			session.UpdatedAt = after(time.Duration((len(want)-1-i)/4) * time.Millisecond)
			s.create(session)
		}
		late := 0
		add := func() {
			late++
			session := sessionOf(ada, fmt.Sprint("late ", late))
			session.UpdatedAt = after(time.Hour)
			s.create(session)
		}
		s.same("sessions", walk(s, add, journal.Session.Cursor, func(after journal.Cursor) ([]journal.Session, error) {
			return s.db.Sessions(s.ctx, ada, journal.SessionFilter{Assistant: "oracle", Limit: 2, After: after})
		}), want)
		begin := journal.Cursor{At: after(30 * time.Minute), ID: "nothing"} // before those that came late
		s.same("runs", walk(s, add, journal.Run.Cursor, func(after journal.Cursor) ([]journal.Run, error) {
			if after.IsZero() {
				after = begin
			}
			return s.db.Runs(s.ctx, ada, journal.Filter{Limit: 2, After: after})
		}), idsOf(want, func(id string) string { return "run of " + id }))
		for _, id := range want {
			assert.NoError(s, s.db.DeleteSession(s.ctx, ada, id, journal.ByPerson, s.session(id).UpdatedAt))
		}
		drop := func() {
			assert.NoError(s, s.db.DeleteSession(s.ctx, ada, s.sessionIDs(1)[0], journal.ByPerson, after(time.Hour)))
		}
		s.same("tombstones", walk(s, drop, journal.Tombstone.Cursor, func(after journal.Cursor) ([]journal.Tombstone,
			error) {
			return s.db.Tombstones(s.ctx, ada, journal.SessionFilter{Assistant: "oracle", Limit: 2, After: after})
		}), want)
	},
	"RunsAreFilteredBySessionAssistantAndStatus": func(s *suite) {
		for n, id := range []string{"a", "b", "c", "d"} {
			s.begin([]string{"s1", "s2"}[n%2], id, 1)
		}
		other := runOf(ada, "s3", "other")
		other.Assistant, other.StartedAt = "council", after(-time.Hour)
		s.start(other, nil)
		s.end("a", 1, journal.Done, noon)
		s.end("d", 1, journal.Failed, noon)
		for _, c := range []struct {
			filter journal.Filter
			want   []string
		}{
			{journal.Filter{}, []string{"d", "c", "b", "a", "other"}},
			{journal.Filter{Session: "s1"}, []string{"c", "a"}},
			{journal.Filter{Status: journal.Running}, []string{"c", "b", "other"}},
			{journal.Filter{Assistant: "council"}, []string{"other"}},
			{journal.Filter{Assistant: "oracle", Session: "s1", Status: journal.Running}, []string{"c"}},
			{journal.Filter{Status: journal.Done}, []string{"a"}},
			{journal.Filter{Ended: true}, []string{"d", "a"}},
			{journal.Filter{Session: "s2", Status: journal.Failed}, []string{"d"}},
			{journal.Filter{Session: "s2", Status: journal.Cancelled}, nil},
			{journal.Filter{Session: "unknown"}, nil},
		} {
			s.same(fmt.Sprintf("runs with %+v", c.filter), s.runIDs(c.filter), c.want)
		}
	},
	"RunsOfASessionAreInTheOrderOfTheirBeginningsThoughTheClockWasSetBack": func(s *suite) {
		for i, at := range []time.Duration{0, -time.Hour, -time.Minute} {
			r := runOf(ada, "s", fmt.Sprint(9-i))
			r.StartedAt = after(at)
			s.start(r, nil)
		}
		s.same("runs", s.runIDs(journal.Filter{Session: "s"}), []string{"7", "8", "9"})
	},
	"ListsHoldAHundredUnlessAsked": func(s *suite) {
		for i := range 101 {
			s.begin(fmt.Sprint("s", i), fmt.Sprint("r", i), 0)
		}
		for limit, want := range map[int]int{0: 100, -1: 100, 1: 1, 101: 101, 500: 101} {
			s.same(fmt.Sprint("sessions with limit ", limit), len(s.sessionIDs(limit)), want)
			s.same(fmt.Sprint("runs with limit ", limit), len(s.runIDs(journal.Filter{Limit: limit})), want)
		}
	},
}

// walk reads a list to its end, between the pages of which add adds an entry, and returns the ids it met.
func walk[E any](
	s *suite, add func(), cursor func(E) journal.Cursor, page func(journal.Cursor) ([]E, error),
) (ids []string) {
	s.Helper()
	for at := (journal.Cursor{}); ; add() {
		entries := assert.Must(page(at))(s)
		if len(entries) == 0 {
			return ids
		}
		for _, e := range entries {
			at = cursor(e)
			ids = append(ids, at.ID)
		}
		s.same("cursor read from its text", assert.Must(journal.ParseCursor(at.String()))(s), at)
	}
}

// tombstoneOf is what a session of ada's leaves that sessionOf made.
func tombstoneOf(id string, runs int, at time.Time) journal.Tombstone {
	s := sessionOf(ada, id)
	return journal.Tombstone{ID: id, Owner: ada, Assistant: s.Assistant, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
		DeletedAt: at, Runs: runs, Reason: journal.ByPerson}
}

// used makes a session of ada's with one run, which both were last used at that moment.
func (s *suite) used(id string, at time.Time, status journal.Status) {
	s.Helper()
	session := sessionOf(ada, id)
	session.CreatedAt, session.UpdatedAt = at, at
	b := firstOf(session)
	b.Records, b.Blobs = []journal.Record{{At: at}}, [][]byte{[]byte("blob of " + id)}
	assert.NoError(s, s.db.Begin(s.ctx, b))
	if status != journal.Running {
		assert.NoError(s, s.db.Append(s.ctx, ada, b.Run.ID, []journal.Record{{Seq: 1, At: at}},
			&journal.End{Status: status, At: at}))
	}
}

// retired wants Unused and then Retire to name these sessions, and Retire to leave nothing more to name.
func (s *suite) retired(before, now time.Time, want ...string) {
	s.Helper()
	idle := journal.IdleFilter{Before: before, Now: now}
	unused := assert.Must(s.db.Unused(s.ctx, ada, idle))(s)
	left := assert.Must(s.db.Retire(s.ctx, ada, idle))(s)
	s.same("unused", idsOf(unused, sessionID), want)
	s.same("removed", left, tombstonesOf(s, unused, now))
	s.same("removed by another call", assert.Must(s.db.Retire(s.ctx, ada, idle))(s), []journal.Tombstone{})
}

// tombstonesOf are what sessions leave that retention removes.
func tombstonesOf(s *suite, sessions []journal.Session, now time.Time) (left []journal.Tombstone) {
	for _, session := range sessions {
		left = append(left, assert.Must(session.Tombstone(journal.ByRetention, now))(s))
	}
	return left
}

var removalTests = map[string]func(*suite){
	"DeletedSessionTakesWhatIsItsOwnAndLeavesATombstone": func(s *suite) {
		s.start(runOf(ada, "keep", "kept"), recordsFrom(0, 2), "shared")
		want := s.rows()
		s.start(runOf(ada, "s", "r"), recordsFrom(0, 2), "own", "shared")
		s.start(runOf(ada, "s", "r2"), recordsFrom(0, 5), "own")
		s.fails(journal.ErrNotFound, errOf(s.db.Tombstone(s.ctx, ada, "s")))
		s.unchanged(func() {
			s.fails(journal.ErrInvalid, s.db.DeleteSession(s.ctx, ada, "s", "", noon), s.db.DeleteSession(s.ctx, ada,
				"s", "a secret reason", noon))
		})
		assert.NoError(s, s.db.DeleteSession(s.ctx, ada, "s", journal.ByPerson, after(time.Minute)))
		s.same("tombstone", assert.Must(s.db.Tombstone(s.ctx, ada, "s"))(s), tombstoneOf("s", 2, after(time.Minute)))
		got := s.rows()
		delete(got, "tombstone")
		s.same("all else", got, want)
		s.unchanged(func() { // its id stays taken
			s.fails(journal.ErrExists, s.db.Begin(s.ctx, firstOf(sessionOf(ada, "s"))),
				s.db.Begin(s.ctx, firstOf(sessionOf(bob, "s"))))
		})
		s.start(runOf(ada, "keep", "r"), recordsFrom(0, 1))
		s.same("records of the run's id used again", s.records("r"), recordsFrom(0, 1))
		assert.NoError(s, s.db.DeleteSession(s.ctx, ada, "keep", journal.ByPerson, noon))
		s.same("contents that nobody names", s.rows()["blob"], []Row{})
	},
	"RemovedSessionIsNotFoundAndTellsItsOwnerWhenAndWhy": func(s *suite) {
		s.begin("s", "r", 1)
		assert.NoError(s, s.db.DeleteSession(s.ctx, ada, "s", journal.ByPerson, after(time.Minute)))
		told := map[string]bool{"Session": true, "RenameSession": true, "DeleteSession": true, "Begin": true,
			"Begin with the id of a run": true}
		for name, err := range s.everyCall(s.ctx, ada) {
			if removed, is := errors.AsType[*journal.RemovedError](err); is {
				s.same("what "+name+" tells", removed.Tombstone, tombstoneOf("s", 1, after(time.Minute)))
				delete(told, name)
			}
			if name != "Tombstone" {
				s.fails(journal.ErrNotFound, err)
			}
		}
		s.same("calls that tell nothing", told, map[string]bool{})
		for _, err := range s.everyCall(s.ctx, bob) {
			s.fails(journal.ErrNotFound, err)
			_, is := errors.AsType[*journal.RemovedError](err)
			assert.That(s, !is, "another is told of the removal: %v", err)
		}
		s.same("bob's tombstones", assert.Must(s.db.Tombstones(s.ctx, bob, journal.SessionFilter{}))(s),
			[]journal.Tombstone{})
	},
	"DeleteIsRefusedUnderALiveLeaseAlone": func(s *suite) {
		s.begin("s", "done", 1)
		s.end("done", 1, journal.Done, noon)
		s.begin("s", "r", 1)
		assert.NoError(s, s.acquire("here", 0, time.Minute))
		s.unchanged(func() {
			s.fails(journal.ErrLeased, s.db.DeleteSession(s.ctx, ada, "s", journal.ByPerson,
				after(time.Minute-time.Millisecond)))
		})
		assert.NoError(s, s.db.DeleteSession(s.ctx, ada, "s", journal.ByPerson, after(time.Minute)))
		s.begin("s2", "r", 1)
		assert.NoError(s, s.acquire("here", 0, time.Hour))
		s.release("here", time.Time{})
		assert.NoError(s, s.db.DeleteSession(s.ctx, ada, "s2", journal.ByPerson, noon))
	},
	"SessionsUnusedSinceAreRemovedTheLongestUnusedFirst": func(s *suite) {
		for id, d := range map[string]time.Duration{"c": 1, "b": 2, "a": 2, "edge": 3, "later": 4} {
			s.used(id, after(d*time.Hour), journal.Done)
		}
		s.create(sessionOf(bob, "bobs"))
		limited := journal.IdleFilter{Before: after(3 * time.Hour), Now: after(9 * time.Hour), Limit: 1}
		s.same("at most its limit", idsOf(assert.Must(s.db.Retire(s.ctx, ada, limited))(s), tombstoneID), []string{"c"})
		s.retired(after(3*time.Hour), after(9*time.Hour), "a", "b")
		s.same("sessions", s.sessionIDs(0), []string{"later", "edge"})
		removed, _ := errors.AsType[*journal.RemovedError](errOf(s.db.Session(s.ctx, ada, "a")))
		s.same("why", removed.Reason, journal.ByRetention)
		s.fails(journal.ErrNotFound, errOf(s.blob(ada, "blob of a")), errOf(s.db.Run(s.ctx, ada, "run of a")))
		assert.Must(s.db.Session(s.ctx, bob, "bobs"))(s)
	},
	"RunThatIsDrivenOrHasALaterRecordKeepsItsOwnSession": func(s *suite) {
		s.used("driven", noon, journal.Running)
		assert.NoError(s, s.db.Acquire(s.ctx, ada, "run of driven", "here", noon, after(time.Hour)))
		s.used("interrupted", noon, journal.Running)
		s.used("ended", noon, journal.Running)
		later := []journal.Record{{Seq: 1, At: after(time.Hour)}}
		assert.NoError(s, s.db.Append(s.ctx, ada, "run of interrupted", later, nil))
		assert.NoError(s, s.db.Append(s.ctx, ada, "run of ended", later, &journal.End{Status: journal.Failed, At: noon}))
		s.begin("without records", "r", 0)
		s.retired(after(30*time.Minute), after(time.Hour-time.Millisecond), "ended", "without records")
		s.retired(after(time.Hour), after(time.Hour), "driven")
		s.retired(after(time.Hour+time.Millisecond), after(9*time.Hour), "interrupted")
	},
	"EachAssistantHasItsOwnRetention": func(s *suite) {
		council := sessionOf(ada, "council's")
		council.Assistant = "council"
		s.create(council)
		s.create(sessionOf(ada, "oracle's"))
		idle := journal.IdleFilter{Assistant: "council", Before: after(time.Hour), Now: after(time.Hour)}
		s.same("unused", idsOf(assert.Must(s.db.Unused(s.ctx, ada, idle))(s), sessionID), []string{council.ID})
		s.same("removed", idsOf(assert.Must(s.db.Retire(s.ctx, ada, idle))(s), tombstoneID), []string{council.ID})
		for assistant, want := range map[string]int{"": 1, "council": 1, "oracle": 0} {
			list := assert.Must(s.db.Tombstones(s.ctx, ada, journal.SessionFilter{Assistant: assistant}))(s)
			s.same("tombstones of "+assistant, len(list), want)
		}
	},
	"OfEightThatRetireEachSessionIsOnesOnly": func(s *suite) {
		var want []string
		for i := range 12 {
			want = append(want, fmt.Sprintf("%02d", i))
			s.used(want[i], noon, journal.Done)
		}
		taken := make([][]string, 8)
		errs := together(len(taken), func(i int) error {
			for {
				left, err := s.db.Retire(s.ctx, ada, journal.IdleFilter{Before: after(time.Hour), Now: after(time.Hour),
					Limit: 2})
				if err != nil || len(left) == 0 {
					return err
				}
				taken[i] = append(taken[i], idsOf(left, tombstoneID)...)
			}
		})
		assert.NoError(s, errors.Join(errs...))
		s.same("removed", slices.Sorted(slices.Values(slices.Concat(taken...))), want)
	},
}
