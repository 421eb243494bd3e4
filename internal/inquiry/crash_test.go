package inquiry_test

import (
	"context"
	"math"
	"testing"

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
