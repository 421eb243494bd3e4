package inquiry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// within is how soon a stop takes effect.
const within = 3 * time.Second

func TestStopTakesEffectInTimeWhoeverIsAskedAndWhatWasAnsweredStays(t *testing.T) {
	hang := modeltest.Turn{Text: `{"`, Hang: true}
	for name, one := range map[string]struct {
		set   func(h *house, reached chan<- bool, over <-chan struct{})
		pairs int
		by    string // who has analysed the last pair
	}{
		"witness": {func(h *house, reached chan<- bool, _ <-chan struct{}) {
			usual := h.says
			h.says = func(ctx context.Context, q string, n int) (witness.Answer, error) {
				if n == 2 {
					reached <- true
					<-ctx.Done()
					return witness.Answer{}, ctx.Err()
				}
				return usual(ctx, q, n)
			}
		}, 1, acting},
		"witness that heeds nothing": {func(h *house, reached chan<- bool, over <-chan struct{}) {
			usual := h.says
			h.says = func(ctx context.Context, q string, n int) (witness.Answer, error) {
				if n == 2 {
					reached <- true
					<-over
				}
				return usual(ctx, q, n)
			}
		}, 1, acting},
		"detective asks": {func(h *house, reached chan<- bool, _ <-chan struct{}) {
			usual := h.asks
			h.asks = func(n int, req model.Request) modeltest.Turn {
				if n == 3 {
					reached <- true
					return hang
				}
				return usual(n, req)
			}
		}, 2, acting},
		"detective analyses": {func(h *house, reached chan<- bool, _ <-chan struct{}) {
			usual := h.analyses
			h.analyses = func(n int, req model.Request) modeltest.Turn {
				if n == 2 {
					reached <- true
					return hang
				}
				return usual(n, req)
			}
		}, 2, ""},
		"detective sums up": {func(h *house, reached chan<- bool, _ <-chan struct{}) {
			h.sums = func(model.Request) modeltest.Turn {
				reached <- true
				return hang
			}
		}, 3, acting},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				reached, over := make(chan bool, 1), make(chan struct{})
				one.set(h, reached, over)
				p := h.process("one", h.journal)
				r := p.begin(bridge, options())
				<-reached
				assert.NoError(t, p.service.Cancel(t.Context(), ada, r.ID, "enough"))
				begun := time.Now()
				for assert.Must(h.journal.Run(t.Context(), ada, r.ID))(t).Status == journal.Running {
					assert.Require(t, time.Since(begun) <= within, "it goes on after %s", time.Since(begun))
					time.Sleep(50 * time.Millisecond) // of the bubble's clock
				}
				close(over)
				res, s := p.wait(r)
				same(t, "status of the run", res.Status, journal.Cancelled)
				p.ended(s, record.Failed, record.Stopped, one.pairs)
				same(t, "analysed by", s.Pairs[one.pairs-1].AnalysedBy, one.by)
				same(t, "summed up by", s.ProvisionalAudit.By, "")
				contains(t, s.ProvisionalAudit.Summary, "It was stopped")
			})
		})
	}
}
