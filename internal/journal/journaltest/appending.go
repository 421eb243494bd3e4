package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sibyl/internal/journal"
)

var beginTests = map[string]func(*suite){
	"RunComesBackAsBegun": func(s *suite) {
		want := runOf(ada, "s", "r")
		want.LeaseHolder, want.LeaseUntil = "here", after(time.Minute)
		want.Records = 9 // the store's to say
		s.start(want, records(0, 2))
		want.Records = 2
		s.same("run", s.run("r"), want)
		s.same("records", s.records("r"), records(0, 2))
	},
	"RunMayBeginWithoutRecordsOrLease": func(s *suite) {
		s.begin("s", "r", 0)
		s.same("run", s.run("r"), runOf(ada, "s", "r"))
		s.append("r", 0, 1)
		s.same("records", s.records("r"), records(0, 1))
	},
	"RecordThatIsTooLargeIsRefused": func(s *suite) {
		s.begin("s", "r", 1)
		s.unchanged(func() {
			large := records(1, 1)
			large[0].Data = bytes.Repeat([]byte("1"), journal.MaxData+1)
			s.fails(s.store.Append(s.ctx, ada, "r", large, nil), journal.ErrInvalid)
			large[0].Seq = 0
			s.fails(s.store.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "s", "other"), Records: large}), journal.ErrInvalid)
		})
	},
	"RunInAnUnknownSessionIsNotFound": func(s *suite) {
		s.unchanged(func() {
			s.fails(s.store.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "s", "r"), Records: records(0, 1)}), journal.ErrNotFound)
		})
	},
	"SessionAndItsFirstRunBeginTogetherOrNotAtAll": func(s *suite) {
		s.begin("s", "r", 1)
		s.unchanged(func() {
			session := sessionOf(ada, "new")
			taken := journal.Beginning{Run: runOf(ada, "new", "r"), Session: &session}
			s.fails(s.store.Begin(s.ctx, taken), journal.ErrExists)
			s.fails(s.store.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "new", "r2"), Session: &session, Consume: []string{"p"}}), journal.ErrConsumed)
		})
	},
	"TakenRunIDExistsAndChangesNothing": func(s *suite) {
		s.begin("s", "r", 1)
		s.begin("s2", "r2", 0)
		s.unchanged(func() {
			again := runOf(ada, "s2", "r")
			again.StartedAt = after(time.Hour)
			s.fails(s.store.Begin(s.ctx, journal.Beginning{Run: again, Blobs: [][]byte{[]byte("lost")}, Records: records(0, 3)}), journal.ErrExists)
		})
		ask(s.store.Blob(s.ctx, ada, journal.BlobHash([]byte("lost")))).fails(s, journal.ErrNotFound)
	},
	"ImpossibleBeginIsInvalidAndLeavesNothing": func(s *suite) {
		nameless, others, bobs := sessionOf(ada, ""), sessionOf(ada, "other"), sessionOf(bob, "s")
		ended := runOf(ada, "s", "r")
		ended.Status = journal.Done
		gap := records(0, 3)
		gap[1].Seq = 5
		for name, err := range map[string]error{
			"no id":            s.store.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "s", "")}),
			"no owner":         s.store.Begin(s.ctx, journal.Beginning{Run: runOf("", "s", "r")}),
			"no session":       s.store.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "", "r")}),
			"an ended status":  s.store.Begin(s.ctx, journal.Beginning{Run: ended}),
			"first is not 0":   s.store.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "s", "r"), Records: records(1, 2)}),
			"no session id":    s.store.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "s", "r"), Session: &nameless}),
			"another session":  s.store.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "s", "r"), Session: &others}),
			"another's":        s.store.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "s", "r"), Session: &bobs}),
			"no claim":         s.store.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "s", "r"), Claims: []string{"key", ""}}),
			"second has a gap": s.store.Begin(s.ctx, journal.Beginning{Run: runOf(ada, "s", "r"), Blobs: [][]byte{[]byte("lost")}, Records: gap}),
		} {
			if !errors.Is(err, journal.ErrInvalid) {
				s.Errorf("%s: error is %v, want ErrInvalid", name, err)
			}
		}
		s.same("state", s.state(), state{})
		ask(s.store.Blob(s.ctx, ada, journal.BlobHash([]byte("lost")))).fails(s, journal.ErrNotFound)
	},
}

