package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

// The owners that the tests use where any would do.
const (
	ada = journal.Owner("ada")
	bob = journal.Owner("bob")
	cy  = journal.Owner("cy")
)

func sessionOf(owner journal.Owner, id string) journal.Session {
	return journal.Session{
		ID: id, Owner: owner, Assistant: "oracle", Title: "title of " + id, Place: "/src/" + id, CreatedAt: noon,
		UpdatedAt: noon,
	}
}

func runOf(owner journal.Owner, session, id string) journal.Run {
	return journal.Run{
		ID: id, Session: session, Owner: owner, Assistant: "oracle", Title: "title of " + id, Status: journal.Running,
		StartedAt: noon,
	}
}

// leased is a run with a lease, or without one where nobody holds it.
func leased(r journal.Run, holder string, until time.Duration) journal.Run {
	if r.LeaseHolder = holder; holder != "" {
		r.LeaseUntil = after(until)
	}
	return r
}

// recordsFrom returns n records from sequence number from on, all different.
func recordsFrom(from int64, n int) []journal.Record {
	recs := make([]journal.Record, n)
	for i := range recs {
		seq := from + int64(i)
		recs[i] = journal.Record{Seq: seq, At: after(time.Duration(seq) * time.Second), Kind: "test",
			Data: fmt.Appendf(nil, `{"n":%d}`, seq)}
	}
	return recs
}

// begin begins a run of ada's with n records.
func (s *suite) begin(session, run string, n int) {
	s.Helper()
	s.start(runOf(ada, session, run), recordsFrom(0, n))
}

// start begins a run, with sessionOf its session if that is not there.
func (s *suite) start(r journal.Run, recs []journal.Record, blobs ...string) {
	s.Helper()
	b := journal.Beginning{Run: r, Records: recs}
	for _, content := range blobs {
		b.Blobs = append(b.Blobs, []byte(content))
	}
	if _, err := s.db.Session(s.ctx, r.Owner, r.Session); errors.Is(err, journal.ErrNotFound) {
		session := sessionOf(r.Owner, r.Session)
		b.Session = &session
	}
	assert.NoError(s, s.db.Begin(s.ctx, b))
}

// create makes a session with one run, which began when the session was updated.
func (s *suite) create(session journal.Session) {
	s.Helper()
	assert.NoError(s, s.db.Begin(s.ctx, firstOf(session)))
}

// firstOf is the beginning of a session with its first run.
func firstOf(session journal.Session) journal.Beginning {
	r := runOf(session.Owner, session.ID, "run of "+session.ID)
	r.StartedAt = session.UpdatedAt
	return journal.Beginning{Run: r, Session: &session}
}

func (s *suite) appendTo(run string, from int64, n int) error {
	return s.db.Append(s.ctx, ada, run, recordsFrom(from, n), nil)
}

func (s *suite) end(run string, from int64, status journal.Status, at time.Time) {
	s.Helper()
	assert.NoError(s, s.db.Append(s.ctx, ada, run, recordsFrom(from, 1), &journal.End{Status: status, At: at}))
}

func (s *suite) session(id string) journal.Session {
	s.Helper()
	return assert.Must(s.db.Session(s.ctx, ada, id))(s)
}

func (s *suite) run(id string) journal.Run {
	s.Helper()
	return assert.Must(s.db.Run(s.ctx, ada, id))(s)
}

func (s *suite) records(run string) []journal.Record {
	s.Helper()
	return assert.Must(s.db.Records(s.ctx, ada, run, 0))(s)
}

// blob is a content of an owner's, found by its hash.
func (s *suite) blob(owner journal.Owner, content string) (string, error) {
	got, err := s.db.Blob(s.ctx, owner, journal.BlobHash([]byte(content)))
	return string(got), err
}

