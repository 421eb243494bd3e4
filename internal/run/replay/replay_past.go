package run

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// past is what the records of a run say: what came in, what was decided on it, and what came of that.
type past struct {
	recs     []journal.Record
	start    StartRecord
	receipts map[uint64]Asked // by operation: all that there is a completion, a mark or a last word of
	inputs   []input          // in the order of the records
	steps    []*pastStep      // likewise
	cancel   *CancelRecord
	stopped  *StoppedRecord
	end      *EndRecord
}

// input is a completion or a time that came in.
type input struct {
	record int64
	now    int64
	done   *CompletionRecord // nil: time only
}

// pastStep is what was decided on one record.
type pastStep struct {
	TraceStep
	known  bool   // what it decided
	exact  bool   // it is known from the tree itself: asked is complete, and due is known
	status string // like Status, but for a tree that waits for nothing: that one has failed
	asked  []Asked
	due    int64
}

// recall reads records, each of which must be readable.
func recall(recs []journal.Record) (*past, error) {
	p := &past{recs: recs, receipts: map[uint64]Asked{}}
	var err error
	if p.start, err = startOf(recs); err != nil {
		return nil, err
	}
	traced, err := Explain(recs)
	if err != nil {
		return nil, err
	}
	for _, r := range recs {
		if err := p.read(r); err != nil {
			return nil, err
		}
	}
	for _, t := range traced {
		if s := p.step(t.Record); s != nil {
			s.TraceStep, s.known, s.status = t, true, t.Status
		}
	}
	if p.end != nil && p.end.Fault != nil && p.end.Fault.Kind == kindStalled {
		p.last().status = bt.Failure.String()
	}
	return p, nil
}

func (p *past) read(r journal.Record) error {
	var err error
	switch r.Kind {
	case KindStart:
		p.takesIn(r.Seq)
	case KindCompletion:
		var c CompletionRecord
		if c, err = decode[CompletionRecord](r); err == nil {
			p.takesIn(r.Seq)
			p.inputs = append(p.inputs, input{record: r.Seq, now: c.Now, done: &c})
			p.receipts[c.Op] = askedIn(c, r.Seq)
		}
	case KindTime:
		var t TimeRecord
		if t, err = decode[TimeRecord](r); err == nil {
			p.takesIn(r.Seq)
			p.inputs = append(p.inputs, input{record: r.Seq, now: t.Now})
		}
	case KindMark:
		var m MarkRecord
		if m, err = decode[MarkRecord](r); err == nil {
			p.receipts[m.Op] = Asked{Leaf: m.Leaf, op: m.Op, digest: m.Digest}
		}
	case KindStopped:
		var s StoppedRecord
		s, err = decode[StoppedRecord](r)
		p.stopped = &s
		for _, c := range s.Under {
			p.receipts[c.Op] = askedIn(c, 0)
		}
	case KindCancel:
		var c CancelRecord
		c, err = decode[CancelRecord](r)
		if p.cancel == nil {
			p.cancel = &c
		}
	case KindEnd:
		var e EndRecord
		e, err = decode[EndRecord](r)
		p.end = &e
	case KindResume:
		_, err = decode[ResumeRecord](r)
	case KindTrace:
	default:
		err = fmt.Errorf("%w: record %d is of the unknown kind %q", journal.ErrCorrupt, r.Seq, r.Kind)
	}
	return err
}

func (p *past) takesIn(seq int64) {
	p.steps = append(p.steps, &pastStep{TraceStep: TraceStep{Record: seq}})
}

func askedIn(c CompletionRecord, seq int64) Asked {
	return Asked{Leaf: c.Leaf, Kind: c.Kind, Label: c.Label, Payload: c.Payload, Record: seq, op: c.Op, digest: c.Digest}
}

// askedBy is an effect as records would have it.
func askedBy(e bt.Effect, redact func([]byte) []byte) Asked {
	return Asked{Leaf: e.Leaf, Kind: e.Kind, Label: string(redact([]byte(e.Label))), Payload: redact(e.Payload), op: e.Op, digest: Digest(e)}
}

