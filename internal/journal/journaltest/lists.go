package journaltest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sibyl/internal/journal"
)

var ownerTests = map[string]func(*suite){
	"WhatBelongsToAnotherDoesNotExist": func(s *suite) {
		s.begin("s", "r", 2)
		s.create(sessionOf(bob, "bobs"))
		s.unchanged(func() {
			for name, err := range s.everyCall(s.ctx, bob) {
				if !errors.Is(err, journal.ErrNotFound) {
					s.Errorf("%s: %v, want ErrNotFound", name, err)
				}
			}
		})
	},
	"ListsHoldOnlyTheOwners": func(s *suite) {
		s.begin("s", "r", 1)
		s.create(sessionOf(bob, "bobs"))
		for f, want := range map[journal.Filter]int{{}: 1, {Session: "s"}: 0, {Status: journal.Running}: 1, {Session: "bobs"}: 1} {
			s.same("number of bob's runs", len(ask(s.store.Runs(s.ctx, bob, f)).ok(s)), want)
		}
		sessions := ask(s.store.Sessions(s.ctx, bob, journal.SessionFilter{})).ok(s)
		want := sessionOf(bob, "bobs")
		want.Runs = 1
		s.same("bob's sessions", sessions, []journal.Session{want})
	},
}

// everyCall makes each call on session s and run r that looks for something, in the name of owner.
func (s *suite) everyCall(ctx context.Context, owner journal.Owner) map[string]error {
	errs := make(map[string]error)
	_, errs["Session"] = s.store.Session(ctx, owner, "s")
	errs["RenameSession"] = s.store.RenameSession(ctx, owner, "s", "taken over")
	errs["DeleteSession"] = s.store.DeleteSession(ctx, owner, "s", journal.ByPerson, noon)
	errs["Begin"] = s.store.Begin(ctx, journal.Beginning{Run: runOf(owner, "s", "r2"), Records: records(0, 1)})
	errs["Begin with the id of a run"] = s.store.Begin(ctx, journal.Beginning{Run: runOf(owner, "s", "r"), Records: records(0, 1)})
	errs["Append"] = s.store.Append(ctx, owner, "r", records(2, 1), nil)
	errs["Append at a wrong number"] = s.store.Append(ctx, owner, "r", records(0, 1), nil)
	errs["Append with an end"] = s.store.Append(ctx, owner, "r", records(2, 1), &journal.End{Status: journal.Done, At: noon})
	_, errs["Run"] = s.store.Run(ctx, owner, "r")
	_, errs["Records"] = s.store.Records(ctx, owner, "r", 0)
	_, errs["Records past the last"] = s.store.Records(ctx, owner, "r", 9)
	errs["Acquire"] = s.store.Acquire(ctx, owner, "r", "here", noon, after(time.Minute))
	errs["Release"] = s.store.Release(ctx, owner, "r", "here", time.Time{})
	_, errs["Tombstone"] = s.store.Tombstone(ctx, owner, "s")
	_, errs["Blob"] = s.store.Blob(ctx, owner, journal.BlobHash([]byte("blob")))
	_, errs["Claimed"] = s.store.Claimed(ctx, owner, "key")
	return errs
}

var callTests = map[string]func(*suite){
	"CancelledContextEndsEveryCallAndChangesNothing": func(s *suite) {
		s.begin("s", "r", 2)
		s.unchanged(func() { s.cancelled() })
	},
	"ClosedStoreFailsEveryCallAndClosesAgain": func(s *suite) {
		s.begin("s", "r", 2)
		s.ok(s.store.Close())
		for name, err := range s.everyCall(s.ctx, ada) {
			if err == nil {
				s.Errorf("%s succeeded on a closed store", name)
			}
		}
		s.ok(s.store.Close())
	},
}

