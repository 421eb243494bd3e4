package oracle

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/signal"
)

// RunAudit is what the journal holds on one run: every signal of the model, every decision of the tree, every effect with
// its receipt, and what came from outside, each list in order (FR-009, SC-009). It encodes as the JSON of
// ‘sibyl session audit --json’. Records are numbered from 0, turns of the model from 1; turn 0 is before the first.
type RunAudit struct {
	Run       string            `json:"run_id"`
	Session   string            `json:"session_id"`
	Assistant string            `json:"assistant"`
	Question  string            `json:"question"`
	Status    journal.Status    `json:"status"`
	StartedAt time.Time         `json:"started_at"`
	EndedAt   time.Time         `json:"ended_at,omitzero"`
	Records   int               `json:"records"`
	Build     string            `json:"build"`
	TreeFile  string            `json:"tree_file"`
	Tree      string            `json:"tree"` // the blob that holds it
	Signals   []AuditedSignal   `json:"signals"`
	Decisions []AuditedDecision `json:"decisions"`
	Effects   []AuditedEffect   `json:"effects"`
	Events    []AuditedEvent    `json:"events"`
	End       *AuditedEnd       `json:"end,omitempty"` // none: the run is not over
	Remarks   []string          `json:"remarks"`       // what the records lack, or hold that can't be read
}

// AuditedSignal is markup of a signal that the model wrote. Exactly one of Signal and Malformed is set; both hold it raw.
type AuditedSignal struct {
	Turn      int             `json:"turn"`
	Record    int64           `json:"record"` // that holds it
	Signal    *signal.Signal  `json:"signal,omitempty"`
	Malformed *signal.Problem `json:"malformed,omitempty"`
	Fate      Fate            `json:"fate"`
	Why       string          `json:"why"`            // in words
	Rule      string          `json:"rule,omitempty"` // the node of the tree that asked for it, or that decided without it
}

// Fate is what became of a signal.
type Fate string

// The fates of a signal.
const (
	Steered Fate = "steered" // a rule of the tree asked for it
	Noted   Fate = "noted"   // the tree took it in, and decided by a rule that did not ask for it
	Ignored Fate = "ignored" // the tree did not see it
	Pending Fate = "pending" // what it led to is not in the journal yet
)

// AuditedDecision is one word of the tree. Its rule is the path of the node that said it.
type AuditedDecision struct {
	Record int64     `json:"record"` // that the step took in
	Turn   int       `json:"turn"`   // the last one that was taken in by then
	Rule   string    `json:"rule"`
	Status string    `json:"status,omitempty"` // SUCCESS, FAILURE, RUNNING or SKIPPED as in BehaviorTree.CPP, or HALTED
	Note   string    `json:"note,omitempty"`
	Wrote  []Written `json:"wrote,omitempty"`
}

// Written is a key that a node set, with the beginning of its value.
type Written struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// AuditedEffect is something that the tree asked for. What the records do not say is empty. Turn is the one that it belongs to;
// of an effect without receipt, the last one that was taken in when it was asked for.
type AuditedEffect struct {
	Op       uint64      `json:"op"`
	Turn     int         `json:"turn"`
	Kind     string      `json:"kind"`
	Label    string      `json:"label"`
	Leaf     string      `json:"leaf"`
	Digest   string      `json:"digest"`
	Once     bool        `json:"once"`
	Asked    *int64      `json:"asked_record,omitempty"`   // whose step asked for it
	Mark     *int64      `json:"mark_record,omitempty"`    // before it was performed, if it is once
	Receipt  *int64      `json:"receipt_record,omitempty"` // its completion, or the record of the stop
	At       time.Time   `json:"at,omitzero"`              // of the receipt
	RunMS    int64       `json:"run_ms"`                   // of the receipt
	TookMS   int64       `json:"took_ms"`
	State    EffectState `json:"state"`
	Why      string      `json:"why,omitempty"`
	Stopped  bool        `json:"under_way_at_stop,omitempty"`
	Repeated int         `json:"repeated,omitempty"` // how often it was performed again after an interruption

	Arguments string `json:"arguments,omitempty"` // of a call of a tool
	Model     string `json:"model,omitempty"`     // that answered
	Attempts  int    `json:"attempts,omitempty"`  // at asking it
	Prompt    string `json:"prompt,omitempty"`    // hash of what the model was told
}