var sessionTests = map[string]func(*suite){
	"SessionComesBackAsCreatedAndRenamed": func(s *suite) {
		want := sessionOf(ada, "s")
		want.Runs = 7 // the store's to say
		s.create(want)
		want.Runs = 1
		s.same("session", s.session("s"), want)
		assert.NoError(s, s.db.RenameSession(s.ctx, ada, "s", "renamed"))
		want.Title = "renamed"
		s.same("renamed", s.session("s"), want)
		s.start(runOf(ada, "s", "second"), nil)
		s.create(sessionOf(ada, "other"))
		for _, session := range assert.Must(s.db.Sessions(s.ctx, ada, journal.SessionFilter{}))(s) {
			s.same("runs of "+session.ID, session.Runs, map[string]int{"s": 2, "other": 1}[session.ID])
		}
	},
	"TakenIDExistsAndChangesNothing": func(s *suite) {
		s.begin("s", "r", 1)
		s.begin("s2", "r2", 0)
		again, newSession := runOf(ada, "s2", "r"), sessionOf(ada, "new")
		again.StartedAt = after(time.Hour)
		s.unchanged(func() {
			s.fails(journal.ErrExists,
				s.db.Begin(s.ctx, firstOf(sessionOf(ada, "s"))),
				s.db.Begin(s.ctx, firstOf(sessionOf(bob, "s"))),
				s.db.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "new", "r"), Session: &newSession}),
				s.db.Begin(s.ctx, journal.Beginning{Run: again, Blobs: [][]byte{[]byte("lost")},
					Records: recordsFrom(0, 3)}))
			s.fails(journal.ErrConsumed,
				s.db.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "new", "r3"), Session: &newSession,
					Consume: []string{"p"}}))
		})
	},
	"RunReplacesAnEndedOneOfItsSessionOrFollowsOne": func(s *suite) {
		begin := func(owner journal.Owner, session, id, replaces, follows string) error {
			r := runOf(owner, session, id)
			r.Replaces, r.Follows = replaces, follows
			return s.db.Begin(s.ctx, journal.Beginning{Run: r, Records: recordsFrom(0, 1)})
		}
		s.begin("s", "first", 1)
		s.begin("s2", "other", 1)
		s.unchanged(func() { s.fails(journal.ErrNoPlace, begin(ada, "s", "r", "first", "")) }) // it goes on
		s.end("first", 1, journal.Done, noon)
		s.unchanged(func() {
			for _, of := range []string{"other", "unknown", "r"} {
				s.fails(journal.ErrNoPlace, begin(ada, "s", "r", of, ""), begin(ada, "s", "r", "", of))
			}
			s.fails(journal.ErrNotFound, begin(bob, "s", "r", "first", ""), begin(bob, "s", "r", "", "first"))
			s.fails(journal.ErrInvalid, begin(ada, "s", "r", "first", "first"))
		})
		assert.NoError(s, begin(ada, "s", "second", "", ""))
		s.end("second", 1, journal.Failed, noon)
		assert.NoError(s, begin(ada, "s", "third", "", "second"))
		assert.NoError(s, begin(ada, "s", "second again", "second", ""))
		assert.NoError(s, begin(ada, "s", "after that", "", ""))
		assert.NoError(s, begin(ada, "s", "fourth", "", "third"))
		assert.NoError(s, begin(ada, "s", "first again", "first", ""))
		t := assert.Must(journal.ReadTree(s.ctx, s.db, ada, "s"))(s)
		for of, want := range map[string]string{"": "first again", "after that": "first, second again, after that",
			"first": "first, second, third, fourth", "second again": "first, second again, after that"} {
			var ids []string
			for _, r := range assert.Must(t.Branch(of))(s) {
				ids = append(ids, r.ID)
			}
			s.same("the branch of "+of, strings.Join(ids, ", "), want)
		}
	},
	"OfRunsThatBeginAtOnceEachFollowsAnother": func(s *suite) {
		s.begin("s", "first", 1)
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				assert.NoError(s, s.db.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "s", fmt.Sprint(n))}))
			})
		}
		all.Wait()
		t := assert.Must(journal.ReadTree(s.ctx, s.db, ada, "s"))(s)
		s.same("runs of the branch", len(assert.Must(t.Branch(""))(s)), 5)
	},
	"WhatARunLeftToThePersonIsVoidOnceTheyDeclineIt": func(s *suite) {
		for _, run := range []string{"r", "other"} {
			s.begin("s of "+run, run, 1)
			assert.NoError(s, s.db.Append(s.ctx, ada, run, recordsFrom(1, 1), &journal.End{Status: journal.NeedsUser, At: noon,
				Pending: []journal.Pending{{ID: "p", Kind: "k"}}}))
		}
		s.unchanged(func() {
			s.fails(journal.ErrNotFound, s.db.Void(s.ctx, bob, "r"), s.db.Void(s.ctx, ada, "unknown"))
		})
		assert.NoError(s, s.db.Void(s.ctx, ada, "r"))
		assert.NoError(s, s.db.Void(s.ctx, ada, "r"))
		s.same("rows that are left", len(assert.Must(s.db.Pending(s.ctx, ada, "s of r", noon))(s)), 0)
		s.same("rows of another run", len(assert.Must(s.db.Pending(s.ctx, ada, "s of other", noon))(s)), 1)
		s.begin("s of r", "next", 1)
		declined := assert.Must(s.db.Pending(s.ctx, ada, "s of r", time.Time{}))(s)
		s.same("what is known of it after another run", []any{len(declined), declined[0].ID, declined[0].Kind, len(declined[0].Data)},
			[]any{1, "p", journal.Declined, 0})
		s.unchanged(func() {
			s.fails(journal.ErrConsumed, s.db.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "s of r", "late"),
				Consume: []string{"p"}}))
		})
	},
	"WhatIsUnknownIsNotFound": func(s *suite) {
		s.unchanged(func() {
			for name, err := range s.everyCall(s.ctx, ada) {
				s.Log(name)
				s.fails(journal.ErrNotFound, err)
			}
		})
	},
	"SessionsAreFoundByPlaceAndByWordsOfTheirTitle": func(s *suite) {
		s.create(sessionOf(ada, "s"))
		s.create(sessionOf(ada, "other"))
		assert.NoError(s, s.db.RenameSession(s.ctx, ada, "s", "Über 100% of the Boiler_s"))
		found, none := []journal.Session{s.session("s")}, []journal.Session{}
		for _, c := range []struct {
			filter journal.SessionFilter
			want   []journal.Session
		}{
			{journal.SessionFilter{Place: "/src/s"}, found}, {journal.SessionFilter{Place: "/src"}, none},
			{journal.SessionFilter{Title: "boiler"}, found}, {journal.SessionFilter{Title: "100%"}, found},
			{journal.SessionFilter{Title: "R_S"}, found}, {journal.SessionFilter{Title: "r%s"}, none},
			{journal.SessionFilter{Title: "Über"}, found}, {journal.SessionFilter{Title: "nothing"}, none},
		} {
			s.same(fmt.Sprintf("with %+v", c.filter), assert.Must(s.db.Sessions(s.ctx, ada, c.filter))(s), c.want)
			s.same("of another owner", assert.Must(s.db.Sessions(s.ctx, bob, c.filter))(s), none)
		}
	},
	"BeginAndEndMoveUpdatedAtForwardAndAppendDoesNot": func(s *suite) {
		updated := func(when string, want time.Duration) {
			s.same("updated "+when, s.session("s").UpdatedAt, after(want))
		}
		r := runOf(ada, "s", "r")
		r.StartedAt = after(-time.Hour)
		s.start(r, nil)
		updated("by a beginning before it was made", 0)
		r.ID, r.StartedAt = "r2", after(time.Minute)
		s.start(r, nil)
		updated("by a beginning", time.Minute)
		assert.NoError(s, s.appendTo("r2", 0, 1))
		updated("not by Append", time.Minute)
		s.end("r2", 1, journal.Done, after(time.Hour))
		updated("by an end", time.Hour)
		s.end("r", 0, journal.Done, after(time.Minute))
		updated("not by an end before", time.Hour)
		s.same("created", s.session("s").CreatedAt, noon)
	},
}

