package journaltest

import (
	"time"

	"sibyl/internal/journal"
)

var sessionTests = map[string]func(*suite){
	"SessionComesBackAsCreated": func(s *suite) {
		want := sessionOf(ada, "s")
		want.Runs = 7 // the store's to say
		s.ok(s.store.CreateSession(s.ctx, want))
		want.Runs = 0
		s.same("session", s.session("s"), want)
	},
	"TakenSessionIDExistsAndChangesNothing": func(s *suite) {
		s.begin("s", "r", 1)
		s.unchanged(func() {
			again := sessionOf(ada, "s")
			again.Title = "other"
			s.fails(s.store.CreateSession(s.ctx, again), journal.ErrExists)
		})
	},
	"SessionWithoutIDOrOwnerIsInvalid": func(s *suite) {
		s.unchanged(func() {
			s.fails(s.store.CreateSession(s.ctx, sessionOf(ada, "")), journal.ErrInvalid)
			s.fails(s.store.CreateSession(s.ctx, sessionOf("", "s")), journal.ErrInvalid)
		})
	},
	"UnknownSessionIsNotFound": func(s *suite) {
		_, err := s.store.Session(s.ctx, ada, "s")
		s.fails(err, journal.ErrNotFound)
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
		s.ok(s.store.Begin(s.ctx, runOf(ada, "s", "r3"), nil, records(0, 1)))
		s.same("runs", s.session("s").Runs, 2)
		list, err := s.store.Sessions(s.ctx, ada, 0)
		s.ok(err)
		for _, session := range list {
			s.same("runs of "+session.ID, session.Runs, map[string]int{"s": 2, "other": 1}[session.ID])
		}
	},
	"BeginAndEndMoveUpdatedAtAndAppendDoesNot": func(s *suite) {
		s.ok(s.store.CreateSession(s.ctx, sessionOf(ada, "s")))
		r := runOf(ada, "s", "r")
		r.StartedAt = after(time.Minute)
		s.ok(s.store.Begin(s.ctx, r, nil, records(0, 1)))
		s.same("after Begin", s.session("s").UpdatedAt, after(time.Minute))
		s.append("r", 1, 1)
		s.same("after Append", s.session("s").UpdatedAt, after(time.Minute))
		s.end("r", 2, journal.Done, after(time.Hour))
		s.same("after the end", s.session("s").UpdatedAt, after(time.Hour))
		s.same("CreatedAt", s.session("s").CreatedAt, noon)
	},
	"UpdatedAtNeverMovesBack": func(s *suite) {
		s.ok(s.store.CreateSession(s.ctx, sessionOf(ada, "s")))
		r := runOf(ada, "s", "r")
		r.StartedAt = after(-time.Hour)
		s.ok(s.store.Begin(s.ctx, r, nil, records(0, 1)))
		s.same("after Begin", s.session("s").UpdatedAt, noon)
		s.end("r", 1, journal.Done, after(-time.Minute))
		s.same("after the end", s.session("s").UpdatedAt, noon)
	},
}
