package store

import (
	"fmt"
	"testing"
	"time"

	"sibyl/internal/journal"
)

// meeting is one round of a writer among others that work on the same sessions.
type meeting struct {
	t             *testing.T
	db            *Server
	now           time.Time
	writer, round int
	blobs         [][]byte
}

// whole begins a run in a session of two that it makes if it has to, goes on with it, ends it, and removes sessions now
// and then.
func (m meeting) whole() error {
	ctx := m.t.Context()
	name := fmt.Sprintf("session %d of %d", m.writer%2, m.round/5)
	run := journal.Run{ID: fmt.Sprintf("run %d of %d", m.round, m.writer), Session: name, Owner: "ada",
		StartedAt: m.now, LeaseHolder: "here",
		LeaseUntil: m.now.Add(time.Minute)}
	b := journal.Beginning{Run: run, Records: []journal.Record{{At: m.now}},
		Claims: []string{fmt.Sprint("key ", m.writer), "key of all"},
		Blobs:  [][]byte{m.blobs[m.round%4], m.blobs[(m.round+m.writer)%4], m.blobs[m.writer%4]}}
	if m.round%3 > 0 {
		b.Claims = b.Claims[:1]
	}
	if err := m.db.Begin(ctx, b); err != nil {
		b.Session = &journal.Session{ID: name, Owner: "ada", UpdatedAt: m.now}
		if err := m.db.Begin(ctx, b); err != nil {
			return err
		}
	}
	keys := []journal.Key{{Owner: "ada", Run: run.ID},
		{Owner: "ada", Run: fmt.Sprintf("run %d of %d", m.round, (m.writer+1)%12)}}
	steps := []func() error{
		func() error { return m.db.Append(ctx, "ada", run.ID, []journal.Record{{Seq: 1, At: m.now}}, nil) },
		func() error { return m.db.Renew(ctx, "here", keys, m.now.Add(2*time.Minute)) },
		func() error { return m.db.RenameSession(ctx, "ada", name, run.ID) },
		func() error {
			return m.db.Append(ctx, "ada", run.ID, []journal.Record{{Seq: 2, At: m.now}},
				&journal.End{Status: journal.NeedsUser, At: m.now,
					Pending: []journal.Pending{{ID: run.ID}}})
		},
		func() error {
			if m.round%5 != 4 {
				return nil
			}
			return m.db.DeleteSession(ctx, "ada", name, journal.ByPerson, m.now.Add(time.Hour))
		},
		func() error {
			if m.round%5 != 3 {
				return nil
			}
			_, err := m.db.Retire(ctx, "ada", journal.IdleFilter{Before: m.now.Add(time.Second), Now: m.now.Add(time.Hour),
				Limit: 3})
			return err
		},
	}
	for _, step := range steps {
		if err := step(); err != nil && !expected(err) {
			return err
		}
	}
	return nil
}
