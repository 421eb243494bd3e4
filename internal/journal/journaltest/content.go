package journaltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"sibyl/internal/journal"
)

var contentTests = map[string]func(*suite){
	"DataComesBackByteForByte": func(s *suite) {
		s.begin("s", "r", 0)
		contents := [][]byte{
			nil, {}, []byte(` { "a" : 1.0 } `), []byte("not json"), {0}, {0xff, 0xfe, 0}, []byte("NULL"),
			bytes.Repeat([]byte("0123456789abcdef"), 1<<16),
		}
		for i, content := range contents {
			rec := journal.Record{Seq: int64(i), At: noon, Kind: "k", Data: content}
			s.ok(s.store.Append(s.ctx, ada, "r", []journal.Record{rec}, nil))
		}
		for i, rec := range s.records("r") {
			if !bytes.Equal(rec.Data, contents[i]) {
				s.Errorf("content %d came back as %.40q, want %.40q", i, rec.Data, contents[i])
			}
		}
	},
	"DataWithoutAByteCanBeMarshalled": func(s *suite) {
		s.begin("s", "r", 0)
		rec := journal.Record{At: noon, Kind: "k", Data: json.RawMessage{}}
		s.ok(s.store.Append(s.ctx, ada, "r", []journal.Record{rec}, nil))
		_, err := json.Marshal(s.records("r"))
		s.ok(err)
	},
	"TextThatNoDatabaseKeepsIsRefused": func(s *suite) {
		s.begin("s", "r", 1)
		for _, text := range []string{"a\x00b", "cut \xe2\x82", "\xff"} {
			session := func(change func(*journal.Session)) journal.Beginning {
				b := beginningOf(sessionOf(ada, "other"))
				change(b.Session)
				b.Run.Session, b.Run.Owner = b.Session.ID, b.Session.Owner
				return b
			}
			run := func(change func(*journal.Beginning)) journal.Beginning {
				b := journal.Beginning{Run: runOf(ada, "s", "other"), Records: records(0, 1)}
				change(&b)
				return b
			}
			for where, b := range map[string]journal.Beginning{
				"session":           session(func(x *journal.Session) { x.ID = text }),
				"owner":             session(func(x *journal.Session) { x.Owner = journal.Owner(text) }),
				"session assistant": session(func(x *journal.Session) { x.Assistant = text }),
				"session title":     session(func(x *journal.Session) { x.Title = text }),
				"run":               run(func(x *journal.Beginning) { x.Run.ID = text }),
				"assistant":         run(func(x *journal.Beginning) { x.Run.Assistant = text }),
				"title":             run(func(x *journal.Beginning) { x.Run.Title = text }),
				"holder":            run(func(x *journal.Beginning) { x.Run.LeaseHolder = text }),
				"kind":              run(func(x *journal.Beginning) { x.Records[0].Kind = text }),
				"claim":             run(func(x *journal.Beginning) { x.Claims = []string{text} }),
				"consumed":          run(func(x *journal.Beginning) { x.Consume = []string{text} }),
			} {
				if err := s.store.Begin(s.ctx, b); !errors.Is(err, journal.ErrInvalid) {
					s.Errorf("Begin with %q as %s: error %v, want ErrInvalid", text, where, err)
				}
			}
			kind := records(1, 1)
			kind[0].Kind = text
			for where, end := range map[string]journal.End{
				"reason":       {Status: journal.Done, At: noon, Reason: text},
				"pending":      {Status: journal.Done, At: noon, Pending: []journal.Pending{{ID: text, Kind: "k"}}},
				"pending kind": {Status: journal.Done, At: noon, Pending: []journal.Pending{{ID: "p", Kind: text}}},
			} {
				if err := s.store.Append(s.ctx, ada, "r", records(1, 1), &end); !errors.Is(err, journal.ErrInvalid) {
					s.Errorf("Append with %q as %s: error %v, want ErrInvalid", text, where, err)
				}
			}
			s.fails(s.store.Append(s.ctx, ada, "r", kind, nil), journal.ErrInvalid)
			s.fails(s.store.RenameSession(s.ctx, ada, "s", text), journal.ErrInvalid)
			s.fails(s.store.Acquire(s.ctx, ada, "r", text, noon, after(time.Hour)), journal.ErrInvalid)
			_, err := s.store.Session(s.ctx, ada, text)
			s.fails(err, journal.ErrNotFound)
			_, err = s.store.Run(s.ctx, journal.Owner(text), "r")
			s.fails(err, journal.ErrNotFound)
			s.fails(s.store.DeleteSession(s.ctx, ada, text, journal.ByPerson, noon), journal.ErrNotFound)
			s.fails(s.store.Append(s.ctx, ada, text, records(1, 1), nil), journal.ErrNotFound)
			s.same("runs of nobody", len(ask(s.store.Runs(s.ctx, journal.Owner(text), journal.Filter{})).ok(s)), 0)
		}
		s.same("records", len(s.records("r")), 1)
	},
	"TextComesBackByteForByte": func(s *suite) {
		for i, text := range []string{"'; DROP TABLE run; --", "%_?1", "Ünï🦉\n", " "} {
			session := sessionOf(journal.Owner("o"+text), "s"+text)
			session.Title, session.Assistant = text, text
			run := runOf(session.Owner, session.ID, "r"+text)
			run.Title, run.Assistant, run.LeaseHolder, run.LeaseUntil = text, text, text, after(time.Minute)
			rec := journal.Record{At: noon, Kind: text, Data: json.RawMessage(`1`)}
			s.ok(s.store.Begin(s.ctx, journal.Beginning{Run: run, Session: &session, Records: []journal.Record{rec}, Claims: []string{text}}))
			s.same("claimed", ask(s.store.Claimed(s.ctx, run.Owner, text)).ok(s), run.ID)

			session.Runs, run.Records = 1, 1
			s.same("session", ask(s.store.Session(s.ctx, session.Owner, session.ID)).ok(s), session)
			gotRuns := ask(s.store.Runs(s.ctx, session.Owner, journal.Filter{Session: session.ID})).ok(s)
			s.same("runs", gotRuns, []journal.Run{run})
			s.same("records", ask(s.store.Records(s.ctx, run.Owner, run.ID, 0)).ok(s), []journal.Record{rec})
			if s.Failed() {
				s.Fatalf("with text %d: %q", i, text)
			}
		}
	},
	"TimesAreKeptToTheMillisecondInUTC": func(s *suite) {
		zone := time.FixedZone("there", 2*60*60)
		for id, given := range map[string]time.Time{
			"fine":   time.Date(2026, 3, 1, 14, 0, 0, 123_999_999, zone),
			"coarse": time.Date(2026, 3, 1, 14, 0, 0, 0, zone),
			"epoch":  time.UnixMilli(0),
			"early":  time.Date(1890, 1, 1, 0, 0, 0, 1_500_000, zone),
			"zero":   {},
		} {
			want := given.UTC().Truncate(time.Millisecond)
			session := sessionOf(ada, id)
			session.CreatedAt, session.UpdatedAt = given, given
			run := runOf(ada, id, id)
			run.StartedAt, run.LeaseHolder, run.LeaseUntil = given, "here", given
			s.ok(s.store.Begin(s.ctx, journal.Beginning{Run: run, Session: &session, Records: []journal.Record{{At: given}}}))
			begun := s.run(id)
			end := &journal.End{Status: journal.Done, At: given, Pending: []journal.Pending{{ID: "p", ExpiresAt: after(time.Nanosecond)}}}
			s.ok(s.store.Append(s.ctx, ada, id, []journal.Record{{Seq: 1, At: given}}, end))

			pending := ask(s.store.Pending(s.ctx, ada, id, after(-time.Hour))).ok(s)
			s.same("pending row's ExpiresAt", pending[0].ExpiresAt, noon)
			for what, got := range map[string]time.Time{
				"CreatedAt": s.session(id).CreatedAt, "UpdatedAt": s.session(id).UpdatedAt,
				"StartedAt": begun.StartedAt, "LeaseUntil": begun.LeaseUntil, "EndedAt": s.run(id).EndedAt,
				"CreatedAt of a pending row": pending[0].CreatedAt, "At": s.records(id)[0].At, "At of the last": s.records(id)[1].At,
			} {
				if got != want {
					s.Errorf("%s of %s is %v, want exactly %v", what, id, got, want)
				}
			}
		}
	},
	"WhatTheCallerDoesToItsSlicesChangesNothing": func(s *suite) {
		blob, first, second := []byte("blob"), records(0, 2), records(2, 2)
		blobs := [][]byte{blob}
		hash := journal.BlobHash(blob)
		session := sessionOf(ada, "s")
		s.ok(s.store.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "s", "r"), Session: &session, Blobs: blobs, Records: first}))
		s.ok(s.store.Append(s.ctx, ada, "r", second, nil))
		spoil(first)
		spoil(second)
		copy(blob, "spoilt")
		s.same("records", s.records("r"), records(0, 4))
		s.same("blob", string(ask(s.store.Blob(s.ctx, ada, hash)).ok(s)), "blob")
	},
	"WhatTheCallerDoesToAnAnswerChangesNothing": func(s *suite) {
		s.start(runOf(ada, "s", "r"), records(0, 4), "blob")
		hash := journal.BlobHash([]byte("blob"))
		spoil(s.records("r"))
		got := ask(s.store.Blob(s.ctx, ada, hash)).ok(s)
		copy(got, "spoilt")
		s.same("records", s.records("r"), records(0, 4))
		s.same("blob", string(ask(s.store.Blob(s.ctx, ada, hash)).ok(s)), "blob")
	},
	"BlobIsFoundByItsHash": func(s *suite) {
		contents := []string{"tree", "", "\x00\xff", strings.Repeat("prompt ", 1<<15)}
		s.start(runOf(ada, "s", "r1"), nil, append(contents, contents...)...)
		s.start(runOf(ada, "s", "r2"), nil, contents...)
		for _, content := range contents {
			got := ask(s.store.Blob(s.ctx, ada, journal.BlobHash([]byte(content)))).ok(s)
			if string(got) != content {
				s.Errorf("blob is %.40q, want %.40q", got, content)
			}
		}
		for _, hash := range []string{journal.BlobHash([]byte("never given")), "", "sha256:"} {
			ask(s.store.Blob(s.ctx, ada, hash)).fails(s, journal.ErrNotFound)
		}
	},
	"BlobThatOnlyAnotherNamesIsNotFound": func(s *suite) {
		s.start(runOf(ada, "s", "r"), nil, "ada's", "both's")
		s.start(runOf(bob, "bobs", "r2"), nil, "both's")
		hash := journal.BlobHash([]byte("ada's"))
		ask(s.store.Blob(s.ctx, bob, hash)).fails(s, journal.ErrNotFound)
		s.ok(s.store.DeleteSession(s.ctx, ada, "s", journal.ByPerson, noon))
		hash = journal.BlobHash([]byte("both's"))
		ask(s.store.Blob(s.ctx, ada, hash)).fails(s, journal.ErrNotFound)
		s.same("bob's blob", string(ask(s.store.Blob(s.ctx, bob, hash)).ok(s)), "both's")
	},
}

// spoil overwrites all that a slice of records reaches.
func spoil(recs []journal.Record) {
	for i := range recs {
		for j := range recs[i].Data {
			recs[i].Data[j] = '!'
		}
		recs[i] = journal.Record{Seq: 99, Kind: "spoilt"}
	}
}