var beginTests = map[string]func(*suite){
	"RunComesBackAsBegun": func(s *suite) {
		want := leased(runOf(ada, "s", "r"), "here", time.Minute)
		want.Records = 9 // the store's to say
		s.start(want, recordsFrom(0, 2))
		want.Records = 2
		s.same("run", s.run("r"), want)
		s.same("records", s.records("r"), recordsFrom(0, 2))
		s.begin("s2", "bare", 0)
		s.same("run without records or lease", s.run("bare"), runOf(ada, "s2", "bare"))
		assert.NoError(s, s.appendTo("bare", 0, 1))
		s.same("records", s.records("bare"), recordsFrom(0, 1))
	},
	"ImpossibleBeginIsInvalidAndLeavesNothing": func(s *suite) {
		s.create(sessionOf(ada, "s"))
		s.unchanged(func() {
			for name, spoil := range map[string]func(*journal.Beginning){
				"no id":           func(b *journal.Beginning) { b.Run.ID = "" },
				"no owner":        func(b *journal.Beginning) { b.Run.Owner = "" },
				"no session":      func(b *journal.Beginning) { b.Run.Session = "" },
				"no session id":   func(b *journal.Beginning) { b.Session = &journal.Session{Owner: ada} },
				"another session": func(b *journal.Beginning) { b.Session = &journal.Session{ID: "other", Owner: ada} },
				"another's":       func(b *journal.Beginning) { b.Session = &journal.Session{ID: "s", Owner: bob} },
				"an ended status": func(b *journal.Beginning) { b.Run.Status = journal.Done },
				"no claim":        func(b *journal.Beginning) { b.Claims = []string{"key", ""} },
				"first is not 0":  func(b *journal.Beginning) { b.Records = recordsFrom(1, 2) },
				"a gap":           func(b *journal.Beginning) { b.Records[1].Seq = 5 },
				"too large":       func(b *journal.Beginning) { b.Records[0].Data = make([]byte, journal.MaxData+1) },
			} {
				s.Log(name)
				b := journal.Beginning{Run: runOf(ada, "s", "r"), Blobs: [][]byte{[]byte("lost")},
					Records: recordsFrom(0, 3)}
				spoil(&b)
				s.fails(journal.ErrInvalid, s.db.Begin(s.ctx, b))
			}
		})
	},
}

