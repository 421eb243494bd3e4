package inquiry

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/run"
)

// WritePayload asks that the session's file is as the run stands.
type WritePayload struct {
	Turns   []Turn  `json:"turns,omitempty"`
	Opened  int64   `json:"opened,omitempty"`
	Summary int64   `json:"summary,omitempty"`
	Reason  string  `json:"reason,omitempty"` // why it ended; "" while it is running
	Trail   []Trail `json:"trail,omitempty"`
}

// WriteReceipt names the file, in the folder of sessions.
type WriteReceipt struct {
	File  string `json:"file"`
	Pairs int    `json:"pairs"`
}

func writeLeaf() bt.Leaf {
	type in struct {
		Turns   []Turn  `port:"turns,optional"`
		Opened  int64   `port:"opened,optional"`
		Summary int64   `port:"summary,optional"`
		Reason  string  `port:"reason,optional"`
		Final   bool    `port:"final" default:"false" doc:"the asking has ended"`
		Trail   []Trail `port:"trail,optional"`
	}
	type out struct {
		Trail []Trail `port:"trail"`
	}
	plan := func(i in) ([]bt.Request, error) {
		p := WritePayload{Turns: i.Turns, Opened: i.Opened, Trail: i.Trail}
		if i.Final {
			p.Summary, p.Reason = i.Summary, i.Reason
		}
		return []bt.Request{{Kind: EffectWrite, Label: "the session's file", Payload: p}}, nil
	}
	collect := func(_ in, done []bt.Completion, o *out) error {
		if err := done[0].Err; err != nil {
			o.Trail = append(slices.Clip(o.Trail), newTrail(done[0].Ref, record.ErrorEvent, unwritten.With(err.Reason)))
		}
		return nil // nothing is lost: the journal has all of it
	}
	return bt.Task("WriteSession",
		"Rewrites the session file. A failed write ends nothing: the file can be rebuilt from the journal.", plan,
		collect)
}

func (p *performer) performWrite(ctx context.Context, job run.Job, payload WritePayload) (any, error) {
	s, err := p.projectSession(payload, nil)
	if err != nil {
		return nil, err
	}
	folder, err := p.Files(p.view.Owner)
	if err != nil {
		return nil, &bt.Fault{Kind: "file", Reason: "the folder of the sessions can't be used"}
	}
	if err := folder.Write(ctx, s); err != nil {
		return nil, &bt.Fault{Kind: "file", Reason: replacePath(err.Error(), filepath.Dir(folder.Path(s)),
			"the folder of the sessions")}
	}
	return WriteReceipt{record.FileName(s), len(s.Pairs)}, nil
}

// projectSession computes the session from the run's records. suspended is why the run waits to be resumed; the inquiry
// has then failed so far. nil: it does not wait.
func (p *performer) projectSession(w WritePayload, suspended *bt.Fault) (s record.Session, err error) {
	if suspended != nil {
		w.Reason = string(record.Broken)
	}
	at := func(ref int64) time.Time { return p.view.Records()[ref].At.UTC() }
	s = record.Session{ID: p.given.ID, StartTime: at(0), Hypothesis: record.Hypothesis{Text: p.given.Hypothesis,
		CreatedAt: at(0)},
		Status: record.Running, IterationLimit: p.given.Limit, Language: p.given.Language, Detective: p.env.Detective,
		Run:     p.view.ID,
		Witness: record.Witness{Kind: p.env.Witness.Kind, Name: p.env.Witness.Title}, Resumable: suspended != nil,
		Pairs: []record.Pair{}}
	if w.Opened != 0 {
		o, err := run.ResultAt[OpenReceipt](p.view, w.Opened)
		if err != nil {
			return s, err
		}
		s.Witness.Name, s.Witness.Documents = o.Name, o.Documents
	}
	for n, t := range w.Turns {
		if t.Answer == 0 || t.Analysis == 0 && t.Failed == "" && w.Reason == "" {
			continue // not answered or not analysed yet
		}
		pair, err := p.lastPair(w.Turns[:n+1], at(t.Answer), suspended)
		if err != nil {
			return s, err
		}
		pair.Sequence = len(s.Pairs) + 1
		s.Pairs = append(s.Pairs, pair)
	}
	s.CurrentIteration = len(s.Pairs)
	if s.AuditTrail, err = p.auditTrail(w.Trail); err != nil || w.Reason == "" {
		return s, err
	}
	return s, p.addEnd(&s, w)
}

// auditTrail makes the audit trail: the tree's entries, and one for each time that the run was suspended.
func (p *performer) auditTrail(kept []Trail) ([]record.TrailEntry, error) {
	entries := []record.TrailEntry{}
	for _, t := range kept {
		entries = append(entries, record.TrailEntry{Timestamp: p.view.Records()[t.Ref].At.UTC(),
			Event:        record.EventKind(t.Event),
			FromProvider: t.From, ToProvider: t.To, Reason: t.Reason, Coded: t.Coded})
	}
	for _, r := range p.view.Records() {
		if r.Kind != run.KindSuspend {
			continue
		}
		body, err := run.Read(r)
		if err != nil {
			return nil, err
		}
		if fault := body.(*run.SuspendRecord).Fault; fault != nil {
			entries = append(entries, record.TrailEntry{Timestamp: r.At.UTC(), Event: trailEvent(fault),
				Reason: fault.Reason, Coded: fault.Why().Coded})
		}
	}
	slices.SortStableFunc(entries, func(a, b record.TrailEntry) int { return a.Timestamp.Compare(b.Timestamp) })
	return entries, nil
}

