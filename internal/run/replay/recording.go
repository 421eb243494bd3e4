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

// recording is a recorded run: its inputs, what was decided on them, and the results.
type recording struct {
	a      *run.Assistant
	redact func([]byte) []byte

	view      *run.View        // the run as it was when its outcome was made
	asked     map[uint64]Asked // the known requests, by operation
	steps     []*step          // in the order of the records
	cancel    *run.CancelRecord
	stopped   *run.StoppedRecord
	end       *run.EndRecord
	endRecord journal.Record // with the end
}

// step is one input (start, completion or time) and what was decided on it. Status is empty if the decision is not
// known, and FAILURE if the tree waited for nothing.
type step struct {
	run.TraceStep
	at   Moment
	body any // a start has only the inputs that this build's trees may read
	now  int64
}

func (s *step) isKnown() bool { return s.Status != "" }

// readRecording reads the records of a run. It fails if one is unreadable.
func readRecording(e *run.Engine, row journal.Run, recs []journal.Record) (*recording, error) {
	start, err := run.StartOf(recs)
	if err != nil {
		return nil, err
	}
	r := &recording{a: e.Assistant(start.Assistant), redact: e.Redact, asked: map[uint64]Asked{}}
	if r.a == nil {
		return nil, fmt.Errorf("%w: this program has no assistant %q", run.ErrUnfit, start.Assistant)
	}
	if r.endRecord = recs[len(recs)-1]; r.endRecord.Kind == run.KindEnd {
		body, err := run.Read(r.endRecord)
		if err != nil {
			return nil, err
		}
		r.end = body.(*run.EndRecord)
		recs = recs[:len(recs)-1]
	}
	traced, err := run.ReadTrace(recs)
	if err != nil {
		return nil, err
	}
	if last := len(recs) - 1; recs[last].Kind == run.KindTrace {
		recs = recs[:last]
	}
	if r.view, err = r.a.Recorded(e.Store, row, recs); err != nil {
		return nil, err
	}
	decided := map[int64]run.TraceStep{}
	for _, s := range traced {
		decided[s.Record] = s
	}
	for seq, body := range r.view.Bodies() {
		r.addRecord(int64(seq), body, decided[int64(seq)])
	}
	if r.end != nil && r.end.Fault != nil && r.end.Fault.Kind == run.KindStalled {
		r.steps[len(r.steps)-1].Status = bt.Failure.String()
	}
	return r, nil
}

// addRecord adds a record and what was decided on it.
func (r *recording) addRecord(seq int64, body any, decided run.TraceStep) {
	add := func(body any, now int64) {
		at := Moment{Record: seq, Step: len(r.steps) + 1}
		r.steps = append(r.steps, &step{TraceStep: decided, at: at, body: body, now: now})
	}
	switch b := body.(type) {
	case *run.StartRecord:
		start := *b
		start.Given = maps.Clone(b.Given)
		maps.DeleteFunc(start.Given, func(key string, _ json.RawMessage) bool {
			return !slices.ContainsFunc(r.a.Options.Given, func(p bt.Port) bool { return p.Name == key })
		})
		add(&start, 0)
	case *run.CompletionRecord:
		add(b, b.Now)
		r.asked[b.Op] = Asked{b.RequestedEffect, b.Payload, seq}
	case *run.TimeRecord:
		add(b, b.Now)
	case *run.StoppedRecord:
		r.stopped = b
		for _, c := range b.Under {
			r.asked[c.Op] = Asked{RequestedEffect: c.RequestedEffect, Payload: c.Payload}
		}
	case *run.CancelRecord:
		if r.cancel == nil {
			r.cancel = b
		}
	}
}

func (r *recording) requestsOf(s *step) (all []Asked) {
	for _, a := range s.Start {
		known := r.asked[a.Op]
		all = append(all, Asked{a, known.Payload, known.Record})
	}
	return all
}

// lastStep returns a fold's last decision and its requests, redacted as in records.
func (r *recording) lastStep(f *run.Fold) (s run.TraceStep, starts []Asked, err error) {
	if s, err = f.LastStep(r.redact); err != nil {
		return s, nil, err
	}
	for i, e := range f.Last().Start {
		starts = append(starts, Asked{RequestedEffect: s.Start[i], Payload: r.redact(e.Payload)})
	}
	return s, starts, nil
}

// decideByFold folds a run that has no trace yet, to fill in its decisions, up to the first that differs from its
// records.
func (r *recording) decideByFold(tree *bt.Tree) {
	f := run.NewFold(r.a, tree)
	steps := r.steps
	for seq, body := range r.view.Bodies() {
		if seq == 0 {
			body = steps[0].body
		}
		stepped, err := f.Take(int64(seq), body)
		if err != nil {
			return
		}
		if !stepped {
			continue
		}
		decided, starts, err := r.lastStep(f)
		if err != nil || slices.ContainsFunc(starts, r.contradicts) {
			return
		}
		for _, a := range starts {
			if _, told := r.asked[a.Op]; !told {
				r.asked[a.Op] = a
			}
		}
		decided.Status = f.Ending().Status.String()
		steps[0].TraceStep = decided
		steps = steps[1:]
	}
}

// contradicts says whether the recorded request of an operation differs from this one.
func (r *recording) contradicts(a Asked) bool {
	told, ok := r.asked[a.Op]
	return ok && !told.isSame(a)
}

// endedByTree says whether the tree itself ended the run.
func (r *recording) endedByTree() bool {
	if last := r.steps[len(r.steps)-1]; last.isKnown() {
		return last.Status != bt.Running.String()
	}
	return r.end != nil && r.stopped == nil
}
