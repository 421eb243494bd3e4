package journaltest

import (
	"testing"
	"time"

	"sibyl/internal/journal"
)

var persistentTests = map[string]func(t *testing.T, open func() journal.Store){
	"WhatWasAcknowledgedIsThereAfterReopening": func(t *testing.T, open func() journal.Store) {
		s := newSuite(t, open())
		s.begin("s", "running", 3)
		s.ok(s.store.Acquire(s.ctx, ada, "running", "here", noon, after(time.Minute)))
		s.start(runOf(ada, "s", "ended"), records(0, 1), "blob")
		s.end("ended", 1, journal.NeedsUser, after(time.Second))
		s.create(sessionOf(bob, "bobs"))
		s.ok(s.store.RenameSession(s.ctx, bob, "bobs", "renamed"))
		b := beginningOf(sessionOf(ada, "claimed"))
		b.Claims = []string{"key"}
		s.ok(s.store.Begin(s.ctx, b))
		s.leave("s", "asking", noon, journal.Pending{ID: "p", Kind: "choice"})
		want := s.state()
		s.ok(s.store.Close())

		s = newSuite(t, open())
		s.same("state", s.state(), want)
		s.same("blob", string(ask(s.store.Blob(s.ctx, ada, journal.BlobHash([]byte("blob")))).ok(s)), "blob")
		s.append("running", 3, 1)
		s.fails(s.store.Append(s.ctx, ada, "ended", records(2, 1), nil), journal.ErrEnded)
	},
	"HandleSeesWhatAnotherWroteAtOnce": func(t *testing.T, open func() journal.Store) {
		one, two := newSuite(t, open()), newSuite(t, open())
		one.begin("s", "r", 1)
		two.same("records", two.records("r"), records(0, 1))
		two.append("r", 1, 2)
		one.same("records", one.records("r"), records(0, 3))
		one.fails(one.store.Append(one.ctx, ada, "r", records(1, 1), nil), journal.ErrConflict)
	},
	"OfWritersOnTwoHandlesOneGetsEachNumber": func(t *testing.T, open func() journal.Store) {
		one, two := newSuite(t, open()), newSuite(t, open())
		one.begin("s", "r", 1)
		race(one, []journal.Store{one.store, two.store}, 8, 10)
	},
}