var appendTests = map[string]func(*suite){
	"RecordsAreNumberedWithoutAGap": func(s *suite) {
		s.begin("s", "r", 1)
		next := int64(1)
		for _, n := range []int{1, 2, 3, 50, 1} {
			s.append("r", next, n)
			next += int64(n)
			s.same("run's records", s.run("r").Records, next)
		}
		s.same("records", s.records("r"), records(0, int(next)))
	},
	"AppendThatNamesAnotherNumberIsConflictAndWritesNothing": func(s *suite) {
		s.begin("s", "r", 3)
		end := &journal.End{Status: journal.Done, At: noon}
		s.unchanged(func() {
			for _, from := range []int64{-1, 0, 2, 4, 100} {
				s.fails(s.store.Append(s.ctx, ada, "r", records(from, 2), nil), journal.ErrConflict)
				s.fails(s.store.Append(s.ctx, ada, "r", records(from, 2), end), journal.ErrConflict)
			}
		})
	},
	"BatchWithOneBadRecordIsWrittenNotAtAll": func(s *suite) {
		s.begin("s", "r", 1)
		s.unchanged(func() {
			for _, second := range []int64{0, 1, 3} {
				batch := records(1, 3)
				batch[1].Seq = second
				s.fails(s.store.Append(s.ctx, ada, "r", batch, nil), journal.ErrInvalid)
			}
		})
		s.append("r", 1, 3)
	},
	"AppendWithoutARecordIsInvalid": func(s *suite) {
		s.begin("s", "r", 1)
		s.unchanged(func() {
			s.fails(s.store.Append(s.ctx, ada, "r", nil, nil), journal.ErrInvalid)
			s.fails(s.store.Append(s.ctx, ada, "r", nil, &journal.End{Status: journal.Done, At: noon}), journal.ErrInvalid)
		})
	},
	"UnknownRunIsNotFound": func(s *suite) {
		s.fails(s.store.Append(s.ctx, ada, "r", records(0, 1), nil), journal.ErrNotFound)
		ask(s.store.Run(s.ctx, ada, "r")).fails(s, journal.ErrNotFound)
		ask(s.store.Records(s.ctx, ada, "r", 0)).fails(s, journal.ErrNotFound)
		s.fails(s.store.Acquire(s.ctx, ada, "r", "here", noon, after(time.Minute)), journal.ErrNotFound)
		s.fails(s.store.Release(s.ctx, ada, "r", "here", time.Time{}), journal.ErrNotFound)
	},
	"RecordsBeginWhereAsked": func(s *suite) {
		s.begin("s", "r", 5)
		for from, want := range map[int64][]journal.Record{
			-3: records(0, 5), 0: records(0, 5), 3: records(3, 2), 4: records(4, 1), 5: nil, 99: nil,
		} {
			got := ask(s.store.Records(s.ctx, ada, "r", from)).ok(s)
			s.same(fmt.Sprintf("records from %d", from), got, want)
		}
	},
	"RunsDoNotShareNumbers": func(s *suite) {
		s.begin("s", "r1", 1)
		s.start(runOf(ada, "s", "r2"), records(0, 1))
		s.append("r1", 1, 2)
		s.append("r2", 1, 1)
		s.same("records of r1", s.records("r1"), records(0, 3))
		s.same("records of r2", s.records("r2"), records(0, 2))
	},
	"OfSixteenWritersOneGetsEachNumber": func(s *suite) {
		s.begin("s", "r", 1)
		race(s, []journal.Store{s.store}, 16, 10)
	},
	"ReaderNeverSeesPartOfABatch": func(s *suite) {
		s.begin("s", "r", 3)
		var done atomic.Bool
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for !done.Load() {
					recs, err := s.store.Records(s.ctx, ada, "r", 0)
					if err != nil || len(recs)%3 != 0 {
						s.Errorf("read %d records, error %v, want whole batches of 3", len(recs), err)
						return
					}
				}
			})
		}
		for i := range int64(40) {
			s.append("r", 3+3*i, 3)
		}
		done.Store(true)
		readers.Wait()
	},
}

