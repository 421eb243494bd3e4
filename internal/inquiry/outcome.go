package inquiry

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// Item is an inquiry in a list: the summary of its run.
type Item struct {
	ID               string        `json:"id"`
	Hypothesis       string        `json:"hypothesis" doc:"While it goes on, its beginning."`
	StartTime        string        `json:"startTime" format:"date-time"`
	Status           record.Status `json:"status" enum:"running,completed,failed,limit-reached"`
	EndReason        string        `json:"endReason,omitempty" doc:"Why it ended: satisfied, limit, no-progress, repeated, collected, stopped, error or timeout."`
	Pairs            int           `json:"pairs" doc:"How many questions were answered."`
	Limit            int           `json:"iterationLimit,omitempty" doc:"Left out where a list knows neither it nor the pairs."`
	ConsistencyScore *int          `json:"consistencyScore,omitempty" minimum:"0" maximum:"100" doc:"Left out where no model has judged."`
	Provisional      bool          `json:"provisional,omitempty" doc:"The score is of an inquiry that did not complete, or some of whose answers could not be judged."`
	Verdict          string        `json:"verdict,omitempty" doc:"How it stands, in a line."` // record.Verdict
	Run              string        `json:"run,omitempty"`
}

// Listed is an inquiry in a list, with how its run stands.
type Listed struct {
	Item
	run.Standing

	cursor journal.Cursor
}

// Cursor is where a list continues after the item.
func (l Listed) Cursor() journal.Cursor { return l.cursor }

// ItemOf makes the list item of a session.
func ItemOf(s record.Session) Item {
	i := Item{ID: s.ID, Hypothesis: s.Hypothesis.Text, StartTime: s.StartTime.UTC().Format(time.RFC3339),
		Status: s.Status, EndReason: string(s.EndReason), Pairs: len(s.Pairs), Limit: s.IterationLimit, Run: s.Run,
		Verdict: record.Verdict(&s)}
	if audit := s.Audit(); audit != nil && audit.ConsistencyScore != nil {
		i.ConsistencyScore = audit.ConsistencyScore
		i.Provisional = s.AuditResult == nil || s.JudgedPairs() < len(s.Pairs)
	}
	return i
}

// Outcome is the outcome of a run: the session, as in its file.
type Outcome struct {
	Session record.Session `json:"session"`
	Problem string         `json:"problem,omitempty"` // why the session is incomplete
	Unsaved string         `json:"unsaved,omitempty"` // why the session's file was not written
}

// outcomeOf composes the outcome of a run that ended, or is suspended.
func outcomeOf(v *run.View, e run.Ending) run.Outcome {
	p := &performer{view: v}
	if err := p.readStart(); err != nil {
		return run.Outcome{Status: journal.Failed, Reason: "failed", Result: Outcome{Problem: err.Error()}}
	}
	var w treeResult
	if e.Tree != nil && e.State != nil {
		e.Tree.Read(e.State, &w)
	}
	var suspended *bt.Fault
	payload := WritePayload{Turns: w.Turns, Opened: w.Opened, Summary: w.Summary, Reason: w.Reason, Trail: w.Trail}
	switch {
	case e.Suspended:
		suspended = e.Fault
	case w.Summary != 0 && w.Reason != "": // the inquiry had ended before the run was stopped, and its file may say so
	case e.Cancelled && p.suspendFault(run.KindCancel, run.KindStopped, run.KindResume) != nil: // it had failed before
		payload.Reason = string(record.Broken)
		payload.Trail = withCancellation(payload.Trail, v)
	case e.Cancelled:
		payload.Reason = string(record.Stopped)
	default:
		payload.Reason = string(record.Broken)
		if e.Fault != nil {
			payload.Trail = withFailure(payload.Trail, int64(len(v.Records())-1), e.Fault)
		}
	}
	s, err := p.projectSession(payload, suspended)
	o := Outcome{Session: s, Unsaved: lastWriteFailure(v, e.Unfolded)}
	if err != nil {
		o.Problem = err.Error()
	}
	r := run.Outcome{Status: journal.Done, Reason: payload.Reason, Result: o, Summary: ItemOf(s)}
	switch {
	case e.Suspended:
		r.Status, r.Reason = journal.Running, "suspended"
	case s.EndReason == record.Stopped:
		r.Status = journal.Cancelled
	case s.Status == record.Failed || err != nil:
		r.Status = journal.Failed
	}
	return r
}

// withCancellation adds why an inquiry that had failed, and could have gone on, was ended.
func withCancellation(trail []Trail, v *run.View) []Trail {
	for n, r := range slices.Backward(v.Records()) {
		if r.Kind != run.KindCancel {
			continue
		}
		if body, err := run.Read(r); err == nil {
			why := bt.Because(body.(*run.CancelRecord).Reason)
			return append(slices.Clip(trail), newTrail(int64(n), record.ErrorEvent, gaveWay.With(why)))
		}
	}
	return trail
}

// lastWriteFailure says why the last write of the session's file failed; "" if it did not.
func lastWriteFailure(v *run.View, under []run.CompletionRecord) (why string) {
	noteWrite := func(c *run.CompletionRecord) {
		if c.Kind != EffectWrite {
			return
		}
		if why = ""; c.Err != nil {
			why = c.Err.Reason
		}
	}
	for _, c := range v.Receipts() {
		noteWrite(c)
	}
	for i := range under {
		noteWrite(&under[i])
	}
	return why
}

// showOutcome makes of an outcome what people see.
func showOutcome(outcome json.RawMessage) (s assistant.Shown, err error) {
	var o Outcome
	if err := json.Unmarshal(outcome, &o); err != nil {
		return s, err
	}
	one := o.Session
	s.Question, s.Answer = one.Hypothesis.Text, record.Brief(one)
	line := record.Verdict(&one)
	s.Ending, s.Footer = []string{line}, "*"+line+"*"
	s.Partial = one.Status == record.LimitReached
	if o.Unsaved != "" {
		s.Partial = true
		s.Warnings = append(s.Warnings, "the session file was not written ("+o.Unsaved+
			"): the journal has everything, and ‘sibyl inquiry show’ writes it as soon as possible")
		s.Ending = append(s.Ending, s.Warnings...)
		s.Footer = "*" + strings.Join(s.Ending, "; ") + "*"
	}
	if o.Problem != "" {
		s.Warnings = append(s.Warnings, o.Problem)
	}
	if one.Status == record.Failed {
		s.Failure = &assistant.Failure{Kind: string(one.EndReason), Message: line}
	}
	return s, nil
}

// outcomeText returns the hypothesis, the questions and the answers, for searching.
func outcomeText(outcome []byte) (string, error) {
	var o Outcome
	if err := json.Unmarshal(outcome, &o); err != nil {
		return "", err
	}
	all := []string{o.Session.Hypothesis.Text}
	for _, p := range o.Session.Pairs {
		all = append(all, p.Question, p.Answer)
	}
	return strings.Join(all, "\n"), nil
}
