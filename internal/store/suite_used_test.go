package store

import (
	"fmt"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

// cost has a session with a run that has ended. With nil, its usage is not kept.
func (s *suite) cost(owner journal.Owner, id string, at time.Time, used []journal.Used) journal.Key {
	s.Helper()
	session, r := sessionOf(owner, "s-"+id), runOf(owner, "s-"+id, id)
	r.StartedAt = at
	assert.NoError(s, s.db.Begin(s.ctx, journal.Beginning{Session: &session, Run: r, Records: recordsFrom(0, 1)}))
	assert.NoError(s, s.db.Append(s.ctx, owner, id, recordsFrom(1, 1), &journal.End{Status: journal.Done, At: at, Used: used}))
	return journal.Key{Owner: owner, Run: id}
}

func tokens(model string, n int) journal.Used {
	return journal.Used{Model: model, Input: 100 * n, Cached: 10 * n, Output: n}
}

// usedBetween is what UsedBetween gives, the ids alone of runs whose usage is not kept.
func (s *suite) usedBetween(owner journal.Owner, times ...time.Time) ([]journal.UsedAt, []string) {
	s.Helper()
	kept, others, err := s.db.UsedBetween(s.ctx, owner, times...)
	assert.NoError(s, err)
	return kept, idsOf(others, func(u journal.Uncounted) string { return fmt.Sprint(u.Run, u.Ended) })
}

var usedTests = map[string]func(*suite){
	"UsageIsSummedBetweenTimesByModel": func(s *suite) {
		s.cost("ann", "a", after(time.Minute), []journal.Used{tokens("m:x", 1), tokens("m:y", 2), tokens("m:x", 4)})
		s.cost("ann", "b", after(time.Hour-time.Millisecond), []journal.Used{tokens("m:x", 8)})
		s.cost("ann", "c", after(time.Hour), []journal.Used{tokens("m:x", 16)})
		s.cost("ann", "none", after(2*time.Hour), []journal.Used{})
		s.cost("ann", "late", after(3*time.Hour), []journal.Used{tokens("m:x", 32)})
		s.cost("ann", "early", after(-time.Millisecond), []journal.Used{tokens("m:x", 64)})
		s.cost("bob", "other", noon, []journal.Used{tokens("m:x", 128)})
		kept, others := s.usedBetween("ann", noon, after(time.Hour), after(3*time.Hour))
		s.same("usage", kept, []journal.UsedAt{
			{At: after(time.Minute), Runs: 2, Used: tokens("m:x", 13)},
			{At: after(time.Minute), Used: tokens("m:y", 2)},
			{At: after(time.Hour), Runs: 1, Used: tokens("m:x", 16)}})
		s.same("runs whose usage is not kept", others, []string{})
		kept, others = s.usedBetween("ann", noon)
		s.same("usage between one time", len(kept)+len(others), 0)
	},
	"RunningRunsAndThoseThatNobodyCountedAreNamed": func(s *suite) {
		s.begin("s", "goes on", 1)
		s.cost(ada, "uncounted", noon, nil)
		s.cost(ada, "counted", noon, []journal.Used{})
		s.cost(ada, "early", after(-time.Millisecond), nil)
		s.cost("bob", "other", noon, nil)
		_, others := s.usedBetween(ada, noon, after(time.Hour))
		s.same("runs", others, []string{"goes onfalse", "uncountedtrue"})
		_, others = s.usedBetween(ada, after(time.Hour), after(2*time.Hour))
		s.same("runs of another hour", others, []string{})
	},
	"UsageIsToldByRun": func(s *suite) {
		two := s.cost("ann", "two", noon, []journal.Used{tokens("m:y", 2), tokens("m:x", 1)})
		none := s.cost("ann", "none", noon, []journal.Used{})
		uncounted := s.cost("ann", "uncounted", noon, nil)
		kept, others, err := s.db.UsedBy(s.ctx, []journal.Key{two, none, uncounted, {Owner: "ann", Run: "missing"},
			{Owner: "bob", Run: "two"}})
		assert.NoError(s, err)
		s.same("usage", kept, map[journal.Key][]journal.Used{two: {tokens("m:x", 1), tokens("m:y", 2)}, none: nil})
		s.same("runs whose usage is not kept", others,
			[]journal.Uncounted{{Key: uncounted, Assistant: "oracle", StartedAt: noon, Ended: true}})
	},
	"UsageIsKeptOnceOfRunsThatHaveEnded": func(s *suite) {
		s.begin("s", "goes on", 1)
		goesOn, missing := journal.Key{Owner: ada, Run: "goes on"}, journal.Key{Owner: ada, Run: "missing"}
		uncounted := s.cost(ada, "uncounted", noon, nil)
		counted := s.cost(ada, "counted", noon, []journal.Used{tokens("m:x", 1)})
		others := journal.Key{Owner: "bob", Run: "uncounted"}
		keep := func(n int) {
			used := []journal.Used{tokens("m:x", n)}
			assert.NoError(s, s.db.KeepUsed(s.ctx, map[journal.Key][]journal.Used{goesOn: used, missing: used, others: used}))
			assert.NoError(s, s.db.KeepUsed(s.ctx, map[journal.Key][]journal.Used{uncounted: used, counted: used}))
		}
		keep(2)
		keep(4)
		kept, left := s.usedBetween(ada, noon, after(time.Hour))
		s.same("usage", kept, []journal.UsedAt{{At: noon, Runs: 2, Used: tokens("m:x", 3)}})
		s.same("runs whose usage is not kept", left, []string{"goes onfalse"})
	},
	"UsageIsRemovedWithItsSession": func(s *suite) {
		s.cost("ann", "a", noon, []journal.Used{tokens("m:x", 1), tokens("m:y", 1)})
		s.cost("ann", "b", noon, []journal.Used{tokens("m:x", 2)})
		assert.NoError(s, s.db.DeleteSession(s.ctx, "ann", "s-a", journal.ByPerson, after(time.Hour)))
		kept, _ := s.usedBetween("ann", noon, after(time.Hour))
		s.same("usage", kept, []journal.UsedAt{{At: noon, Runs: 1, Used: tokens("m:x", 2)}})
		s.same("rows", len(s.rows()["used"]), 1)
	},
	"AModelWhoseNameIsNoTextIsRefused": func(s *suite) {
		s.begin("s", "r", 1)
		s.unchanged(func() {
			s.fails(journal.ErrInvalid, s.db.Append(s.ctx, ada, "r", recordsFrom(1, 1), &journal.End{
				Status: journal.Done, At: noon, Used: []journal.Used{tokens("m\x00", 1)}}))
		})
	},
}
