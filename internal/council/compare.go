package council

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/council/digest"
	"sibyl/internal/council/prompt"
	"sibyl/internal/council/session"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// ComparePayload asks where answers agree and differ, and what they overlook.
type ComparePayload struct {
	By      string   `json:"by"` // byModel or byRules
	Answers []Spoken `json:"answers"`
}

// Who compares.
const (
	byModel = "model"
	byRules = "rules"
)

// CompareReceipt is what a comparison found.
type CompareReceipt struct {
	digest.Comparison
	Composed
	Usage model.Usage `json:"usage"`
}

// comparison is the schema of a model's comparison.
var comparison = model.Schema{Name: "comparison", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["agree","differ","overlooked"],"properties":{"agree":{"type":"array","maxItems":8,"items":{"$ref":"#/$defs/point"}},"differ":{"type":"array","maxItems":8,"items":{"$ref":"#/$defs/point"}},"overlooked":{"type":"array","maxItems":8,"items":{"$ref":"#/$defs/point"}}},"$defs":{"point":{"type":"object","additionalProperties":false,"required":["text","by","sources"],"properties":{"text":{"type":"string","minLength":1},"by":{"type":"array","items":{"type":"string"}},"sources":{"type":"array","items":{"type":"string"}}}}}}`)}

func compareLeaf() bt.Leaf {
	type in struct {
		Heard []Heard `port:"heard"`
		By    string  `port:"by" doc:"‘model’, or ‘rules’ where none is there or it failed"`
	}
	type out struct {
		Events []bt.Typed `port:",events"`
	}
	plan := func(i in) (bt.Request, error) {
		return bt.Request{Kind: EffectCompare, Label: "the answers, by " + i.By, Payload: ComparePayload{i.By, spoken(i.Heard)}}, nil
	}
	collect := func(_ in, r CompareReceipt, _ int64, o *out) error {
		o.Events = []bt.Typed{AnswersCompared{By: r.By, Agree: len(r.Agree), Differ: len(r.Differ), Overlooked: len(r.Overlooked)}}
		return nil
	}
	failed := func(i in, why *bt.Fault, _ int64, o *out) {
		o.Events = []bt.Typed{Skipped{partComparison.With(i.By), why.Reason}}
	}
	return bt.One("Compare", "Finds where the answers agree, where they differ, and what all of them overlook.", plan, collect, failed)
}

func (p *performing) compare(ctx context.Context, job run.Job, asked ComparePayload) (any, error) {
	m, asks, err := p.matterOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	if !asks {
		return p.compareByRules(ctx, m.answers)
	}
	var r CompareReceipt
	c, resp, err := p.structured(ctx, m, &r.Comparison)
	if err != nil {
		return nil, err
	}
	answers := m.answers
	r.Composed, r.Usage = c, resp.Usage
	r.By = resp.Model
	r.Agree, r.Differ, r.Overlooked = p.sound(r.Agree, answers, 2), p.sound(r.Differ, answers, 1), p.sound(r.Overlooked, answers, 0)
	return r, nil
}

// sound are the points of a model with names of oracles who answered and ids of what is in the context alone, without points that fewer than least
// are named for or in which there is nothing to read. Each is in one line. Nobody is named for what all overlook.
func (p *performing) sound(points []digest.Point, answers []Answer, least int) (kept []digest.Point) {
	for _, one := range points {
		var by []string
		for _, a := range answers {
			if least > 0 && slices.ContainsFunc(one.By, func(n string) bool { return strings.EqualFold(strings.TrimSpace(n), a.Oracle.Name) }) {
				by = append(by, a.Oracle.Name)
			}
		}
		one.Text = inLine(one.Text)
		one.Sources = slices.DeleteFunc(one.Sources, func(id string) bool { return !slices.Contains(p.given.Snapshot.Entries, id) })
		if one.By = by; len(by) >= least && !session.Blank(one.Text) {
			kept = append(kept, one)
		}
	}
	return kept
}

func (p *performing) compareByRules(ctx context.Context, answers []Answer) (any, error) {
	content, err := p.view.Text(ctx, textEntries)
	if err != nil {
		return nil, err
	}
	var entries []prompt.Entry
	if err := json.Unmarshal(content, &entries); err != nil {
		return nil, err
	}
	var all []digest.Answer
	for _, a := range answers {
		all = append(all, digest.Answer{Oracle: a.Oracle.Name, Text: a.Text})
	}
	r := CompareReceipt{Comparison: digest.Compare(said(entries), all, p.env.Language)}
	r.By = model.OfflineRules
	return r, nil
}
