package journaltest

import (
	"fmt"
	"time"

	"sibyl/internal/journal"
)

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
