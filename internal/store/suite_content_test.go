package store

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

var contentTests = map[string]func(*suite){
	"DataComesBackByteForByte": func(s *suite) {
		s.begin("s", "r", 0)
		contents := [][]byte{
			nil, {}, []byte(` { "a" : 1.0 } `), []byte("not json"), {0}, {0xff, 0xfe, 0}, []byte("NULL"),
			bytes.Repeat([]byte("0123456789abcdef"), 1<<16),
		}
		var recs []journal.Record
		for i, content := range contents {
			recs = append(recs, journal.Record{Seq: int64(i), At: noon, Kind: "k", Data: content})
		}
		assert.NoError(s, s.db.Append(s.ctx, ada, "r", recs, nil))
		got := s.records("r")
		s.same("number of records", len(got), len(recs))
		for i, rec := range got {
			s.same("record", rec, recs[i])
		}
		assert.Must(json.Marshal(got[:2]))(s) // data without a byte
	},
	"TextThatNoDatabaseKeepsIsRefused": func(s *suite) {
		s.begin("s", "r", 1)
		for _, text := range []string{"a\x00b", "cut \xe2\x82", "\xff"} {
			s.unchanged(func() { s.refusesText(text) })
		}
	},
	"TextComesBackByteForByte": func(s *suite) {
		for _, text := range []string{"'; DROP TABLE run; --", "%_?1", "Ünï🦉\n", " "} {
			session := sessionOf(journal.Owner("o"+text), "s"+text)
			session.Title, session.Assistant = text, text
			run := leased(runOf(session.Owner, session.ID, "r"+text), text, time.Minute)
			run.Title, run.Assistant = text, text
			recs := []journal.Record{{At: noon, Kind: text, Data: json.RawMessage(`1`)}}
			assert.NoError(s, s.db.Begin(s.ctx, journal.Beginning{Run: run, Session: &session, Records: recs,
				Claims: []string{text}}))
			s.same("claimed", assert.Must(s.db.Claimed(s.ctx, run.Owner, text))(s), run.ID)

			session.Runs, run.Records = 1, 1
			s.same("session", assert.Must(s.db.Session(s.ctx, session.Owner, session.ID))(s), session)
			s.same("runs", assert.Must(s.db.Runs(s.ctx, session.Owner, journal.Filter{Session: session.ID}))(s),
				[]journal.Run{run})
			s.same("records", assert.Must(s.db.Records(s.ctx, run.Owner, run.ID, 0))(s), recs)
		}
	},
	"TimesAreKeptToTheMillisecondInUTC": func(s *suite) {
		zone := time.FixedZone("there", 2*60*60)
		for id, given := range map[string]time.Time{
			"fine": time.Date(2026, 3, 1, 14, 0, 0, 123_999_999, zone), "coarse": time.Date(2026, 3, 1, 14, 0, 0,
				0, zone),
			"epoch": time.UnixMilli(0), "early": time.Date(1890, 1, 1, 0, 0, 0, 1_500_000, zone), "zero": {},
		} {
			session, run := sessionOf(ada, id), runOf(ada, id, id)
			session.CreatedAt, session.UpdatedAt = given, given
			run.StartedAt, run.LeaseHolder, run.LeaseUntil = given, "here", given
			assert.NoError(s, s.db.Begin(s.ctx, journal.Beginning{Run: run, Session: &session,
				Records: []journal.Record{{At: given}}}))
			begun := s.run(id)
			end := &journal.End{Status: journal.Done, At: given,
				Pending: []journal.Pending{{ID: "p", ExpiresAt: after(time.Nanosecond)}}}
			assert.NoError(s, s.db.Append(s.ctx, ada, id, []journal.Record{{Seq: 1, At: given}}, end))
			pending := assert.Must(s.db.Pending(s.ctx, ada, id, after(-time.Hour)))(s)
			s.same("pending row's ExpiresAt", pending[0].ExpiresAt, noon)
			want := given.UTC().Truncate(time.Millisecond)
			for what, got := range map[string]time.Time{
				"CreatedAt": s.session(id).CreatedAt, "UpdatedAt": s.session(id).UpdatedAt,
				"StartedAt": begun.StartedAt, "LeaseUntil": begun.LeaseUntil, "EndedAt": s.run(id).EndedAt,
				"CreatedAt of a pending row": pending[0].CreatedAt, "At": s.records(id)[0].At,
				"At of the last": s.records(id)[1].At,
			} {
				assert.Equalf(s, got, want, "%s of %s", what, id)
			}
		}
	},
	"BlobIsFoundByItsHashByWhoNamesIt": func(s *suite) {
		contents := []string{"tree", "", "\x00\xff", strings.Repeat("prompt ", 1<<15)}
		s.start(runOf(ada, "s", "r1"), nil, append(contents, contents...)...)
		s.start(runOf(ada, "s", "r2"), nil, contents...)
		s.start(runOf(bob, "bobs", "r3"), nil, "tree")
		for _, content := range contents {
			s.same("blob", assert.Must(s.blob(ada, content))(s), content)
		}
		for _, hash := range []string{journal.BlobHash([]byte("never given")), "", "sha256:"} {
			s.fails(journal.ErrNotFound, errOf(s.db.Blob(s.ctx, ada, hash)))
		}
		s.fails(journal.ErrNotFound, errOf(s.blob(bob, "")))
		assert.NoError(s, s.db.DeleteSession(s.ctx, ada, "s", journal.ByPerson, noon))
		s.fails(journal.ErrNotFound, errOf(s.blob(ada, "tree")))
		s.same("bob's blob", assert.Must(s.blob(bob, "tree"))(s), "tree")
	},
}

