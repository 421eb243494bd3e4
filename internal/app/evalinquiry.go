package app

import (
	"cmp"
	"context"
	"fmt"

	played "sibyl/internal/eval/inquiry"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

// Detective is the Inquiry as ‘sibyl eval inquiry’ plays it. The app must have been opened on data of its own: every interrogation has an owner of its
// own. An empty model is the one that is there.
func (a *App) Detective(model string) (played.Detective, error) {
	e := examiner{a, model}
	return played.Detective{Analyse: e.analyse, Interrogate: e.interrogate}, nil
}

type examiner struct {
	*App
	model string
}

func (e examiner) analyse(ctx context.Context, hypothesis, language string, pairs []played.Pair) (played.Found, error) {
	id, err := e.Models.Choose(ctx, cmp.Or(e.model, e.Config.Model))
	if err != nil {
		return played.Found{}, err
	}
	i := inquiry.Interview{Hypothesis: hypothesis, Language: language}
	for _, p := range pairs {
		i.Pairs = append(i.Pairs, inquiry.Exchange{Question: p.Question, Answer: p.Answer})
	}
	found, err := e.Inquiry.Analyse(ctx, id, i)
	if err != nil {
		return played.Found{}, err
	}
	f := played.Found{Satisfied: found.Satisfied}
	for n, p := range found.Pairs {
		for _, g := range p.Gaps {
			f.Gaps = append(f.Gaps, played.Gap{Pair: n, Category: g.Category, Severity: g.Severity, Aspect: g.Aspect})
		}
	}
	for _, c := range found.Contradictions {
		f.Contradictions = append(f.Contradictions, played.Clash{Pairs: c.Pairs})
	}
	for _, c := range found.Suspicions {
		f.Suspicions = append(f.Suspicions, played.Clash{Pairs: c.Pairs})
	}
	return f, nil
}

// scriptedKind is the provider that a scripted witness is named as.
const scriptedKind = "scripted:"

// testifying is a scripted witness.
type testifying struct {
	played.Witness
	name string
}

// Answer implements witness.Witness.
func (t testifying) Answer(_ context.Context, question, _ string, _ []witness.Exchange) (witness.Answer, error) {
	return witness.Answer{Text: t.Witness.Answer(question), By: t.name}, nil
}

// Check implements witness.Witness.
func (testifying) Check(context.Context) error { return nil }

// Name implements witness.Witness.
func (t testifying) Name() string { return t.name }

func (e examiner) interrogate(ctx context.Context, hypothesis, language string, w played.Witness, limit int) (played.Outcome, error) {
	id := run.NewID(e.Clock.Now())
	name := scriptedKind + id
	e.scripted.Store(name, testifying{w, name})
	defer e.scripted.Delete(name)
	r, err := e.Service.Start(ctx, journal.Owner(id), service.Request{Assistant: inquiry.Name, Words: hypothesis,
		Options: inquiry.Options{Witness: name, Detective: e.model, Limit: limit, Language: language}})
	if err != nil {
		return played.Outcome{}, err
	}
	if _, err := r.Wait(ctx); err != nil {
		return played.Outcome{}, err
	}
	row, err := e.Inquiry.Get(ctx, journal.Owner(id), r.ID)
	if err != nil {
		return played.Outcome{}, err
	}
	s, err := e.Inquiry.Read(ctx, journal.Owner(id), row)
	if err != nil {
		return played.Outcome{}, err
	}
	return examined(s)
}

// examined is a session as it is scored.
func examined(s record.Session) (played.Outcome, error) {
	audit := s.Audit()
	if audit == nil {
		return played.Outcome{}, fmt.Errorf("session %s has no audit", s.ID)
	}
	o := played.Outcome{End: string(s.EndReason), Found: played.Found{Satisfied: s.EndReason == record.Satisfied}}
	for _, e := range record.Ledger(s.Pairs) {
		o.Gaps = append(o.Gaps, played.Gap{Pair: e.First - 1, Category: string(e.Gap.Category), Severity: string(e.Gap.Severity), Aspect: e.Gap.Aspect, Closed: e.Closed != 0})
	}
	for _, c := range audit.Contradictions {
		o.Contradictions = append(o.Contradictions, played.Clash{Pairs: c.Pairs})
	}
	return o, nil
}