// EffectState is how an effect stands.
type EffectState string

// The states of an effect.
const (
	EffectOK        EffectState = "ok"
	EffectFailed    EffectState = "failed"
	EffectFound     EffectState = "found"     // performed before a crash, and found by its key afterwards
	EffectWithdrawn EffectState = "withdrawn" // by the tree or by a stop; it only reads
	EffectUnknown   EffectState = "unknown"   // it writes, and nobody can tell whether it took effect
	EffectUnderWay  EffectState = "under way" // the run is not over, and it has no receipt
)

// AuditedEvent is what came in beside receipts: a timer, a wish to stop, the stop, another driver.
type AuditedEvent struct {
	Record   int64     `json:"record"`
	At       time.Time `json:"at"`
	Kind     string    `json:"kind"` // time, cancel, stopped or resume
	RunMS    int64     `json:"run_ms,omitempty"`
	Reason   string    `json:"reason,omitempty"`   // of the wish
	Holder   string    `json:"holder,omitempty"`   // who took over
	Build    string    `json:"build,omitempty"`    // and with which program
	Repeated []uint64  `json:"repeated,omitempty"` // the operations that were performed again
}

// AuditedEnd is how the run ended and why.
type AuditedEnd struct {
	Record     int64          `json:"record"`
	At         time.Time      `json:"at"`
	RunMS      int64          `json:"run_ms"`
	Status     journal.Status `json:"status"`
	Fault      *bt.Fault      `json:"fault,omitempty"`
	StopReason string         `json:"stop_reason"`
	Caveat     string         `json:"caveat,omitempty"`
	Turns      int            `json:"turns"`
	MaxTurns   int            `json:"max_turns"`
	Model      string         `json:"model"`
	Gaps       []string       `json:"capability_gaps,omitempty"`
}

// Audit reads the records of a run, as far as they go. It decides nothing: it only tells what is written, and remarks on
// what it misses. Records of other builds are read as far as they are alike.
func Audit(r journal.Run, recs []journal.Record) RunAudit {
	a := &auditor{RunAudit: RunAudit{Run: r.ID, Session: r.Session, Assistant: r.Assistant, Question: r.Title, Status: r.Status,
		StartedAt: r.StartedAt, EndedAt: r.EndedAt, Records: len(recs), Signals: []AuditedSignal{}, Decisions: []AuditedDecision{},
		Effects: []AuditedEffect{}, Events: []AuditedEvent{}, Remarks: []string{}}, turnAt: map[int64]int{}, ops: map[uint64]*AuditedEffect{}}
	for _, rec := range recs {
		a.record(rec)
	}
	if len(recs) == 0 || recs[0].Kind != run.KindStart {
		a.remark("the first record is no start")
	}
	a.untraced(r, recs)
	a.decide()
	a.number()
	a.settle(r)
	a.judge()
	return a.RunAudit
}

// auditor is an audit in the making.
type auditor struct {
	RunAudit
	steps  []run.TraceStep
	turns  int                       // replies so far
	turnAt map[int64]int             // by the record that holds the reply
	ops    map[uint64]*AuditedEffect // whatever a record says of an operation
	over   bool                      // no effect is performed any more
}

func (a *auditor) remark(format string, args ...any) {
	a.Remarks = append(a.Remarks, fmt.Sprintf(format, args...))
}

// read decodes a record; what can't be is remarked on. A field of another type is no hindrance to the others.
func (a *auditor) read(rec journal.Record, into any) bool {
	err := json.Unmarshal(rec.Data, into)
	if err != nil {
		a.remark("record %d (%s) can't be read: %v", rec.Seq, rec.Kind, err)
	}
	var otherType *json.UnmarshalTypeError
	return err == nil || errors.As(err, &otherType)
}