// race has writers append to run r, which holds one record, each naming the number that all of them expect: rounds times
// in all. Writers take turns with the stores.
func race(s *suite, stores []journal.Store, writers, rounds int) {
	s.Helper()
	for seq := int64(1); seq <= int64(rounds); seq++ {
		errs := make([]error, writers)
		start := make(chan struct{})
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				batch := records(seq, 1)
				batch[0].Kind = fmt.Sprint(w)
				<-start
				errs[w] = stores[w%len(stores)].Append(s.ctx, ada, "r", batch, nil)
			})
		}
		close(start)
		all.Wait()
		winner := slices.Index(errs, nil)
		if winner < 0 {
			s.Fatalf("record %d: nobody succeeded: %v", seq, errs)
		}
		for w, err := range errs {
			if w != winner && !errors.Is(err, journal.ErrConflict) {
				s.Errorf("record %d: writer %d succeeded, and writer %d got %v, want ErrConflict", seq, winner, w, err)
			}
		}
		recs := s.records("r")
		if len(recs) != int(seq)+1 || recs[seq].Kind != fmt.Sprint(winner) {
			s.Fatalf("record %d: the run has %d records, the last by writer %s, want %d and writer %d",
				seq, len(recs), recs[len(recs)-1].Kind, seq+1, winner)
		}
	}
}

var endTests = map[string]func(*suite){
	"EndedRunTakesNoMoreRecords": func(s *suite) {
		for _, status := range []journal.Status{journal.Done, journal.Failed, journal.Cancelled, journal.NeedsUser} {
			id := string(status)
			s.start(runOf(ada, "s", id), records(0, 1))
			s.end(id, 1, status, after(time.Minute))
			s.unchanged(func() {
				again := &journal.End{Status: journal.Done, At: after(time.Hour)}
				s.fails(s.store.Append(s.ctx, ada, id, records(2, 1), nil), journal.ErrEnded)
				s.fails(s.store.Append(s.ctx, ada, id, records(2, 1), again), journal.ErrEnded)
				s.fails(s.store.Append(s.ctx, ada, id, records(1, 1), nil), journal.ErrEnded)
			})
		}
	},
	"EndKeepsItsLastRecordsAndFreesTheLease": func(s *suite) {
		s.begin("s", "r", 1)
		s.ok(s.store.Acquire(s.ctx, ada, "r", "here", noon, after(time.Hour)))
		s.end("r", 1, journal.NeedsUser, after(time.Minute))
		want := runOf(ada, "s", "r")
		want.Status, want.EndedAt, want.Records = journal.NeedsUser, after(time.Minute), 2
		s.same("run", s.run("r"), want)
		s.same("records", s.records("r"), records(0, 2))
	},
	"EndMustBeAnEndOfWhatIsKept": func(s *suite) {
		s.begin("s", "r", 1)
		s.unchanged(func() {
			for _, end := range []journal.End{
				{Status: journal.Running}, {Status: ""}, {Status: "finished"},
				{Status: journal.Done, Reason: strings.Repeat("x", journal.MaxReason+1)},
				{Status: journal.Done, Summary: make([]byte, journal.MaxSummary+1)},
				{Status: journal.NeedsUser, Pending: []journal.Pending{{Kind: "without an id"}}},
				{Status: journal.NeedsUser, Pending: []journal.Pending{{ID: "twice"}, {ID: "twice"}}},
			} {
				s.fails(s.store.Append(s.ctx, ada, "r", records(1, 1), &end), journal.ErrInvalid)
			}
		})
	},
	"EndSaysWhyAndLeavesASummary": func(s *suite) {
		s.begin("s", "r", 1)
		s.begin("s", "plain", 1)
		want := runOf(ada, "s", "r")
		want.Status, want.EndedAt, want.Records = journal.Done, after(time.Minute), 2
		want.Reason, want.Summary = strings.Repeat("x", journal.MaxReason), bytes.Repeat([]byte("\xff"), journal.MaxSummary)
		given := bytes.Clone(want.Summary)
		end := &journal.End{Status: journal.Done, At: after(time.Minute), Reason: want.Reason, Summary: given}
		s.ok(s.store.Append(s.ctx, ada, "r", records(1, 1), end))
		copy(given, "spoilt")
		s.same("run", s.run("r"), want)
		list := ask(s.store.Runs(s.ctx, ada, journal.Filter{Summaries: true})).ok(s)
		s.same("runs with summaries", list, []journal.Run{want, s.run("plain")})
		want.Summary = nil
		list = ask(s.store.Runs(s.ctx, ada, journal.Filter{Status: journal.Done})).ok(s)
		s.same("runs without", list, []journal.Run{want})
	},
}