// suspendFault is why the run waits to be resumed; nil if it does not. Later records of the kinds in but are ignored.
func (p *performer) suspendFault(but ...string) *bt.Fault {
	for _, r := range slices.Backward(p.view.Records()) {
		if r.Kind == run.KindLeave || slices.Contains(but, r.Kind) {
			continue
		}
		body, err := run.Read(r)
		if s, ok := body.(*run.SuspendRecord); ok && err == nil {
			return s.Fault
		}
		break
	}
	return nil
}

// lastPair makes the pair of the last of these turns, without its sequence.
func (p *performer) lastPair(turns []Turn, answered time.Time, suspended *bt.Fault) (pair record.Pair, err error) {
	t := turns[len(turns)-1]
	q, err := run.ResultAt[AskReceipt](p.view, t.Question)
	if err != nil {
		return pair, err
	}
	a, err := run.ResultAt[AnswerReceipt](p.view, t.Answer)
	if err != nil {
		return pair, err
	}
	r, err := p.latestAnalysis(turns) // without an analysis, the earlier gaps stay open
	if err != nil {
		return pair, err
	}
	pair = record.Pair{Question: q.Text, Answer: a.Text, Timestamp: answered, ProviderUsed: q.By, Strategy: q.Strategy,
		Aspect: q.Aspect, Follows: q.Gaps,
		About: q.About, Citations: a.Citations, NotInDocuments: a.NotFound, AnsweredBy: a.By}
	g := record.GapAnalysis{Gaps: []record.Gap{}, RequiresFollowUp: true}
	switch {
	case !p.given.Model:
		g.Unjudged = "a detective needs a model"
	case t.Analysis != 0:
		pair.AnalysedBy = r.By
		g.CompletenessScore = &r.Analysis.Completeness
		g.RequiresFollowUp = r.FollowUp
	case t.Failed != "":
		g.Unjudged, g.Coded = t.Failed, t.Coded
	case suspended != nil:
		g.Unjudged, g.Coded = suspended.Reason, suspended.Why().Coded
	default:
		g.Unjudged, g.Code = endedBefore.Template(), endedBefore.Code()
	}
	g.Gaps = append(g.Gaps, r.Analysis.Gaps...)
	pair.GapAnalysis = g
	return pair, nil
}

// addEnd sets the end and the audit of a session.
func (p *performer) addEnd(s *record.Session, w WritePayload) error {
	reason := record.EndReason(w.Reason)
	status, err := reason.Status()
	if err != nil {
		return err
	}
	last := int64(len(p.view.Records()) - 1)
	if w.Summary != 0 {
		last = w.Summary
	}
	ended := p.view.Records()[last].At.UTC()
	s.Status, s.EndReason, s.EndTime = status, reason, &ended
	latest, err := p.latestAnalysis(w.Turns)
	if err != nil {
		return err
	}
	var sum SumReceipt
	if w.Summary != 0 {
		if sum, err = run.ResultAt[SumReceipt](p.view, w.Summary); err != nil {
			return err
		}
	}
	audit := auditOf(s, latest.Analysis)
	if status == record.Completed {
		s.AuditResult = audit
	} else {
		s.ProvisionalAudit = audit
	}
	audit.Summary, audit.By = sum.Text, sum.By
	if sum.Text == "" {
		audit.Summary = record.Verdict(s)
	}
	return nil
}

// auditOf makes the audit of an ended session. A finding that still waits becomes an unconfirmed contradiction, and its
// gap is removed. There is a score only if a model judged the inquiry to its end.
func auditOf(s *record.Session, a Analysis) *record.Audit {
	audit := &record.Audit{Evidence: a.Evidence, Contradictions: []record.Contradiction{}, Unverified: a.Unverified}
	for _, f := range a.Contradictions {
		audit.Contradictions = append(audit.Contradictions, f.Contradiction)
	}
	waiting := map[string]bool{}
	for _, f := range a.Waiting {
		waiting[f.ID] = true
		f.Unconfirmed = true
		audit.Contradictions = append(audit.Contradictions, f.Contradiction)
	}
	if n := len(s.Pairs); n > 0 {
		last := &s.Pairs[n-1].GapAnalysis
		last.Gaps = slices.DeleteFunc(last.Gaps, func(g record.Gap) bool { return waiting[g.ID] })
	}
	audit.RemainingGaps = record.Remaining(s.Pairs)
	failed := s.EndReason == record.Broken || s.EndReason == record.TimedOut
	switch {
	case !s.Judged():
		audit.Unjudged = record.NotAudited
	case failed && len(s.AuditTrail) > 0:
		why := failureOf(s.AuditTrail)
		audit.Unjudged, audit.Coded = why.Text, why.Coded
	case !failed && s.JudgedPairs() > 0 && s.Silent():
		audit.Unjudged, audit.Code = saidNothing.Template(), saidNothing.Code()
	case !failed && s.JudgedPairs() > 0 && len(a.Evidence)+len(audit.Contradictions) == 0:
		audit.Unjudged, audit.Code = nothingBears.Template(), nothingBears.Code()
	case failed || s.JudgedPairs() == 0:
		audit.Unjudged, audit.Code = notToEnd.Template(), notToEnd.Code()
	default:
		audit.Sum = record.Score(s.Pairs, audit.Contradictions)
		audit.ConsistencyScore = &audit.Sum.Score
	}
	return audit
}

// failureOf is the last failure of a trail, and why the inquiry was ended after it.
func failureOf(trail []record.TrailEntry) bt.Why {
	last := trail[len(trail)-1]
	why := bt.Why{Text: last.Reason, Coded: last.Coded}
	if last.Code == gaveWay.Code() && len(trail) > 1 {
		before := trail[len(trail)-2]
		return bt.Both(bt.Why{Text: before.Reason, Coded: before.Coded}, why)
	}
	return why
}
