package council

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// ReviewPayload asks an oracle to rank the answers of the others. It is shown them in this order, as A, B, C and so on, without their names.
type ReviewPayload struct {
	Reviewer Seat     `json:"reviewer"`
	Answers  []Spoken `json:"answers"`
}

// ReviewReceipt is what a reviewer says.
type ReviewReceipt struct {
	Reviews []Review    `json:"reviews"`
	Model   string      `json:"model"`
	Usage   model.Usage `json:"usage"`
	Composed
}

// Review is what a reviewer says of one answer. Rank counts from 1, the best.
type Review struct {
	Oracle    string `json:"oracle"`
	Rank      int    `json:"rank"`
	Strength  string `json:"strength"`
	Criticism string `json:"criticism"`
}

// Rank is how an oracle's answer was ranked by the others.
type Rank struct {
	Oracle string         `json:"oracle"`
	Mean   float64        `json:"mean"`
	By     map[string]int `json:"by"` // the reviewers' ranks
}

var reviews = model.Schema{Name: "reviews", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["reviews"],"properties":{"reviews":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["answer","rank","strength","criticism"],"properties":{"answer":{"type":"string"},"rank":{"type":"integer","minimum":1},"strength":{"type":"string"},"criticism":{"type":"string"}}}}}}`)}

func reviewLeaf() bt.Leaf {
	type in struct {
		Heard []Heard `port:"heard"`
		Seed  int64   `port:"seed" doc:"of the order in which each reviewer is shown the answers"`
	}
	type out struct {
		Events []bt.Typed `port:",events"`
	}
	plan := func(i in) (all []bt.Request, _ error) {
		for n, h := range i.Heard {
			if h.Ref == 0 {
				continue
			}
			others := spoken(slices.Delete(slices.Clone(i.Heard), n, n+1))
			if len(others) == 0 {
				return nil, errors.New("there are no answers of others")
			}
			shuffle := rand.New(rand.NewPCG(uint64(i.Seed), uint64(n)))
			shuffle.Shuffle(len(others), func(a, b int) { others[a], others[b] = others[b], others[a] })
			all = append(all, bt.Request{Kind: EffectReview, Label: h.Seat.Name + " reviews", Payload: ReviewPayload{h.Seat, others}})
		}
		return all, nil
	}
	collect := func(i in, done []bt.Completion, o *out) error {
		var names []string
		for _, s := range spoken(i.Heard) {
			names = append(names, s.Oracle)
		}
		given := map[string][]Review{}
		left, why := 0, ""
		for n, c := range done {
			r, err := bt.ResultOf[ReviewReceipt](c)
			if c.Err != nil {
				err = c.Err
			}
			if err != nil {
				left, why = left+1, err.Error()
				continue
			}
			given[names[n]] = r.Reviews
		}
		if len(given) == 0 {
			o.Events = []bt.Typed{Skipped{partReview.With(), noReview.With(why)}}
			return errors.New("no oracle has reviewed")
		}
		o.Events = []bt.Typed{AnswersRanked{tally(names, given), left}}
		return nil
	}
	return bt.Task("Review", "Has each oracle rank and criticise the answers of the others, without knowing whose they are.", plan, collect)
}

// tally is the table of ranks, the best mean first.
func tally(names []string, given map[string][]Review) (ranks []Rank) {
	for _, name := range names {
		r := Rank{Oracle: name, By: map[string]int{}}
		sum := 0
		for _, reviewer := range names {
			for _, one := range given[reviewer] {
				if one.Oracle == name {
					r.By[reviewer] = one.Rank
					sum += one.Rank
				}
			}
		}
		if len(r.By) > 0 {
			r.Mean = float64(sum) / float64(len(r.By))
			ranks = append(ranks, r)
		}
	}
	slices.SortStableFunc(ranks, func(a, b Rank) int {
		switch {
		case a.Mean < b.Mean:
			return -1
		case a.Mean > b.Mean:
			return 1
		}
		return 0
	})
	return ranks
}

// letter names the nth answer that a reviewer is shown: A to Z, then A1.
func letter(n int) string {
	s := string(rune('A' + n%26))
	if n >= 26 {
		s += fmt.Sprint(n / 26)
	}
	return s
}

func (p *performing) review(ctx context.Context, job run.Job, asked ReviewPayload) (any, error) {
	answers, err := p.answers(asked.Answers)
	if err != nil {
		return nil, err
	}
	m, _, err := p.matterOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	var said struct {
		Reviews []struct {
			Answer, Strength, Criticism string
			Rank                        int
		}
	}
	c, resp, err := p.structured(ctx, m, &said)
	if err != nil {
		return nil, err
	}
	r := ReviewReceipt{Model: resp.Model, Usage: resp.Usage, Composed: c}
	for n, a := range answers {
		for _, one := range said.Reviews {
			if strings.EqualFold(strings.TrimSpace(one.Answer), letter(n)) {
				r.Reviews = append(r.Reviews, Review{a.Oracle.Name, one.Rank, one.Strength, one.Criticism})
				break
			}
		}
	}
	if len(r.Reviews) < len(answers) {
		return nil, &bt.Fault{Kind: string(model.Garbled), Reason: fmt.Sprintf("%s ranked %d of %d answers", resp.Model, len(r.Reviews), len(answers))}
	}
	inOrder(r.Reviews)
	return r, nil
}

// inOrder makes ranks from 1 on of what a model gave. Answers that it gave the same rank share the best of their places: 1, 1, 3.
func inOrder(all []Review) {
	given := make([]int, len(all))
	for n, r := range all {
		given[n] = r.Rank
	}
	for n := range all {
		better := 0
		for _, rank := range given {
			if rank < given[n] {
				better++
			}
		}
		all[n].Rank = better + 1
	}
}

// withoutNames takes the oracles' names out of a text.
func (p *performing) withoutNames(text string) string {
	for _, seat := range p.given.Oracles {
		text = hideWord(text, seat.Name)
	}
	return text
}
