package journaltest

import (
	"time"

	"sibyl/internal/journal"
)

var sessionTests = map[string]func(*suite){
	"SessionComesBackAsCreated": func(s *suite) {
		want := sessionOf(ada, "s")
		want.Runs = 7 // the store's to say
		s.create(want)
		want.Runs = 1
		s.same("session", s.session("s"), want)
	},
	"TakenSessionIDExistsAndChangesNothing": func(s *suite) {
		s.begin("s", "r", 1)
		s.unchanged(func() {
			for _, owner := range []journal.Owner{ada, bob} {
				s.fails(s.store.Begin(s.ctx, beginningOf(sessionOf(owner, "s"))), journal.ErrExists)
			}
		})
	},
	"UnknownSessionIsNotFound": func(s *suite) {
		ask(s.store.Session(s.ctx, ada, "s")).fails(s, journal.ErrNotFound)
		s.fails(s.store.RenameSession(s.ctx, ada, "s", "x"), journal.ErrNotFound)
		s.fails(s.store.DeleteSession(s.ctx, ada, "s", journal.ByPerson, noon), journal.ErrNotFound)
	},
	"RenameSetsOnlyTheTitle": func(s *suite) {
		s.begin("s", "r", 1)
		want := s.session("s")
		s.ok(s.store.RenameSession(s.ctx, ada, "s", "renamed"))
		want.Title = "renamed"
		s.same("session", s.session("s"), want)
	},
	"SessionCountsItsRuns": func(s *suite) {
		s.begin("s", "r1", 1)
		s.begin("other", "r2", 1)
		s.start(runOf(ada, "s", "r3"), records(0, 1))
		s.same("runs", s.session("s").Runs, 2)
		list := ask(s.store.Sessions(s.ctx, ada, journal.SessionFilter{})).ok(s)
		for _, session := range list {
			s.same("runs of "+session.ID, session.Runs, map[string]int{"s": 2, "other": 1}[session.ID])
		}
	},
	"SessionsOfAPlaceAreListedAlone": func(s *suite) {
		s.begin("s", "r1", 1)
		s.begin("other", "r2", 1)
		list := ask(s.store.Sessions(s.ctx, ada, journal.SessionFilter{Place: "/src/s"})).ok(s)
		s.same("sessions", list, []journal.Session{s.session("s")})
		s.same("of no such place", ask(s.store.Sessions(s.ctx, ada, journal.SessionFilter{Place: "/src"})).ok(s), []journal.Session{})
	},
	"SessionsAreFoundByWordsOfTheirTitle": func(s *suite) {
		s.begin("s", "r1", 1)
		s.begin("other", "r2", 1)
		s.ok(s.store.RenameSession(s.ctx, ada, "s", "Über 100% of the Boiler_s"))
		for text, want := range map[string][]journal.Session{"boiler": {s.session("s")}, "100%": {s.session("s")}, "R_S": {s.session("s")}, "r%s": {}, "Über": {s.session("s")}, "nothing": {}} {
			s.same("with "+text, ask(s.store.Sessions(s.ctx, ada, journal.SessionFilter{Title: text})).ok(s), want)
		}
		s.same("of another owner", ask(s.store.Sessions(s.ctx, bob, journal.SessionFilter{Title: "boiler"})).ok(s), []journal.Session{})
	},
	"BeginAndEndMoveUpdatedAtAndAppendDoesNot": func(s *suite) {
		r := runOf(ada, "s", "r")
		r.StartedAt = after(time.Minute)
		s.start(r, records(0, 1))
		s.same("after Begin", s.session("s").UpdatedAt, after(time.Minute))
		s.append("r", 1, 1)
		s.same("after Append", s.session("s").UpdatedAt, after(time.Minute))
		s.end("r", 2, journal.Done, after(time.Hour))
		s.same("after the end", s.session("s").UpdatedAt, after(time.Hour))
		s.same("CreatedAt", s.session("s").CreatedAt, noon)
	},
	"UpdatedAtNeverMovesBack": func(s *suite) {
		r := runOf(ada, "s", "r")
		r.StartedAt = after(-time.Hour)
		s.start(r, records(0, 1))
		s.same("after Begin", s.session("s").UpdatedAt, noon)
		s.end("r", 1, journal.Done, after(-time.Minute))
		s.same("after the end", s.session("s").UpdatedAt, noon)
	},
}
