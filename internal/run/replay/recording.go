package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// recording is what the records of a run say: what came in, what was decided on it, and what came of that.
type recording struct {
	a      *run.Assistant
	redact func([]byte) []byte

	start    *run.StartRecord // with what this build's trees may read of what the run was given
	view     *run.View        // the run as it was when its outcome was made
	receipts map[uint64]Asked // by operation: all that a record tells of
	steps    []*step          // in the order of the records
	cancel   *run.CancelRecord
	stopped  *run.StoppedRecord
	end      *run.EndRecord
	ended    journal.Record // that holds the end
}

// step is the start, a completion or a time that came in, and what was decided on it. It has no status where that is
// not known; that of a tree that waits for nothing is FAILURE.
type step struct {
	run.TraceStep
	place int                   // counted from 1; 0: the recorded run has no such step
	done  *run.CompletionRecord // nil: time only
	now   int64
	timer int64 // of a step that the recorded run has not: when it is due
	asked []Asked
}

func (s *step) known() bool { return s.Status != "" }

func (s *step) moment() Moment { return Moment{Record: s.Record, Step: s.place, Timer: s.timer} }

// read reads records, each of which must be readable.
func read(e *run.Engine, row journal.Run, recs []journal.Record) (*recording, error) {
	if len(recs) == 0 || recs[0].Kind != run.KindStart {
		return nil, fmt.Errorf("%w: the first record is not a start", journal.ErrCorrupt)
	}
	first, err := run.Read(recs[0])
	if err != nil {
		return nil, err
	}
	start := *first.(*run.StartRecord)
	r := &recording{a: e.Assistant(start.Assistant), redact: e.Redact, start: &start, receipts: map[uint64]Asked{}}
	if r.a == nil {
		return nil, fmt.Errorf("%w: this program has no assistant %q", run.ErrUnfit, start.Assistant)
	}
	start.Given = maps.Clone(start.Given)
	maps.DeleteFunc(start.Given, func(key string, _ json.RawMessage) bool {
		return !slices.ContainsFunc(r.a.Options.Given, func(p bt.Port) bool { return p.Name == key })
	})
	if r.ended = recs[len(recs)-1]; r.ended.Kind == run.KindEnd {
		body, err := run.Read(r.ended)
		if err != nil {
			return nil, err
		}
		r.end = body.(*run.EndRecord)
		recs = recs[:len(recs)-1]
	}
	traced, err := run.Traced(recs)
	if err != nil {
		return nil, err
	}
	if last := len(recs) - 1; recs[last].Kind == run.KindTrace {
		recs = recs[:last]
	}
	if r.view, err = r.a.Recorded(e.Store, row, recs); err != nil {
		return nil, err
	}
	for seq, body := range r.view.Bodies() {
		r.record(int64(seq), body)
	}
	r.decided(traced)
	if r.end != nil && r.end.Fault != nil && r.end.Fault.Kind == run.KindStalled {
		r.steps[len(r.steps)-1].Status = bt.Failure.String()
	}
	return r, nil
}

func (r *recording) record(seq int64, body any) {
	switch b := body.(type) {
	case *run.StartRecord:
		r.add(seq, step{})
	case *run.CompletionRecord:
		r.add(seq, step{done: b, now: b.Now})
		r.receipts[b.Op] = askedIn(b, seq)
	case *run.TimeRecord:
		r.add(seq, step{now: b.Now})
	case *run.StoppedRecord:
		r.stopped = b
		for i := range b.Under {
			r.receipts[b.Under[i].Op] = askedIn(&b.Under[i], 0)
		}
	case *run.CancelRecord:
		if r.cancel == nil {
			r.cancel = b
		}
	}
}

func (r *recording) add(seq int64, s step) {
	s.Record, s.place = seq, len(r.steps)+1
	r.steps = append(r.steps, &s)
}

func askedIn(c *run.CompletionRecord, seq int64) Asked {
	return Asked{run.Asked{Op: c.Op, Leaf: c.Leaf, Kind: c.Kind, Label: c.Label, Digest: c.Digest}, c.Payload, seq}
}

// askedBy is an effect of the replay as records would have it.
func (r *recording) askedBy(e bt.Effect) Asked {
	label := string(r.redact([]byte(e.Label)))
	return Asked{Asked: run.Asked{Op: e.Op, Leaf: e.Leaf, Kind: e.Kind, Label: label, Digest: run.Digest(e)},
		Payload: r.redact(e.Payload)}
}

// decided fills in what the steps decided.
func (r *recording) decided(traced []run.TraceStep) {
	for _, t := range traced {
		i := slices.IndexFunc(r.steps, func(s *step) bool { return s.Record == t.Record })
		if i < 0 {
			continue
		}
		s := r.steps[i]
		s.TraceStep = t
		for _, a := range t.Start {
			got := r.receipts[a.Op]
			s.asked = append(s.asked, Asked{a, got.Payload, got.Record})
		}
	}
}

// fold takes the records of a run that has no trace yet through its tree, as far as this build decides what they say.
func (r *recording) fold(tree *bt.Tree) {
	f := run.NewFold(r.a, tree)
	for seq, body := range r.view.Bodies() {
		if seq == 0 {
			body = r.start
		}
		stepped, err := f.Take(int64(seq), body)
		if err != nil {
			return
		}
		if !stepped {
			continue
		}
		s, err := f.LastStep(r.redact)
		if err != nil || slices.ContainsFunc(s.Start, r.contradicts) {
			return
		}
		s.Status = f.Ending().Status.String()
		r.decided([]run.TraceStep{s})
		decided := r.steps[slices.IndexFunc(r.steps, func(s *step) bool { return s.Record == int64(seq) })]
		for i, e := range f.Last().Start { // nobody else knows what an effect without receipt was asked with
			decided.asked[i].Payload = r.redact(e.Payload)
		}
	}
}

// contradicts says whether the records have something else of an operation than this build asks for.
func (r *recording) contradicts(a run.Asked) bool {
	got, ok := r.receipts[a.Op]
	return ok && (got.Leaf != a.Leaf || got.Digest != a.Digest)
}

// over says that the tree itself ended the run.
func (r *recording) over() bool {
	if last := r.steps[len(r.steps)-1]; last.known() {
		return last.Status != bt.Running.String()
	}
	return r.end != nil && r.stopped == nil
}