func (a *auditor) record(rec journal.Record) {
	event := AuditedEvent{Record: rec.Seq, At: rec.At, Kind: rec.Kind}
	switch rec.Kind {
	case run.KindStart:
		a.start(rec)
	case run.KindMark:
		var m run.MarkRecord
		if a.read(rec, &m) {
			e := a.op(m.Op)
			e.Leaf, e.Digest, e.Once, e.Mark = m.Leaf, m.Digest, true, &rec.Seq
		}
	case run.KindCompletion:
		var c run.CompletionRecord
		if a.read(rec, &c) {
			a.receipt(rec, c)
		}
	case run.KindTrace:
		var t run.TraceRecord
		if a.read(rec, &t) {
			a.steps = append(a.steps, t.Steps...)
		}
	case run.KindTime:
		var t run.TimeRecord
		if a.read(rec, &t) {
			event.RunMS = t.Now
			a.Events = append(a.Events, event)
		}
	case run.KindCancel:
		var c run.CancelRecord
		if a.read(rec, &c) {
			event.Reason = c.Reason
			a.Events = append(a.Events, event)
		}
	case run.KindStopped:
		a.stopped(rec, event)
	case run.KindResume:
		a.resumed(rec, event)
	case run.KindEnd:
		a.end(rec)
	default:
		a.remark("record %d is of the kind %q, which this build does not know", rec.Seq, rec.Kind)
	}
}

func (a *auditor) start(rec journal.Record) {
	var s run.StartRecord
	if !a.read(rec, &s) {
		return
	}
	a.Build, a.TreeFile, a.Tree = s.Build, s.TreeFile, s.Tree
	if raw, ok := s.Given["question"]; !ok || json.Unmarshal(raw, &a.Question) != nil {
		a.remark("record %d (start) does not say the whole question", rec.Seq)
	}
	a.lacks(rec, map[string]string{"build": s.Build, "tree": s.Tree})
}

// lacks remarks on what a record should say and does not.
func (a *auditor) lacks(rec journal.Record, said map[string]string) {
	var missing []string
	for what, text := range said {
		if text == "" {
			missing = append(missing, what)
		}
	}
	slices.Sort(missing)
	for _, what := range missing {
		a.remark("record %d (%s) names no %s", rec.Seq, rec.Kind, what)
	}
}

func (a *auditor) stopped(rec journal.Record, event AuditedEvent) {
	var s run.StoppedRecord
	if !a.read(rec, &s) {
		return
	}
	event.RunMS = s.Now
	a.Events = append(a.Events, event)
	a.over = true
	for _, c := range s.Under {
		a.receipt(rec, c)
	}
}

func (a *auditor) resumed(rec journal.Record, event AuditedEvent) {
	var r run.ResumeRecord
	if !a.read(rec, &r) {
		return
	}
	event.RunMS, event.Holder, event.Build, event.Repeated = r.Now, r.Holder, r.Build, r.Repeated
	a.Events = append(a.Events, event)
	for _, op := range r.Repeated {
		a.op(op).Repeated++
	}
}

func (a *auditor) end(rec journal.Record) {
	var e run.EndRecord
	if !a.read(rec, &e) {
		return
	}
	a.over = true
	a.End = &AuditedEnd{Record: rec.Seq, At: rec.At, RunMS: e.Now, Status: e.Status, Fault: e.Fault}
	var said struct {
		StopReason string   `json:"stop_reason"`
		Caveat     string   `json:"caveat"`
		Turns      int      `json:"turns"`
		MaxTurns   int      `json:"max_turns"`
		Model      string   `json:"model"`
		Gaps       []string `json:"capability_gaps"`
	}
	if err := json.Unmarshal(e.Outcome, &said); err != nil {
		a.remark("record %d (end): its outcome can't be read: %v", rec.Seq, err)
		return
	}
	a.End.StopReason, a.End.Caveat, a.End.Turns, a.End.MaxTurns = said.StopReason, said.Caveat, said.Turns, said.MaxTurns
	a.End.Model, a.End.Gaps = said.Model, said.Gaps
	a.lacks(rec, map[string]string{"reason to stop": said.StopReason})
}