var appendTests = map[string]func(*suite){
	"RecordsOfARunAreNumberedWithoutAGap": func(s *suite) {
		s.begin("s", "r", 1)
		s.begin("s", "other", 1)
		next := int64(1)
		for _, n := range []int{1, 2, 3, 250, 1} {
			assert.NoError(s, s.appendTo("r", next, n))
			next += int64(n)
			s.same("run's records", s.run("r").Records, next)
		}
		s.same("records", s.records("r"), recordsFrom(0, int(next)))
		s.same("records of the other", s.records("other"), recordsFrom(0, 1))
		for from, want := range map[int64][]journal.Record{
			-3: recordsFrom(0, 258), 255: recordsFrom(255, 3), 257: recordsFrom(257, 1), 258: nil, 999: nil,
		} {
			s.same(fmt.Sprint("records from ", from), assert.Must(s.db.Records(s.ctx, ada, "r", from))(s), want)
		}
	},
	"RefusedAppendWritesNothing": func(s *suite) {
		s.begin("s", "r", 3)
		s.unchanged(func() {
			end := &journal.End{Status: journal.Done, At: noon}
			for _, from := range []int64{-1, 0, 2, 4, 100} {
				s.fails(journal.ErrConflict, s.appendTo("r", from, 2),
					s.db.Append(s.ctx, ada, "r", recordsFrom(from, 2), end))
			}
			for _, second := range []int64{2, 3, 5} {
				batch := recordsFrom(3, 3)
				batch[1].Seq = second
				s.fails(journal.ErrInvalid, s.db.Append(s.ctx, ada, "r", batch, nil))
			}
			large := recordsFrom(3, 1)
			large[0].Data = make([]byte, journal.MaxData+1)
			for _, recs := range [][]journal.Record{nil, large} {
				s.fails(journal.ErrInvalid, s.db.Append(s.ctx, ada, "r", recs, nil),
					s.db.Append(s.ctx, ada, "r", recs, end))
			}
			for _, end := range []journal.End{
				{Status: journal.Running}, {Status: ""}, {Status: "finished"},
				{Status: journal.Done, Reason: strings.Repeat("x", journal.MaxReason+1)},
				{Status: journal.Done, Summary: make([]byte, journal.MaxSummary+1)},
				{Status: journal.NeedsUser, Pending: []journal.Pending{{Kind: "without an id"}}},
				{Status: journal.NeedsUser, Pending: []journal.Pending{{ID: "twice"}, {ID: "twice"}}},
			} {
				s.fails(journal.ErrInvalid, s.db.Append(s.ctx, ada, "r", recordsFrom(3, 1), &end))
			}
		})
	},
	"OfSixteenWritersOneGetsEachNumber": func(s *suite) {
		s.begin("s", "r", 1)
		race(s, s, s, 16)
	},
	"ReaderNeverSeesPartOfABatch": func(s *suite) {
		s.begin("s", "r", 3)
		var done atomic.Bool
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for !done.Load() {
					recs, err := s.db.Records(s.ctx, ada, "r", 0)
					if err != nil || len(recs)%3 != 0 {
						s.Errorf("read %d records, error %v, want whole batches of 3", len(recs), err)
						return
					}
				}
			})
		}
		for i := range int64(40) {
			assert.NoError(s, s.appendTo("r", 3+3*i, 3))
		}
		done.Store(true)
		readers.Wait()
	},
	"EndedRunTakesNoMoreRecordsAndHasNoLease": func(s *suite) {
		for _, status := range []journal.Status{journal.Done, journal.Failed, journal.Cancelled, journal.NeedsUser} {
			id := string(status)
			s.start(leased(runOf(ada, "s of "+id, id), "here", time.Hour), recordsFrom(0, 1))
			s.end(id, 1, status, after(time.Minute))
			want := runOf(ada, "s of "+id, id)
			want.Status, want.EndedAt, want.Records = status, after(time.Minute), 2
			s.same("run", s.run(id), want)
			s.same("records", s.records(id), recordsFrom(0, 2))
			s.unchanged(func() {
				again := &journal.End{Status: journal.Done, At: after(time.Hour)}
				s.fails(journal.ErrEnded, s.appendTo(id, 2, 1), s.appendTo(id, 1, 1),
					s.db.Append(s.ctx, ada, id, recordsFrom(2, 1), again),
					s.db.Acquire(s.ctx, ada, id, "here", noon, after(time.Hour)))
				assert.NoError(s, s.db.Release(s.ctx, ada, id, "here", time.Time{}))
			})
		}
	},
	"NoRunEndsBeforeItBegan": func(s *suite) {
		s.begin("s", "r", 1)
		s.end("r", 1, journal.Done, noon.Add(-time.Hour))
		s.same("the end", s.run("r").EndedAt, s.run("r").StartedAt)
	},
	"EndSaysWhyAndLeavesASummary": func(s *suite) {
		s.begin("s", "r", 1)
		s.begin("s", "plain", 1)
		want := runOf(ada, "s", "r")
		want.Status, want.EndedAt, want.Records = journal.Done, after(time.Minute), 2
		want.Reason, want.Summary = strings.Repeat("x", journal.MaxReason),
			bytes.Repeat([]byte("\xff"), journal.MaxSummary)
		end := &journal.End{Status: journal.Done, At: after(time.Minute), Reason: want.Reason,
			Summary: bytes.Clone(want.Summary)}
		assert.NoError(s, s.db.Append(s.ctx, ada, "r", recordsFrom(1, 1), end))
		s.same("run", s.run("r"), want)
		list := assert.Must(s.db.Runs(s.ctx, ada, journal.Filter{Summaries: true}))(s)
		s.same("runs with summaries", list, []journal.Run{s.run("plain"), want})
		want.Summary = nil
		list = assert.Must(s.db.Runs(s.ctx, ada, journal.Filter{Status: journal.Done}))(s)
		s.same("runs without", list, []journal.Run{want})
	},
}

