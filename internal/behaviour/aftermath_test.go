package behaviour_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	records "sibyl/internal/run"
)

// A run that lost its node is to be taken up within takeUpTime. Here it may take longer: the machine does much else.
const (
	takeUpTime  = 10 * time.Second
	takeUpBound = 2 * takeUpTime
)

// recordsOf are the records of a run.
func (c *cluster) recordsOf(r journal.Run) (recs []journal.Record) {
	c.Helper()
	c.wait("the records of run "+r.ID, func() (ok bool) { // the database may be down
		var err error
		recs, err = c.db.Records(c.Context(), r.Owner, r.ID, 0)
		return err == nil
	})
	return recs
}

// resumedByOther says when another than a holder has resumed a run.
func (c *cluster) resumedByOther(r journal.Run, holder string, since time.Time) (at time.Time, ok bool) {
	c.Helper()
	for _, rec := range c.recordsOf(r) {
		if rec.Kind != records.KindResume || rec.At.Before(since.Truncate(time.Millisecond)) {
			continue
		}
		body := assert.Must(records.Read(rec))(c)
		if body.(*records.ResumeRecord).Holder != holder {
			return rec.At, true
		}
	}
	return at, false
}

// handedOver waits until every run that a holder drove is taken up by another, and keeps how long it took. A run that
// ended by a commit that was under way is not waited for.
func (c *cluster) handedOver(lost []journal.Run, holder string, since time.Time) {
	c.Helper()
	assert.Require(c, len(lost) != 0, "no run was lost: nothing is proved")
	var took []time.Duration
	for _, r := range lost {
		c.wait("run "+r.ID+" to be taken up", func() bool {
			at, ok := c.resumedByOther(r, holder, since)
			if ok {
				took = append(took, at.Sub(since))
				return true
			}
			now, err := c.db.Run(c.Context(), r.Owner, r.ID)
			return err == nil && now.Status != journal.Running
		})
	}
	c.note("taken up after %s", distribution(took))
	c.mu.Lock()
	c.taken = append(c.taken, took...)
	c.mu.Unlock()
}

// distribution tells of times.
func distribution(all []time.Duration) string {
	if len(all) == 0 {
		return "none"
	}
	all = slices.Sorted(slices.Values(all))
	at := func(percent int) time.Duration { return all[(len(all)-1)*percent/100].Round(time.Millisecond) }
	return fmt.Sprintf("min %v, p50 %v, p95 %v, max %v (%d)", at(0), at(50), at(95), at(100), len(all))
}

// sum is what is counted in the end.
type sum struct {
	runs, resumed, repeated, unknown int
	statuses, reasons                map[string]int
}

// endAll waits until no run goes on, and ends the nodes. A request of which its client knows nothing any more may begin
// a run until then.
func (c *cluster) endAll() {
	c.Helper()
	open := func() int { return len(c.runs(journal.Filter{Status: journal.Running})) }
	for {
		c.wait("the end of all runs", func() bool { return open() == 0 })
		for _, p := range c.nodes {
			p.terminate(patience)
		}
		if open() == 0 {
			return
		}
		for _, p := range c.nodes {
			p.start()
		}
	}
}

// sound checks that every run has ended once and has written its note once, and tells of what happened.
func (c *cluster) sound() (s sum) {
	c.Helper()
	c.endAll()
	s = sum{statuses: map[string]int{}, reasons: map[string]int{}}
	notes := c.notes()
	for _, r := range c.runs(journal.Filter{}) {
		s.runs++
		s.statuses[string(r.Status)]++
		s.reasons[r.Reason]++
		c.checkRun(r, notes, &s)
	}
	for tag, n := range notes {
		c.Errorf("note %s stands there %d times, and no run wrote it", tag, n)
	}
	assert.That(c, s.statuses[string(journal.Cancelled)] == 0,
		"%d runs were cancelled, and nobody asked for that", s.statuses[string(journal.Cancelled)])
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.taken) > 0 {
		slowest := slices.Max(c.taken)
		assert.That(c, slowest <= takeUpBound, "a run was taken up %v after its node was lost", slowest)
		c.Logf("taken up after %s", distribution(c.taken))
	}
	c.Logf("%d runs (%s; %s), resumed %d times with %d effects performed again, %d writes unknown; clients saw %s",
		s.runs, counts(s.statuses), counts(s.reasons), s.resumed, s.repeated, s.unknown, counts(c.saw))
	return s
}

// notes counts the notes in the vault.
func (c *cluster) notes() map[string]int {
	c.Helper()
	all := map[string]int{}
	for _, u := range c.people {
		text := assert.Must(os.ReadFile(filepath.Join(c.vault, u.name+".md")))(c)
		for line := range strings.Lines(string(text)) {
			if tag, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
				all[tag]++
			}
		}
	}
	return all
}

// checkRun checks one run, and takes its note out of notes.
func (c *cluster) checkRun(r journal.Run, notes map[string]int, s *sum) {
	c.Helper()
	_, tag := fileAndTag(r.Title)
	written := notes[tag]
	delete(notes, tag)
	if r.Status == journal.Running {
		c.Errorf("run %s of %s has not ended", r.ID, r.Owner)
		return
	}
	ends, unknown := 0, 0
	var answer oracle.Answer
	for _, rec := range c.recordsOf(r) {
		if rec.Kind == records.KindTrace {
			continue
		}
		body, err := records.Read(rec)
		assert.NoErrorf(c, err, "run %s", r.ID)
		switch body := body.(type) {
		case *records.ResumeRecord:
			s.resumed++
			s.repeated += len(body.Repeated)
		case *records.CompletionRecord:
			if body.Once && isUnknown(body.Err) {
				unknown++
			}
		case *records.EndRecord:
			ends++
			assert.NoErrorf(c, json.Unmarshal(body.Outcome, &answer), "run %s", r.ID)
		}
	}
	s.unknown += unknown
	switch {
	case ends != 1:
		c.Errorf("run %s has ended %d times", r.ID, ends)
	case r.Status == journal.Cancelled:
	case unknown > 0 && answer.Partial() && slices.ContainsFunc(answer.Notices, isUnsure) &&
		(written == 1 || written == 0 && strings.Contains(answer.Answer, "can't tell")): // it says so
	case written != 1 || answer.StopReason != oracle.StopSatisfied:
		c.Errorf("run %s (%s) wrote its note %d times, and says %q (%s)",
			r.ID, tag, written, answer.Answer, answer.StopReason)
	}
}

func isUnsure(n agent.Notice) bool { return n.Type == agent.NoticeUnsureWrite }

func isUnknown(f *bt.Fault) bool { return f != nil && f.Kind == records.KindUnknown }
