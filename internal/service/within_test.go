package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/servicetest"
)

// council is a process in which a panel has its personas asked by a jury: each by a run of its own.
func (h *house) council(holder string, store journal.Store) *service.Service {
	h.Helper()
	var s *service.Service
	panel := h.panel("panel")
	panel.Open = func(context.Context, *run.View) (map[string]run.Performer, func(), error) {
		return map[string]run.Performer{"persona": {
			Do: func(ctx context.Context, job run.Job) (any, error) {
				var asked servicetest.Asked
				if err := json.Unmarshal(job.Effect.Payload, &asked); err != nil {
					return nil, err
				}
				r := service.Request{Assistant: "jury", Words: asked.Words, Options: asked.Persona}
				res, err := s.Within(ctx, job.View.Owner, childOf(job), r)
				if err != nil {
					return res.Answer, err
				}
				return string(res.Status) + " " + res.Answer, nil
			},
			Withdraw: func(ctx context.Context, job run.Job) error {
				return s.Withdraw(ctx, job.View.Owner, childOf(job))
			},
		}}, nil, nil
	}
	s = h.process(holder, store, panel, h.panel("jury"))
	return s
}

// childOf is the id of the run that performs an effect.
func childOf(job run.Job) string { return strings.ReplaceAll(job.Key, "/", "-") }

// children are the rows of the runs of the jury, the last first.
func (h *house) children() []journal.Run {
	h.Helper()
	return assert.Must(h.store.Runs(h.Context(), ada, journal.Filter{Assistant: "jury"}))(h)
}

// statuses are those of the runs of the jury.
func (h *house) statuses() (all []journal.Status) {
	h.Helper()
	for _, r := range h.children() {
		all = append(all, r.Status)
	}
	return all
}

const bothAnswered = "- ada: done - ada: ADA\n\n- bob: done - bob: BOB\n\n"

func TestEffectIsPerformedByARunOfAnotherAssistant(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.council("one", h.store)
		first := h.start(s, "", "Tea, hunter2?")
		same(h, "answer", h.wait(first).Answer, bothAnswered)
		same(h, "statuses", h.statuses(), []journal.Status{journal.Done, journal.Done})
		for _, r := range h.children() {
			session := assert.Must(h.store.Session(h.Context(), ada, r.Session))(h)
			same(h, "session", []string{session.Title, session.Assistant}, []string{"Tea, [redacted]?", "jury"})
			same(h, "runs of the session", session.Runs, 1)
		}
		same(h, "personas that were asked", len(h.asked), 2)
		res := assert.Must(s.Within(h.Context(), ada, first.ID+"-1", service.Request{Assistant: "jury",
			Words: "Milk?", Options: "eve"}))(h)
		same(h, "answer when it is asked for again", res.Answer, "- ada: ADA\n")
		same(h, "personas that were asked", len(h.asked), 2)
		again := service.Request{Assistant: "jury", Session: h.children()[0].Session, Words: "Milk?", Options: "eve"}
		assert.Must(s.Within(h.Context(), ada, "another", again))(h)
		same(h, "session of a request that names one",
			assert.Must(h.store.Run(h.Context(), ada, "another"))(h).Session, again.Session)
	})
}

func TestPanelThatIsCancelledCancelsItsJury(t *testing.T) {
	for name, c := range map[string]struct {
		leaves bool // the panel is left by its process first
	}{"while it goes on": {}, "when nobody drives it": {leaves: true}} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				defer h.holds("bob")()
				s := h.council("one", h.store)
				r := h.start(s, "", "Tea?")
				synctest.Wait()
				if c.leaves {
					h.leave(s)
					s = h.council("two", h.store)
				}
				assert.NoError(h, s.Cancel(h.Context(), ada, r.ID, "enough"))
				h.ended(r.ID, journal.Cancelled)
				h.ended(r.ID+"-1", journal.Done)
				h.ended(r.ID+"-2", journal.Cancelled)
			})
		})
	}
}

// leave has a process leave what it drives, at once.
func (h *house) leave(s *service.Service) {
	now, cut := context.WithCancel(h.Context())
	cut()
	s.Drain(now)
}

// ended waits a minute at most until a run has ended, and wants it to have ended so.
func (h *house) ended(id string, want journal.Status) {
	h.Helper()
	var row journal.Run
	for until := time.Now().Add(time.Minute); time.Now().Before(until); <-time.After(100 * time.Millisecond) {
		if row = assert.Must(h.store.Run(h.Context(), ada, id))(h); row.Status != journal.Running {
			break
		}
	}
	same(h, "status of run "+id, row.Status, want)
}

func TestJuryThatIsSuspendedSuspendsItsPanel(t *testing.T) {
	inHouse(t, func(h *house) {
		h.do["bob"] = func(context.Context, run.Job) (any, error) {
			return nil, &run.Suspended{Fault: &bt.Fault{Kind: "overloaded", Reason: "try later"}}
		}
		s := h.council("one", h.store)
		r := h.start(s, "", "Tea?")
		same(h, "status", h.wait(r).Status, journal.Running)
		res, err := s.Within(h.Context(), ada, r.ID+"-2", service.Request{Assistant: "jury"})
		_, waits := errors.AsType[*run.Suspended](err)
		assert.That(h, waits, "a jury that is suspended gives %v", err)
		same(h, "what there is to show", []string{res.Run, string(res.Status), res.Question},
			[]string{r.ID + "-2", "running", "Tea?"})
		delete(h.do, "bob")
		same(h, "answer", h.wait(assert.Must(s.Resume(h.Context(), ada, r.ID))(h)).Answer, bothAnswered)
	})
}