// step gives the step that took in a record, nil if none did.
func (p *past) step(record int64) *pastStep {
	i, found := slices.BinarySearchFunc(p.steps, record, func(s *pastStep, record int64) int { return int(s.Record - record) })
	if !found {
		return nil
	}
	return p.steps[i]
}

// before gives the last step that took in a record before this one.
func (p *past) before(record int64) *pastStep {
	i, _ := slices.BinarySearchFunc(p.steps, record, func(s *pastStep, record int64) int { return int(s.Record - record) })
	return p.steps[i-1]
}

// beforeEnd gives the records that there were when the outcome was made: the trace of the last step comes with the end.
func (p *past) beforeEnd() []journal.Record {
	n := len(p.recs)
	if p.end != nil {
		n--
		if p.recs[n-1].Kind == KindTrace {
			n--
		}
	}
	return p.recs[:n:n]
}

func (p *past) last() *pastStep { return p.steps[len(p.steps)-1] }

// over says that the tree itself ended the run.
func (p *past) over() bool {
	if last := p.last(); last.known {
		return last.status != bt.Running.String()
	}
	return p.end != nil && p.stopped == nil
}

// follow takes the records through the tree they were made by, as far as this build decides by it what they say. It knows more
// than traces do: all of an effect that was withdrawn, timers, and the last step of a run that was interrupted.
func (p *past) follow(tree *bt.Tree, redact func([]byte) []byte) {
	f := newFolded(tree)
	for _, rec := range p.recs {
		in, step, err := f.take(tree, rec)
		if err != nil {
			return
		}
		if !step {
			continue
		}
		told := stepTold(f, tree, in, rec.Seq, redact)
		s := p.step(rec.Seq)
		if !p.agrees(s, f.last, told) {
			return
		}
		if !s.known {
			s.TraceStep, s.known, s.status = told, true, f.status()
		}
		s.exact, s.due = true, f.last.Due
		for _, e := range f.last.Start {
			a := askedBy(e, redact)
			a.Record = p.receipts[e.Op].Record
			s.asked = append(s.asked, a)
		}
	}
}

// agrees says whether a step decides as the records say.
func (p *past) agrees(s *pastStep, r bt.Result, told TraceStep) bool {
	if s.known && (s.Status != told.Status || !slices.Equal(s.Start, told.Start) || !slices.Equal(s.Cancel, told.Cancel)) {
		return false
	}
	for _, e := range r.Start {
		if got, ok := p.receipts[e.Op]; ok && (got.Leaf != e.Leaf || got.digest != Digest(e)) {
			return false
		}
	}
	return true
}

// guess finds, of the steps that the tree does not tell, what they asked for: the receipts of the labels in their traces.
func (p *past) guess() {
	taken := map[uint64]bool{}
	for _, s := range p.steps {
		for _, a := range s.asked {
			taken[a.op] = true
		}
	}
	ops := slices.Sorted(maps.Keys(p.receipts))
	for _, s := range p.steps {
		if s.exact {
			continue
		}
		for _, label := range s.Start {
			asked := Asked{Label: label}
			for _, op := range ops {
				if got := p.receipts[op]; !taken[op] && got.Name() == label {
					asked, taken[op] = got, true
					break
				}
			}
			s.asked = append(s.asked, asked)
		}
	}
}

// stepTold takes an input in and tells the step as a trace record would.
func stepTold(f *folded, tree *bt.Tree, in bt.Input, seq int64, redact func([]byte) []byte) TraceStep {
	var t traces
	f.step(tree, in, func(e bt.Event) { t.event(tree, seq, e) })
	t.decided(seq, f.last)
	told := *t.at(seq)
	// A trace that went through its record differs in small things, such as an empty list, and holds no secret.
	raw, err := json.Marshal(told)
	if err != nil {
		return told
	}
	var kept TraceStep
	if err := json.Unmarshal(redact(raw), &kept); err != nil {
		return told
	}
	return kept
}
