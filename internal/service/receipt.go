package service

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
)

// Receipt shows an effect with what it sent and what came back.
type Receipt struct {
	run.RequestedEffect
	Record  int64     `json:"record" doc:"The number of the record that holds it."`
	At      time.Time `json:"at"`
	TookMS  int64     `json:"took_ms"`
	Found   bool      `json:"found" doc:"It was performed before a crash, and found afterwards."`
	Failure string    `json:"failure,omitempty" doc:"Why it failed. Left out: it did not."`
	bt.Coded
	To      string           `json:"to,omitempty" doc:"The model that answered, or the tool."`
	Sent    []Part           `json:"sent" doc:"In the order in which it was sent."`
	Got     []Part           `json:"got" doc:"What came back."`
	LeftOut []string         `json:"left_out" doc:"What was left out of the prompt, each with the reason."`
	Changed bool             `json:"changed" doc:"This build composes another prompt than the one that was sent: sent has that other one."`
	Lost    bool             `json:"lost" doc:"What was sent can't be composed any more: sent is what the record has of it."`
	Used    *assistant.Usage `json:"used,omitempty" doc:"What the model took. Left out: none was asked, or its provider does not count."`
}

// Part is a part of what was sent or came back.
type Part struct {
	assistant.Part
	Bytes int `json:"bytes" doc:"Of the whole."`
}

// The bounds of what a Receipt shows: the last parts, and the beginning of each text.
const (
	mostParts    = 1000
	mostPartText = 64 << 10 // bytes
)

// Receipt shows the effect whose receipt is this record of a run; journal.ErrNotFound if the record is no receipt.
func (s *Service) Receipt(ctx context.Context, owner journal.Owner, id string, record int64) (Receipt, error) {
	row, a, err := s.runAndAssistant(ctx, owner, id)
	if err != nil {
		return Receipt{}, err
	}
	recs, err := s.config.Store.Records(ctx, owner, id, 0)
	if err != nil {
		return Receipt{}, err
	}
	if record < 0 || record >= int64(len(recs)) || recs[record].Kind != run.KindCompletion {
		return Receipt{}, journal.ErrNotFound
	}
	v, err := a.Recorded(s.config.Store, row, recs[:record+1])
	if err != nil {
		return Receipt{}, err
	}
	c, err := v.Receipt(record)
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{RequestedEffect: c.RequestedEffect, Record: record, At: recs[record].At, TookMS: c.TookMS, Found: c.Found}
	if c.Err != nil {
		r.Failure, r.Coded = c.Err.Reason, c.Err.Why().Coded
	}
	if used := s.usagesByReceipt(row.Assistant, recs[record:record+1]); len(used) > 0 {
		r.Used = &used[0].Usage
	}
	var shown assistant.ShownEffect
	if a.ShowEffect != nil {
		if shown, err = a.ShowEffect(ctx, v, c); err != nil {
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			shown, r.Lost = assistant.ShownEffect{}, true
		}
	}
	if shown.Sent == nil {
		shown.Sent = dataParts(c.Payload)
	}
	if shown.Got == nil {
		shown.Got = dataParts(c.Result)
	}
	r.To, r.LeftOut, r.Changed, r.Sent, r.Got = shown.To, shown.LeftOut, shown.Changed, boundParts(shown.Sent),
		boundParts(shown.Got)
	return r, nil
}

// dataParts gives JSON from a record as one indented part; nil if it is empty, null or invalid.
func dataParts(raw json.RawMessage) []assistant.Part {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	b := &bytes.Buffer{}
	if json.Indent(b, raw, "", "  ") != nil {
		return nil
	}
	return []assistant.Part{{Kind: assistant.PartData, Text: b.String()}}
}

func boundParts(parts []assistant.Part) (all []Part) {
	for _, p := range parts[max(0, len(parts)-mostParts):] {
		if p.Tokens == 0 && p.Kind != assistant.PartData {
			p.Tokens = agent.Tokens(p.Text)
		}
		one := Part{p, len(p.Text)}
		one.Text = strings.Clone(text.Clip(p.Text, mostPartText))
		all = append(all, one)
	}
	return all
}

// Tree gives the tree that a run began with; run.ErrIncompatible if this build can't load it.
func (s *Service) Tree(ctx context.Context, owner journal.Owner, id string) (*bt.Tree, error) {
	if _, err := s.config.Store.Run(ctx, owner, id); err != nil {
		return nil, err
	}
	return s.config.Engine.Tree(ctx, owner, id)
}

// Settings gives the settings of a run's tree with their values in the run. It leaves out those that the run was not
// given.
func (s *Service) Settings(ctx context.Context, owner journal.Owner, id string, tree *bt.Tree) ([]bt.Setting, error) {
	recs, err := s.config.Store.Records(ctx, owner, id, 0)
	if err != nil {
		return nil, err
	}
	start, err := run.StartOf(recs)
	if err != nil {
		return nil, err
	}
	all := []bt.Setting{}
	for _, one := range tree.Settings() {
		given := start.Given[one.Key]
		if one.Key != "" && given == nil {
			continue
		}
		if one.Key != "" {
			one.Value = strings.Trim(string(given), `"`) // a number, yes or no, or a word
		}
		all = append(all, one)
	}
	return all, nil
}