// untraced remarks on steps whose decisions are not in the journal. Those on the last input of a run come with its next
// record.
func (a *auditor) untraced(r journal.Run, recs []journal.Record) {
	traced := map[int64]bool{}
	for _, s := range a.steps {
		traced[s.Record] = true
	}
	takenIn := slices.DeleteFunc(slices.Clone(recs), func(rec journal.Record) bool {
		return rec.Kind != run.KindStart && rec.Kind != run.KindCompletion && rec.Kind != run.KindTime
	})
	for i, rec := range takenIn {
		if traced[rec.Seq] {
			continue
		}
		yet := ""
		if i == len(takenIn)-1 && r.Status == journal.Running {
			yet = " yet"
		}
		a.remark("what the tree decided on record %d (%s) is not in the journal%s", rec.Seq, rec.Kind, yet)
	}
}

// decide lists what the nodes said. A node writes its keys before it says how it ended.
func (a *auditor) decide() {
	for _, s := range a.steps {
		turn := a.turnBy(s.Record)
		wrote := map[string][]Written{}
		var order []string
		for _, e := range s.Events {
			if e.Key != "" {
				if wrote[e.Path] == nil {
					order = append(order, e.Path)
				}
				wrote[e.Path] = append(wrote[e.Path], Written{Key: e.Key, Value: e.Value})
				continue
			}
			a.Decisions = append(a.Decisions, AuditedDecision{Record: s.Record, Turn: turn, Rule: e.Path, Status: e.Status, Note: e.Note,
				Wrote: wrote[e.Path]})
			delete(wrote, e.Path)
		}
		for _, path := range order {
			if wrote[path] != nil {
				a.Decisions = append(a.Decisions, AuditedDecision{Record: s.Record, Turn: turn, Rule: path, Wrote: wrote[path]})
			}
		}
	}
}

// turnBy is the last turn that was taken in when a step took in a record.
func (a *auditor) turnBy(record int64) (turn int) {
	last := int64(-1)
	for seq, n := range a.turnAt {
		if seq <= record && seq > last {
			last, turn = seq, n
		}
	}
	return turn
}

// number gives each effect that a step asked for its operation. They are numbered as they are asked for; those that a step
// asks for and withdraws are only named as withdrawn. Where traces are missing, receipts tell where numbers were left out.
func (a *auditor) number() {
	next := uint64(1)
	for _, s := range a.steps {
		for !a.fits(next, s.Start) {
			next++
		}
		for _, label := range s.Start {
			next = behind(next, s.Cancel)
			e := a.op(next)
			e.Asked = &s.Record
			if e.Receipt == nil {
				e.Label, e.Turn = label, a.turnBy(s.Record)
			}
			next++
		}
		next = behind(next, s.Cancel)
		for _, op := range s.Cancel {
			if e := a.ops[op]; e != nil && e.Receipt == nil {
				a.withdrawn(e, "the tree withdrew it")
			}
		}
	}
}

// behind is the first number from op on that is not among those withdrawn.
func behind(op uint64, withdrawn []uint64) uint64 {
	for slices.Contains(withdrawn, op) {
		op++
	}
	return op
}

// fits says whether no receipt contradicts that operations from first on are those with these labels. Past all that is
// known, every number fits.
func (a *auditor) fits(first uint64, labels []string) bool {
	for i, label := range labels {
		e := a.ops[first+uint64(i)]
		if e != nil && e.Receipt != nil && e.Label != label && e.Kind != label {
			return false
		}
	}
	return true
}

// settle says how those effects stand that have no receipt.
func (a *auditor) settle(r journal.Run) {
	over := a.over || r.Status != journal.Running
	for _, e := range a.ops {
		switch {
		case e.State != "":
		case over:
			a.withdrawn(e, "the run is over")
		default:
			e.State = EffectUnderWay
		}
		a.Effects = append(a.Effects, *e)
	}
	slices.SortFunc(a.Effects, func(x, y AuditedEffect) int { return cmp.Compare(x.Op, y.Op) })
}

// withdrawn enters an effect that will have no receipt. One that has a mark writes.
func (a *auditor) withdrawn(e *AuditedEffect, why string) {
	e.State, e.Why = EffectWithdrawn, why
	if e.Mark != nil {
		e.State, e.Why = EffectUnknown, why+", and nobody can tell whether it took effect"
	}
}

// op is what is known of an operation.
func (a *auditor) op(op uint64) *AuditedEffect {
	e := a.ops[op]
	if e == nil {
		e = &AuditedEffect{Op: op}
		a.ops[op] = e
	}
	return e
}
