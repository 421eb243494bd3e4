package run

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// Update is what a watcher sees: a record that was appended, or a provisional piece of text.
type Update struct {
	Record *journal.Record
	Piece  *Piece
}

// hub hands updates to watchers. It keeps all records; pieces of an operation go once its completion is there.
type hub struct {
	mu      sync.Mutex
	updates []Update
	changed chan struct{}
	closed  bool
}

func newHub(recs []journal.Record) *hub {
	h := &hub{changed: make(chan struct{})}
	for i := range recs {
		h.updates = append(h.updates, Update{Record: &recs[i]})
	}
	return h
}

func (h *hub) add(us ...Update) {
	h.mu.Lock()
	h.updates = append(h.updates, us...)
	close(h.changed)
	h.changed = make(chan struct{})
	h.mu.Unlock()
}

func (h *hub) piece(p Piece) { h.add(Update{Piece: &p}) }

func (h *hub) records(recs []journal.Record) {
	us := make([]Update, len(recs))
	for i := range recs {
		us[i] = Update{Record: &recs[i]}
	}
	h.add(us...)
}

func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	close(h.changed)
	h.mu.Unlock()
}

// Watch gives the updates of the run from record number from on, then live ones until the run ends, this process stops
// driving it, or ctx is done.
func (l *Live) Watch(ctx context.Context, from int64) iter.Seq[Update] {
	return func(yield func(Update) bool) {
		for at := 0; ; {
			l.hub.mu.Lock()
			fresh := l.hub.updates[at:len(l.hub.updates):len(l.hub.updates)]
			closed, changed := l.hub.closed, l.hub.changed
			l.hub.mu.Unlock()
			at += len(fresh)
			for _, u := range fresh {
				if u.Record != nil && u.Record.Seq < from {
					continue
				}
				if !yield(u) {
					return
				}
			}
			if closed {
				return
			}
			if len(fresh) > 0 {
				continue
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// pollEvery is how often a run that another process drives is looked at.
const pollEvery = 200 * time.Millisecond

// Watch gives the updates of any run of the owner: live ones with provisional text if this process drives it, else its
// records as they appear in the store, until it has ended or ctx is done.
func (e *Engine) Watch(ctx context.Context, owner journal.Owner, id string, from int64) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		if live := e.Live(id); live != nil && live.owner == owner {
			for u := range live.Watch(ctx, from) {
				if !yield(u, nil) {
					return
				}
			}
			return
		}
		for {
			r, err := e.Store.Run(ctx, owner, id)
			if err != nil {
				yield(Update{}, err)
				return
			}
			recs, err := e.Store.Records(ctx, owner, id, from)
			if err != nil {
				yield(Update{}, err)
				return
			}
			for i := range recs {
				if !yield(Update{Record: &recs[i]}, nil) {
					return
				}
			}
			from += int64(len(recs))
			if r.Status != journal.Running {
				return
			}
			tick, stop := e.Clock.After(pollEvery)
			select {
			case <-tick:
			case <-ctx.Done():
				stop()
				return
			}
		}
	}
}

// traceEvent notes one event of the step that takes in record seq. Control nodes are noted only where they decided something of their own.
func (d *driver) traceEvent(seq int64, e bt.Event) {
	step := d.stepTrace(seq)
	n := d.tree.Node(e.Node)
	ev := TraceEvent{Path: n.Path, Note: clip(e.Note)}
	switch e.Kind {
	case bt.Wrote:
		ev.Key, ev.Value = e.Key, clip(fmt.Sprint(e.Value))
	case bt.Halted:
		ev.Status = "HALTED"
	case bt.Ticked:
		if !n.Leaf && e.Status != bt.Skipped && n.Type != "Loop" && n.Type != "Timeout" {
			return
		}
		ev.Status = e.Status.String()
	}
	step.Events = append(step.Events, ev)
}

func (d *driver) stepTrace(seq int64) *TraceStep {
	if n := len(d.trace); n == 0 || d.trace[n-1].Record != seq {
		d.trace = append(d.trace, TraceStep{Record: seq})
	}
	return &d.trace[len(d.trace)-1]
}

func (d *driver) traceStep(seq int64, r bt.Result) {
	step := d.stepTrace(seq)
	step.Status = r.Status.String()
	step.Cancel = r.Cancel
	for _, e := range r.Start {
		label := e.Label
		if label == "" {
			label = e.Kind
		}
		step.Start = append(step.Start, label)
	}
}

// dropTraced forgets the steps whose traces are in the journal already.
func (d *driver) dropTraced() {
	kept := d.trace[:0]
	for _, s := range d.trace {
		if s.Record > d.f.traced {
			kept = append(kept, s)
		}
	}
	d.trace = kept
}

const clipAt = 160

// clip shortens a note for the trace.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "�")
	if r := []rune(s); len(r) > clipAt {
		return string(r[:clipAt-1]) + "…"
	}
	return s
}

// Explain gives what the steps of a run decided, from its trace records.
func Explain(recs []journal.Record) ([]TraceStep, error) {
	var steps []TraceStep
	for _, r := range recs {
		if r.Kind != KindTrace {
			continue
		}
		t, err := decode[TraceRecord](r)
		if err != nil {
			return nil, err
		}
		steps = append(steps, t.Steps...)
	}
	return steps, nil
}
