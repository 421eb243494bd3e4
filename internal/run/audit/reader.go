package audit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// Of makes the audit of a run from its records so far. steps are the decisions, as Explain returns them; nil: those of
// the trace record, which comes with the end. detail, which may be nil, returns the assistant's details of a receipt,
// whose Asked and Value are not set.
func Of(r journal.Run, recs []journal.Record, steps []run.TraceStep, detail func(c *run.CompletionRecord) any) *Run {
	a := &reader{Run: Run{Run: r.ID, Session: r.Session, Assistant: r.Assistant, Title: r.Title, Status: r.Status,
		StartedAt: r.StartedAt,
		EndedAt:   r.EndedAt, Records: len(recs), Decisions: []Decision{}, Inputs: []Input{}, Remarks: []string{}},
		detail: detail, effects: map[uint64]*Effect{}, over: r.Status != journal.Running}
	if len(recs) == 0 || recs[0].Kind != run.KindStart {
		a.addRemark("the first record is no start")
	}
	for _, rec := range recs {
		a.addRecord(rec)
	}
	if steps == nil {
		steps = a.traced
	}
	a.remarkUntraced(steps)
	for i := range steps {
		a.addStep(&steps[i])
	}
	a.settleEffects()
	return &a.Run
}

// reader collects an audit from records and steps.
type reader struct {
	Run
	detail      func(c *run.CompletionRecord) any
	effects     map[uint64]*Effect // by operation
	stepRecords []journal.Record   // the records that the tree took a step on
	traced      []run.TraceStep
	over        bool // the run ended or was stopped
}

func (a *reader) addRemark(format string, args ...any) {
	a.Remarks = append(a.Remarks, fmt.Sprintf(format, args...))
}

// addRecord collects the inputs, effects, receipts, decisions and the end that a record has.
func (a *reader) addRecord(rec journal.Record) {
	if rec.Kind == run.KindStart || rec.Kind == run.KindCompletion || rec.Kind == run.KindTime {
		a.stepRecords = append(a.stepRecords, rec)
	}
	body, err := run.Read(rec)
	if err != nil {
		a.addRemark("%v", err)
		if otherType := new(json.UnmarshalTypeError); !errors.As(err, &otherType) {
			return
		}
	}
	in := Input{Record: rec.Seq, At: rec.At, Kind: rec.Kind}
	switch b := body.(type) {
	case *run.StartRecord:
		a.Build, a.TreeFile, a.Tree = b.Build, b.TreeFile, b.Tree
		a.remarkMissing(rec, "build", b.Build, "tree", b.Tree)
		return
	case *run.MarkRecord:
		e := a.effectOf(b.Op)
		e.Leaf, e.Digest, e.Once, e.Mark = b.Leaf, b.Digest, true, &rec.Seq
		return
	case *run.CompletionRecord:
		a.addReceipt(rec, b)
		return
	case *run.TraceRecord:
		a.traced = append(a.traced, b.Decided...)
		return
	case *run.EndRecord:
		a.over = true
		a.End = &End{Record: rec.Seq, At: rec.At, RunMS: b.Now, Status: b.Status, Reason: b.Reason, Fault: b.Fault}
		return
	case *run.TimeRecord:
		in.RunMS = b.Now
	case *run.CancelRecord:
		in.Reason = b.Reason
	case *run.StoppedRecord:
		in.RunMS, a.over = b.Now, true
		for i := range b.Under {
			a.addReceipt(rec, &b.Under[i])
		}
	case *run.LeaveRecord:
		in.RunMS, in.Holder = b.Now, b.Holder
	case *run.ResumeRecord:
		in.RunMS, in.Holder, in.Build, in.Repeated = b.Now, b.Holder, b.Build, b.Repeated
		for _, op := range b.Repeated {
			a.effectOf(op).Repeated++
		}
	}
	a.Inputs = append(a.Inputs, in)
}

