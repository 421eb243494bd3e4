package inquiry

import (
	"context"
	"errors"
	"slices"

	"sibyl/internal/model"
	"sibyl/internal/run"
)

// LateAnalysis is the analysis of a pair, from 1, that could not be made when the pair was answered.
type LateAnalysis struct {
	Pair     int      `json:"pair"`
	Analysis Analysis `json:"analysis"`
	FollowUp bool     `json:"follow_up"`
	By       string   `json:"by"`
}

// receipt is the analysis in the form of one that was made in time.
func (l *LateAnalysis) receipt() AnalyseReceipt {
	return AnalyseReceipt{Analysis: l.Analysis, FollowUp: l.FollowUp, By: l.By}
}

// spent is what late analyses took.
type spent struct {
	Usage    model.Usage
	TimedOut []model.Try
}

// analyseLate analyses the answers whose analysis failed before the run was last suspended, in order. The first that
// fails again ends it: that answer stays unjudged.
func (p *performer) analyseLate(
	ctx context.Context, m model.Model, turns []Turn,
) (late []LateAnalysis, took spent, err error) {
	suspended := p.lastSuspension()
	for n, t := range turns {
		if t.Answer == 0 || t.Analysis != 0 || t.Failed == "" || t.Answer > suspended {
			continue
		}
		all, before, err := p.pairsAndAnalysis(turns[:n+1])
		if err != nil {
			return late, took, err
		}
		r, err := p.analyse(ctx, m, turns[:n+1], all, latestOf(before, turns[:n+1], late))
		took.Usage, took.TimedOut = took.Usage.Add(r.Usage), append(took.TimedOut, r.TimedOut...)
		if _, isReply := errors.AsType[*replyError](err); isReply && ctx.Err() == nil {
			return late, took, nil
		}
		if err != nil {
			return late, took, err
		}
		late = append(late, LateAnalysis{n + 1, r.Analysis, r.FollowUp, r.By})
	}
	return late, took, nil
}

// lastSuspension is the number of the last record that suspended the run; -1 if it never was.
func (p *performer) lastSuspension() int64 {
	for n, r := range slices.Backward(p.view.Records()) {
		if r.Kind == run.KindSuspend {
			return int64(n)
		}
	}
	return -1
}

// latestOf is the analysis of the last of these turns that has one: the late one if no other is of a later pair.
func latestOf(latest AnalyseReceipt, turns []Turn, late []LateAnalysis) AnalyseReceipt {
	if len(late) == 0 {
		return latest
	}
	last := late[len(late)-1]
	if slices.ContainsFunc(turns[last.Pair:], func(t Turn) bool { return t.Analysis != 0 }) {
		return latest
	}
	return last.receipt()
}

// turnsWithLate enters late analyses of a record into a copy of the turns.
func turnsWithLate(turns []Turn, ref int64, late []LateAnalysis) []Turn {
	turns = slices.Clone(turns)
	for n, l := range late {
		t := &turns[l.Pair-1]
		*t = Turn{Question: t.Question, Answer: t.Answer, Analysis: ref, Late: n + 1}
	}
	return turns
}

// trailOfLate adds what late analyses have for the audit trail.
func trailOfLate(trail []Trail, ref int64, late []LateAnalysis) []Trail {
	for _, l := range late {
		r := l.receipt()
		trail = r.addToTrail(trail, ref, l.Pair)
	}
	return trail
}
