package inquiry

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// WritePayload asks that the session's file is as the run stands.
type WritePayload struct {
	Turns   []Turn  `json:"turns,omitempty"`
	Opened  int64   `json:"opened,omitempty"`
	Summary int64   `json:"summary,omitempty"`
	Reason  string  `json:"reason,omitempty"` // it has ended, and why
	Trail   []Trail `json:"trail,omitempty"`
}

// WriteReceipt is where the file lies, in the folder of sessions.
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
			o.Trail = append(slices.Clip(o.Trail), Trail{Ref: done[0].Ref, Event: string(record.ErrorEvent), Reason: "the session file could not be written; it is written the next time the session is opened: " + err.Reason})
		}
		return nil // the journal has all of it
	}
	return bt.Task("WriteSession", "Rewrites the session file. A failed write ends nothing: the file can be rebuilt from the journal.", plan, collect)
}

func (p *performing) write(ctx context.Context, job run.Job, asked WritePayload) (any, error) {
	s, err := p.project(asked)
	if err != nil {
		return nil, err
	}
	folder, err := p.Files(p.view.Owner)
	if err != nil {
		return nil, &bt.Fault{Kind: "file", Reason: "the folder of the sessions can't be used"}
	}
	if err := folder.Write(ctx, s); err != nil {
		return nil, &bt.Fault{Kind: "file", Reason: without(err.Error(), filepath.Dir(folder.Path(s)), "the folder of the sessions")}
	}
	return WriteReceipt{record.FileName(s), len(s.Pairs)}, nil
}

// project is the session as the run's records have it.
func (p *performing) project(w WritePayload) (s record.Session, err error) {
	records := p.view.Records()
	at := func(ref int64) time.Time { return records[ref].At.UTC() }
	s = record.Session{ID: p.given.ID, StartTime: at(0), Hypothesis: record.Hypothesis{Text: p.given.Hypothesis, CreatedAt: at(0)}, Status: record.Running, IterationLimit: p.given.Limit,
		Language: p.given.Language, Detective: p.env.Detective, Run: p.view.ID, Witness: record.Witness{Kind: p.env.Witness.Kind, Name: p.env.Witness.Title},
		Pairs: []record.Pair{}, AuditTrail: []record.TrailEntry{}}
	if w.Opened != 0 {
		o, err := run.ResultAt[OpenReceipt](p.view, w.Opened)
		if err != nil {
			return s, err
		}
		s.Witness.Name, s.Witness.Documents = o.Name, o.Documents
	}
	for n, t := range w.Turns {
		if t.Answer == 0 || t.Analysis == 0 && w.Reason == "" {
			continue // it is under way
		}
		r, err := p.standing(w.Turns[:n+1])
		if err != nil {
			return s, err
		}
		pair, err := p.pair(t, r, len(s.Pairs)+1, at(t.Answer))
		if err != nil {
			return s, err
		}
		s.Pairs = append(s.Pairs, pair)
	}
	s.CurrentIteration = len(s.Pairs)
	for _, t := range w.Trail {
		s.AuditTrail = append(s.AuditTrail, record.TrailEntry{Timestamp: at(t.Ref), Event: record.EventKind(t.Event), FromProvider: t.From, ToProvider: t.To, Reason: t.Reason})
	}
	if w.Reason == "" {
		return s, nil
	}
	return s, p.close(&s, w, at)
}

// standing is the analysis after the last pair that was answered. One that an end has kept from being analysed is analysed by the rules.
func (p *performing) standing(turns []Turn) (AnalyseReceipt, error) {
	latest, err := p.latest(turns)
	if err != nil {
		return latest, err
	}
	open := slices.ContainsFunc(turns, func(t Turn) bool { return t.Answer != 0 && t.Analysis == 0 })
	if !open {
		return latest, nil
	}
	all, err := exchanges(p.view, turns)
	return p.byRules(all, latest), err
}

func (p *performing) pair(t Turn, r AnalyseReceipt, sequence int, answered time.Time) (pair record.Pair, err error) {
	q, err := run.ResultAt[AskReceipt](p.view, t.Question)
	if err != nil {
		return pair, err
	}
	a, err := run.ResultAt[AnswerReceipt](p.view, t.Answer)
	if err != nil {
		return pair, err
	}
	pair = record.Pair{Sequence: sequence, Question: q.Text, Answer: a.Text, Timestamp: answered, ProviderUsed: q.By, Strategy: q.Strategy, Aspect: q.Aspect, Follows: q.Gaps, About: q.About,
		Citations: a.Citations, NotInDocuments: a.NotFound, AnsweredBy: a.By, AnalysedBy: r.By}
	pair.GapAnalysis = record.GapAnalysis{Gaps: []record.Gap{}, CompletenessScore: &r.Analysis.Completeness, RequiresFollowUp: r.FollowUp}
	for _, g := range r.Analysis.Gaps {
		pair.GapAnalysis.Gaps = append(pair.GapAnalysis.Gaps, record.Gap{Category: record.Category(g.Category), Description: g.Description, Severity: record.Severity(g.Severity), ID: g.ID, Aspect: g.Aspect, Since: g.Pair + 1})
	}
	return pair, nil
}

// close puts the end and the audit to a session.
func (p *performing) close(s *record.Session, w WritePayload, at func(int64) time.Time) error {
	reason := record.EndReason(w.Reason)
	status, err := record.Running.Next(reason)
	if err != nil {
		return err
	}
	last := int64(len(p.view.Records()) - 1)
	if w.Summary != 0 {
		last = w.Summary
	}
	ended := at(last)
	s.Status, s.EndReason, s.EndTime = status, reason, &ended
	audit, err := p.audit(s, w)
	if err != nil {
		return err
	}
	if status == record.Completed {
		s.AuditResult = &audit
	} else {
		s.ProvisionalAudit = &audit
	}
	return nil
}

// audit is what the inquiry has shown.
func (p *performing) audit(s *record.Session, w WritePayload) (a record.Audit, err error) {
	latest, err := p.standing(w.Turns)
	if err != nil {
		return a, err
	}
	a = record.Audit{Contradictions: []record.Contradiction{}, RemainingGaps: record.Remaining(s.Pairs)}
	for _, c := range latest.Analysis.Contradictions {
		a.Contradictions = append(a.Contradictions, record.Contradiction{Pairs: c.Pairs, Description: c.Reason, Kind: record.Kind(c.Kind), Words: c.Words, Settled: c.Settled + 1})
	}
	a.Sum = record.Score(s.Pairs, a.Contradictions)
	a.ConsistencyScore = &a.Sum.Score
	if w.Summary != 0 {
		sum, err := run.ResultAt[SumReceipt](p.view, w.Summary)
		if err != nil {
			return a, err
		}
		a.Summary, a.By = sum.Text, sum.By
		return a, nil
	}
	all, err := exchanges(p.view, w.Turns)
	a.Summary, a.By = summaryByRules(p.given.Language, p.given.Hypothesis, all, latest), model.OfflineRules
	return a, err
}