func (s *suite) cancelled() {
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	errs := s.everyCall(ctx, ada)
	errs["Begin with a session"] = s.store.Begin(ctx, beginningOf(sessionOf(ada, "s2")))
	_, errs["Sessions"] = s.store.Sessions(ctx, ada, journal.SessionFilter{})
	_, errs["Runs"] = s.store.Runs(ctx, ada, journal.Filter{})
	_, errs["Pending"] = s.store.Pending(ctx, ada, "s", noon)
	errs["Renew"] = s.store.Renew(ctx, "here", []journal.Key{{Owner: ada, Run: "r"}}, after(time.Minute))
	_, errs["Standing"] = s.store.Standing(ctx, []journal.Key{{Owner: ada, Run: "r"}})
	_, errs["Stranded"] = s.store.Stranded(ctx, journal.When{Now: noon}, 0)
	_, errs["Census"] = s.store.Census(ctx, journal.When{Now: noon})
	_, errs["Tombstones"] = s.store.Tombstones(ctx, ada, journal.SessionFilter{})
	_, errs["Unused"] = s.store.Unused(ctx, ada, journal.Idle{Before: after(time.Hour), Now: noon})
	_, errs["Retire"] = s.store.Retire(ctx, ada, journal.Idle{Before: after(time.Hour), Now: noon})
	for name, err := range errs {
		if !errors.Is(err, context.Canceled) {
			s.Errorf("%s: %v, want context.Canceled", name, err)
		}
	}
}

var listTests = map[string]func(*suite){
	"SessionsAreOrderedByUpdateThenID": func(s *suite) {
		for id, d := range map[string]time.Duration{"a": 1, "b": 2, "c": 2, "d": 0, "e": 2} {
			session := sessionOf(ada, id)
			session.UpdatedAt = after(d * time.Minute)
			s.create(session)
		}
		s.same("sessions", s.sessionIDs(0), []string{"e", "c", "b", "a", "d"})
		s.same("two sessions", s.sessionIDs(2), []string{"e", "c"})
		r := runOf(ada, "d", "r")
		r.StartedAt = after(time.Hour)
		s.start(r, nil)
		s.same("after a run in d", s.sessionIDs(0), []string{"d", "e", "c", "b", "a"})
	},
	"RunsAreOrderedByStartThenID": func(s *suite) {
		for id, d := range map[string]time.Duration{"a": 1, "b": 2, "c": 2, "d": 0, "e": 2} {
			r := runOf(ada, "s", id)
			r.StartedAt = after(d * time.Minute)
			s.start(r, nil)
		}
		s.same("runs", s.runIDs(journal.Filter{}), []string{"e", "c", "b", "a", "d"})
		s.same("two runs", s.runIDs(journal.Filter{Limit: 2}), []string{"e", "c"})
	},
	"RunsAreFilteredBySessionAssistantAndStatus": func(s *suite) {
		s.begin("s1", "a", 1)
		s.begin("s2", "b", 1)
		s.start(runOf(ada, "s1", "c"), records(0, 1))
		s.start(runOf(ada, "s2", "d"), records(0, 1))
		s.end("a", 1, journal.Done, noon)
		other := runOf(ada, "s1", "other")
		other.Assistant, other.StartedAt = "council", after(-time.Hour)
		s.start(other, nil)
		s.end("d", 1, journal.Failed, noon)
		for _, c := range []struct {
			filter journal.Filter
			want   []string
		}{
			{journal.Filter{}, []string{"d", "c", "b", "a", "other"}},
			{journal.Filter{Session: "s1"}, []string{"c", "a", "other"}},
			{journal.Filter{Status: journal.Running}, []string{"c", "b", "other"}},
			{journal.Filter{Assistant: "council"}, []string{"other"}},
			{journal.Filter{Assistant: "oracle", Session: "s1", Status: journal.Running}, []string{"c"}},
			{journal.Filter{Status: journal.Done}, []string{"a"}},
			{journal.Filter{Session: "s2", Status: journal.Failed}, []string{"d"}},
			{journal.Filter{Session: "s2", Status: journal.Running}, []string{"b"}},
			{journal.Filter{Session: "s2", Status: journal.Cancelled}, nil},
			{journal.Filter{Session: "unknown"}, nil},
		} {
			s.same(fmt.Sprintf("runs with %+v", c.filter), s.runIDs(c.filter), c.want)
		}
	},
	"ListsHoldAHundredUnlessAsked": func(s *suite) {
		for i := range 101 {
			s.begin(fmt.Sprintf("s%03d", i), fmt.Sprintf("r%03d", i), 0)
		}
		for limit, want := range map[int]int{0: 100, -1: 100, 1: 1, 101: 101, 500: 101} {
			s.same(fmt.Sprintf("sessions with limit %d", limit), len(s.sessionIDs(limit)), want)
			s.same(fmt.Sprintf("runs with limit %d", limit), len(s.runIDs(journal.Filter{Limit: limit})), want)
		}
	},
}