// remarkMissing adds a remark for each empty value of a record. named alternates names and values.
func (a *reader) remarkMissing(rec journal.Record, named ...string) {
	for i := 0; i < len(named); i += 2 {
		if named[i+1] == "" {
			a.addRemark("record %d (%s) names no %s", rec.Seq, rec.Kind, named[i])
		}
	}
}

// addReceipt enters a completion, from its own record or from a stopped record.
func (a *reader) addReceipt(rec journal.Record, c *run.CompletionRecord) {
	e := a.effectOf(c.Op)
	e.RequestedEffect = c.RequestedEffect
	e.Once, e.Receipt, e.Stopped = c.Once || e.Mark != nil, &rec.Seq, rec.Kind == run.KindStopped
	e.At, e.RunMS, e.TookMS = rec.At, c.Now, c.TookMS
	if e.State = OK; c.Found {
		e.State = Found
	}
	if c.Err != nil {
		faults := map[string]State{run.KindUnknown: Unknown, run.KindCancelled: Withdrawn}
		e.State, e.Why = cmp.Or(faults[c.Err.Kind], Failed), c.Err.Reason
	}
	a.remarkMissing(rec, "kind of effect", c.Kind, "leaf", c.Leaf, "digest", c.Digest)
	if a.detail != nil {
		e.Detail = a.detail(c)
	}
}

// remarkUntraced adds a remark for each record without a decision.
func (a *reader) remarkUntraced(steps []run.TraceStep) {
	if len(steps) == 0 && len(a.stepRecords) > 0 {
		a.addRemark("what the tree decided is not in the journal")
		return
	}
	for _, rec := range a.stepRecords {
		if !slices.ContainsFunc(steps, func(s run.TraceStep) bool { return s.Record == rec.Seq }) {
			a.addRemark("what the tree decided on record %d (%s) is not in the journal", rec.Seq, rec.Kind)
		}
	}
}

// addStep adds the decisions of a step, and the effects that it requested and withdrew.
func (a *reader) addStep(s *run.TraceStep) {
	for _, asked := range s.Start {
		e := a.effectOf(asked.Op)
		e.RequestedEffect, e.Asking = asked, &s.Record
	}
	for _, op := range s.Cancel {
		if e := a.effects[op]; e != nil && e.Receipt == nil {
			e.markWithdrawn("the tree withdrew it")
		}
	}
	var d *Decision // of a node whose status has not come yet
	for _, e := range s.Events {
		if d == nil || d.Rule != e.Rule || e.Type != "" && d.Type != "" {
			a.Decisions = append(a.Decisions, Decision{Record: s.Record, Rule: e.Rule})
			d = &a.Decisions[len(a.Decisions)-1]
		}
		switch {
		case e.Key != "":
			d.Wrote = append(d.Wrote, Written{Key: e.Key, Value: e.Value})
		case e.Type != "":
			d.Type, d.Data = e.Type, e.Data
		default:
			d.Status, d.Reason = e.Status, e.Reason
			d = nil
		}
	}
}

// settleEffects sets the state of the effects without a receipt.
func (a *reader) settleEffects() {
	a.Effects = []Effect{}
	for _, op := range slices.Sorted(maps.Keys(a.effects)) {
		e := a.effects[op]
		switch {
		case e.State != "":
		case a.over:
			e.markWithdrawn("the run is over")
		default:
			e.State = UnderWay
		}
		a.Effects = append(a.Effects, *e)
	}
}

// markWithdrawn sets the state of an effect that will have no receipt. An effect with a mark writes, so its state is
// unknown.
func (e *Effect) markWithdrawn(why string) {
	e.State, e.Why = Withdrawn, why
	if e.Mark != nil {
		e.State, e.Why = Unknown, why+", and nobody can tell whether it took effect"
	}
}

// effectOf returns the effect of an operation, and adds it if it is new.
func (a *reader) effectOf(op uint64) *Effect {
	if a.effects[op] == nil {
		a.effects[op] = &Effect{RequestedEffect: run.RequestedEffect{Op: op}}
	}
	return a.effects[op]
}
