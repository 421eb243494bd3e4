package inquiry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// leave has a process that is dead let go of all that it drives.
func (p *process) leave() {
	now, cut := context.WithCancel(p.Context())
	cut()
	p.service.Drain(now)
}

// dies begins an inquiry in a process that dies at a write. It gives the run, and how often the process wrote.
func (h *house) dies(at int, after bool) (id string, writes int) {
	h.Helper()
	dying := &journaltest.Mortal{Store: h.journal, At: at, After: after, Free: math.MaxInt}
	dead := h.process("dead", dying)
	r := dead.begin(bridge, options())
	if _, err := r.Wait(h.Context()); (err == nil) != (at == 0) && !dying.Dead() {
		h.Fatalf("the run that is to die at write %d of %d ends with %v", at, dying.Writes(), err)
	}
	dead.leave()
	return r.ID, dying.Writes()
}

// resumed has a run that was interrupted come to its end, and gives its session.
func (p *process) resumed(id string) record.Session {
	p.Helper()
	if row := assert.Must(p.journal.Run(p.Context(), ada, id))(p); row.Status == journal.Running {
		assert.Must(assert.Must(p.service.Resume(p.Context(), ada, id))(p).Wait(p.Context()))(p)
	}
	return p.session(id)
}

// confronting is a house whose inquiry has all that there is: a contradiction, a question about both answers, an
// analysis that fails once.
func confronting(t *testing.T) *house {
	h := testimony(t, []string{"Both are what I said.", "Nothing."}, open, with(open, beams), open,
		with(satisfied, beams))
	usual := h.analyses
	h.analyses = func(n int, req model.Request) modeltest.Turn {
		if n == 3 {
			return modeltest.Fail(model.RateLimit)
		}
		return usual(n, req)
	}
	return h
}

// timeless is a session as JSON, without what differs between two houses.
func timeless(t testing.TB, s record.Session) string {
	t.Helper()
	s.ID, s.Run, s.StartTime, s.Hypothesis.CreatedAt, s.EndTime = "", "", time.Time{}, time.Time{}, nil
	s.Pairs, s.AuditTrail = slices.Clone(s.Pairs), slices.Clone(s.AuditTrail)
	for n := range s.Pairs {
		s.Pairs[n].Timestamp = time.Time{}
	}
	for n := range s.AuditTrail {
		s.AuditTrail[n].Timestamp = time.Time{}
	}
	return string(assert.Must(json.MarshalIndent(s, "", " "))(t))
}

// matrix runs a test for each write at which a process may die, before and after it took effect.
func matrix(t *testing.T, writes int, test func(t *testing.T, at int, after bool)) {
	t.Helper()
	assert.Require(t, writes >= 10, "an inquiry is written in %d writes", writes)
	for at := 1; at <= writes; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, done %v", at, after), func(t *testing.T) {
				t.Parallel()
				test(t, at, after)
			})
		}
	}
}

func TestCrashAtEveryWriteLosesNoPairAndAsksNoneAgainThatWasAnswered(t *testing.T) {
	calm := confronting(t)
	id, writes := calm.dies(0, false)
	want := calm.process("survivor", calm.journal).session(id)
	matrix(t, writes, func(t *testing.T, at int, after bool) {
		h := confronting(t)
		id, _ := h.dies(at, after)
		p := h.process("survivor", h.journal)
		before := p.session(id)
		_, text := h.file()
		filed := before
		filed.Resumable = false // no file is written when a process dies
		same(t, "the file", text, string(assert.Must(record.Marshal(filed))(t)))
		items := assert.Must(p.desk.List(t.Context(), ada, journal.Filter{}))(t)
		same(t, "in the list", []any{items[0].ID, items[0].Status, items[0].Pairs},
			[]any{before.ID, before.Status, len(before.Pairs)})
		known := len(h.asked())
		s := p.resumed(id)
		same(t, "the session", timeless(t, s), timeless(t, want))
		p.ended(s, want.Status, want.EndReason, len(want.Pairs))
		for n, pair := range before.Pairs {
			same(t, "a pair from before the crash", pair.Question+pair.Answer, s.Pairs[n].Question+s.Pairs[n].Answer)
		}
		times := map[string]int{}
		for n, q := range h.asked() {
			times[q]++
			for _, pair := range before.Pairs {
				assert.That(t, n < known || pair.Question != q, "“%s” was answered before the crash, and asked again", q)
			}
		}
		for q, n := range times {
			assert.That(t, n <= 2, "“%s” was asked %d times after one crash", q, n)
		}
		repeated := len(h.asked()) - len(calm.asked())
		assert.That(t, repeated <= 1, "%d questions were put to the witness again", repeated)
		more := len(h.sent) - len(calm.sent)
		assert.That(t, more <= 1, "the detective was asked %d times more", more)
	})
}

func TestInterruptedInquiryThatIsStoppedKeepsEveryAnswer(t *testing.T) {
	calm := confronting(t)
	_, writes := calm.dies(0, false)
	matrix(t, writes, func(t *testing.T, at int, after bool) {
		h := confronting(t)
		id, _ := h.dies(at, after)
		p := h.process("survivor", h.journal)
		var answered int
		for _, r := range assert.Must(h.journal.Records(t.Context(), ada, id, 0))(t) {
			var c struct{ Kind string }
			if json.Unmarshal(r.Data, &c) == nil && r.Kind == "completion" && c.Kind == "inquiry.answer" {
				answered++
			}
		}
		if row := assert.Must(h.journal.Run(t.Context(), ada, id))(t); row.Status == journal.Running {
			assert.NoError(t, p.service.Cancel(t.Context(), ada, id, "enough"))
		}
		s := p.session(id)
		p.ended(s, s.Status, s.EndReason, answered)
		assert.That(t, s.EndReason == record.Stopped || s.EndReason == record.Satisfied, "it ends as %s", s.EndReason)
	})
}