func (s *suite) sessionIDs(limit int) []string {
	s.Helper()
	list := ask(s.store.Sessions(s.ctx, ada, journal.SessionFilter{Limit: limit})).ok(s)
	return idsOf(list, func(session journal.Session) string { return session.ID })
}

func (s *suite) runIDs(f journal.Filter) []string {
	s.Helper()
	return idsOf(ask(s.store.Runs(s.ctx, ada, f)).ok(s), func(run journal.Run) string { return run.ID })
}

func idsOf[E any](list []E, id func(E) string) (ids []string) {
	for _, e := range list {
		ids = append(ids, id(e))
	}
	return ids
}

var cursorTests = map[string]func(*suite){
	"CursorsWalkAListWithTiesWhileEntriesAreAdded": func(s *suite) {
		var want []string
		for i := range 9 {
			session := sessionOf(ada, fmt.Sprintf("s%d", i))
			session.UpdatedAt = after(time.Duration(i/4) * time.Millisecond)
			s.create(session)
			want = append([]string{session.ID}, want...)
		}
		late := 0
		add := func() {
			late++
			session := sessionOf(ada, fmt.Sprintf("late %d", late))
			session.UpdatedAt = after(time.Hour)
			s.create(session)
		}
		s.same("sessions", walk(s, add, journal.Session.Cursor, func(after journal.Cursor) ([]journal.Session, error) {
			return s.store.Sessions(s.ctx, ada, journal.SessionFilter{Assistant: "oracle", Limit: 2, After: after})
		}), want)
		runs := make([]string, len(want))
		for i, id := range want {
			runs[i] = "run of " + id
		}
		begin := after(30 * time.Minute) // before those that came late and after those that are wanted
		s.same("runs", walk(s, add, journal.Run.Cursor, func(after journal.Cursor) ([]journal.Run, error) {
			if after.IsZero() {
				after = journal.Cursor{At: begin, ID: "nothing"}
			}
			return s.store.Runs(s.ctx, ada, journal.Filter{Limit: 2, After: after})
		}), runs)
		for _, id := range want {
			session := s.session(id)
			s.ok(s.store.DeleteSession(s.ctx, ada, id, journal.ByPerson, session.UpdatedAt))
		}
		drop := func() {
			s.ok(s.store.DeleteSession(s.ctx, ada, s.sessionIDs(1)[0], journal.ByPerson, after(time.Hour)))
		}
		s.same("tombstones", walk(s, drop, journal.Tombstone.Cursor, func(after journal.Cursor) ([]journal.Tombstone, error) {
			return s.store.Tombstones(s.ctx, ada, journal.SessionFilter{Assistant: "oracle", Limit: 2, After: after})
		}), want)
	},
}

// walk reads a list to its end, between the pages of which add adds an entry, and returns the ids it met.
func walk[E any](s *suite, add func(), cursor func(E) journal.Cursor, page func(journal.Cursor) ([]E, error)) (ids []string) {
	s.Helper()
	var at journal.Cursor
	for {
		entries, err := page(at)
		s.ok(err)
		if len(entries) == 0 {
			return ids
		}
		for _, e := range entries {
			at = cursor(e)
			ids = append(ids, at.ID)
		}
		read, err := journal.ParseCursor(at.String())
		s.ok(err)
		s.same("cursor read from its text", read, at)
		add()
	}
}