// race has writers append to run r, which holds one record, ten times, each naming the number that all of them expect.
func race(s, one, two *suite, writers int) {
	s.Helper()
	for seq := int64(1); seq <= 10; seq++ {
		winner := s.oneWins(writers, journal.ErrConflict, func(w int) error {
			batch := recordsFrom(seq, 1)
			batch[0].Kind = fmt.Sprint(w)
			return []*suite{one, two}[w%2].db.Append(s.ctx, ada, "r", batch, nil)
		})
		recs := s.records("r")
		s.same("records", len(recs), int(seq)+1)
		s.same("writer of the last", recs[seq].Kind, fmt.Sprint(winner))
	}
}

var callTests = map[string]func(*suite){
	"WhatBelongsToAnotherDoesNotExist": func(s *suite) {
		s.begin("s", "r", 2)
		s.create(sessionOf(bob, "bobs"))
		s.unchanged(func() {
			for name, err := range s.everyCall(s.ctx, bob) {
				s.Log(name)
				s.fails(journal.ErrNotFound, err)
			}
		})
		for f, want := range map[journal.Filter]int{{}: 1, {Session: "s"}: 0, {Status: journal.Running}: 1,
			{Session: "bobs"}: 1} {
			s.same("number of bob's runs", len(assert.Must(s.db.Runs(s.ctx, bob, f))(s)), want)
		}
		want := sessionOf(bob, "bobs")
		want.Runs = 1
		s.same("bob's sessions", assert.Must(s.db.Sessions(s.ctx, bob, journal.SessionFilter{}))(s), []journal.Session{want})
	},
	"EndedContextEndsEveryCallAndChangesNothing": func(s *suite) {
		s.begin("s", "r", 2)
		s.ended(func(ctx context.Context) map[string]error {
			errs := s.everyCall(ctx, ada)
			idle := journal.IdleFilter{Before: after(time.Hour), Now: noon}
			keys := []journal.Key{{Owner: ada, Run: "r"}}
			errs["Begin with a session"] = s.db.Begin(ctx, firstOf(sessionOf(ada, "s2")))
			errs["Sessions"] = errOf(s.db.Sessions(ctx, ada, journal.SessionFilter{}))
			errs["Runs"] = errOf(s.db.Runs(ctx, ada, journal.Filter{}))
			errs["Pending"] = errOf(s.db.Pending(ctx, ada, "s", noon))
			errs["Renew"] = s.db.Renew(ctx, "here", keys, after(time.Minute))
			errs["Snapshots"] = errOf(s.db.Snapshots(ctx, keys))
			errs["Stranded"] = errOf(s.db.Stranded(ctx, journal.LeaseTimes{Now: noon}, 0))
			errs["Census"] = errOf(s.db.Census(ctx, journal.LeaseTimes{Now: noon}))
			errs["Tombstones"] = errOf(s.db.Tombstones(ctx, ada, journal.SessionFilter{}))
			errs["Unused"] = errOf(s.db.Unused(ctx, ada, idle))
			errs["Retire"] = errOf(s.db.Retire(ctx, ada, idle))
			return errs
		})
	},
	"ClosedStoreFailsEveryCallAndClosesAgain": func(s *suite) {
		s.begin("s", "r", 2)
		assert.NoError(s, s.db.Close())
		for name, err := range s.everyCall(s.ctx, ada) {
			assert.That(s, err != nil, "%s succeeded on a closed store", name)
		}
		assert.NoError(s, s.db.Close())
	},
}

