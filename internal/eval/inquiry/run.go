package inquiry

import (
	"context"
	"errors"
	"fmt"

	"sibyl/internal/eval"
)

// Limits of an interrogation, in questions.
const (
	LeastLimit   = 5
	MostLimit    = 20
	DefaultLimit = 12
)

// Set is which cases are played.
type Set struct {
	Cases      []Case
	FrozenOnly bool
	Parallel   int // cases at once; 0: one
	Limit      int // questions to a witness, LeastLimit to MostLimit; 0: DefaultLimit
}

// Run gives every interview and every witness of a set to a detective and scores it, in the order of the set. An error of the detective ends it.
func Run(ctx context.Context, set Set, d Detective) (Report, error) {
	if set.Limit == 0 {
		set.Limit = DefaultLimit
	}
	if set.Limit < LeastLimit || set.Limit > MostLimit {
		return Report{}, fmt.Errorf("the limit is %d questions; it must be %d to %d", set.Limit, LeastLimit, MostLimit)
	}
	if d.Analyse == nil || d.Interrogate == nil {
		return Report{}, errors.New("a detective must be able to analyse and to interrogate")
	}
	var chosen []Case
	for _, c := range set.Cases {
		if c.Frozen || !set.FrozenOnly {
			chosen = append(chosen, c)
		}
	}
	played := make([]played, len(chosen))
	err := eval.Each(ctx, len(chosen), set.Parallel, func(ctx context.Context, i int) (err error) {
		if played[i], err = play(ctx, chosen[i], d, set.Limit); err != nil {
			return fmt.Errorf("case %s: %w", chosen[i].ID, err)
		}
		return nil
	})
	if err != nil {
		return Report{}, err
	}
	return report(set, chosen, played), nil
}

// played is what a detective did with one case.
type played struct {
	found   Found
	outcome Outcome
	witness *scripted
}

func play(ctx context.Context, c Case, d Detective, limit int) (p played, err error) {
	if p.found, err = d.Analyse(ctx, c.Hypothesis, c.Lang, c.Pairs); err != nil {
		return p, fmt.Errorf("the interview: %w", err)
	}
	p.witness = newWitness(c)
	if p.outcome, err = d.Interrogate(ctx, c.Hypothesis, c.Lang, p.witness, limit); err != nil {
		return p, fmt.Errorf("the witness: %w", err)
	}
	return p, nil
}