// refusesText wants a text to be taken nowhere, and to find nothing.
func (s *suite) refusesText(text string) {
	s.Helper()
	for where, spoil := range map[string]func(*journal.Beginning){
		"session": func(b *journal.Beginning) { b.Session.ID, b.Run.Session = text, text },
		"owner": func(b *journal.Beginning) {
			b.Session.Owner, b.Run.Owner = journal.Owner(text), journal.Owner(text)
		},
		"session assistant": func(b *journal.Beginning) { b.Session.Assistant = text },
		"session title":     func(b *journal.Beginning) { b.Session.Title = text },
		"place":             func(b *journal.Beginning) { b.Session.Place = text },
		"run":               func(b *journal.Beginning) { b.Run.ID = text },
		"assistant":         func(b *journal.Beginning) { b.Run.Assistant = text },
		"title":             func(b *journal.Beginning) { b.Run.Title = text },
		"holder":            func(b *journal.Beginning) { b.Run.LeaseHolder = text },
		"kind":              func(b *journal.Beginning) { b.Records[0].Kind = text },
		"claim":             func(b *journal.Beginning) { b.Claims = []string{text} },
		"consumed":          func(b *journal.Beginning) { b.Consume = []string{text} },
	} {
		s.Log(where)
		b := firstOf(sessionOf(ada, "other"))
		b.Records = recordsFrom(0, 1)
		spoil(&b)
		s.fails(journal.ErrInvalid, s.db.Begin(s.ctx, b))
	}
	kind := recordsFrom(1, 1)
	kind[0].Kind = text
	for _, end := range []*journal.End{
		{Status: journal.Done, Reason: text},
		{Status: journal.Done, Pending: []journal.Pending{{ID: text, Kind: "k"}}},
		{Status: journal.Done, Pending: []journal.Pending{{ID: "p", Kind: text}}},
	} {
		s.fails(journal.ErrInvalid, s.db.Append(s.ctx, ada, "r", recordsFrom(1, 1), end))
	}
	s.fails(journal.ErrInvalid, s.db.Append(s.ctx, ada, "r", kind, nil), s.db.RenameSession(s.ctx, ada, "s", text),
		s.db.Acquire(s.ctx, ada, "r", text, noon, after(time.Hour)))
	s.fails(journal.ErrNotFound, errOf(s.db.Session(s.ctx, ada, text)),
		errOf(s.db.Run(s.ctx, journal.Owner(text), "r")),
		s.db.DeleteSession(s.ctx, ada, text, journal.ByPerson, noon), s.appendTo(text, 1, 1))
	s.same("runs of nobody", len(assert.Must(s.db.Runs(s.ctx, journal.Owner(text), journal.Filter{}))(s)), 0)
}