// everyCall makes each call on session s and run r that looks for something, in the name of owner.
func (s *suite) everyCall(ctx context.Context, owner journal.Owner) map[string]error {
	end := &journal.End{Status: journal.Done, At: noon}
	return map[string]error{
		"Session":       errOf(s.db.Session(ctx, owner, "s")),
		"RenameSession": s.db.RenameSession(ctx, owner, "s", "taken over"),
		"DeleteSession": s.db.DeleteSession(ctx, owner, "s", journal.ByPerson, noon),
		"Begin": s.db.Begin(ctx, journal.Beginning{Run: runOf(owner, "s", "r2"),
			Records: recordsFrom(0, 1)}),
		"Begin with the id of a run": s.db.Begin(ctx, journal.Beginning{Run: runOf(owner, "s", "r"),
			Records: recordsFrom(0, 1)}),
		"Append":                   s.db.Append(ctx, owner, "r", recordsFrom(2, 1), nil),
		"Append at a wrong number": s.db.Append(ctx, owner, "r", recordsFrom(0, 1), nil),
		"Append with an end":       s.db.Append(ctx, owner, "r", recordsFrom(2, 1), end),
		"Run":                      errOf(s.db.Run(ctx, owner, "r")),
		"Records":                  errOf(s.db.Records(ctx, owner, "r", 0)),
		"Records past the last":    errOf(s.db.Records(ctx, owner, "r", 9)),
		"Acquire":                  s.db.Acquire(ctx, owner, "r", "here", noon, after(time.Minute)),
		"Settle":                   s.db.Settle(ctx, owner, "r", "here"),
		"Release":                  s.db.Release(ctx, owner, "r", "here", time.Time{}),
		"Tombstone":                errOf(s.db.Tombstone(ctx, owner, "s")),
		"Blob":                     errOf(s.db.Blob(ctx, owner, journal.BlobHash([]byte("blob")))),
		"Claimed":                  errOf(s.db.Claimed(ctx, owner, "key")),
		"Void":                     s.db.Void(ctx, owner, "r"),
	}
}
