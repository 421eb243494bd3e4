package service

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"sibyl/internal/agent"
	"sibyl/internal/assistant"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// Receipt is an effect with what it sent and what came back.
type Receipt struct {
	run.Asked
	Record    int64
	At        time.Time
	Took      time.Duration
	Found     bool             // it was performed before a crash, and found afterwards
	Fault     *bt.Fault        // why it failed; nil: it did not
	To        string           // the model that answered, or the tool
	Used      *assistant.Usage // by that model; nil: it is none, or does not say
	Sent, Got []Part
	LeftOut   []string // of the prompt, each with the reason
	Changed   bool     // this build composes another prompt than the one that was sent: Sent has that other one
	Lost      bool     // what was sent can't be composed any more: Sent is what the record has
}

// Part is a part of what was sent or came back. Of a long one Text is the beginning.
type Part struct {
	assistant.Part
	Bytes int // of the whole
}

// The bounds of a receipt that is told.
const (
	mostParts    = 1000
	mostPartText = 64 << 10 // bytes
)

// Receipt tells the effect whose receipt is a record of a run; journal.ErrNotFound if that record is none.
func (s *Service) Receipt(ctx context.Context, owner journal.Owner, id string, record int64) (Receipt, error) {
	row, a, err := s.run(ctx, owner, id)
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
	r := Receipt{Asked: run.Asked{Op: c.Op, Leaf: c.Leaf, Kind: c.Kind, Label: c.Label, Digest: c.Digest}, Record: record, At: recs[record].At,
		Took: time.Duration(c.TookMS) * time.Millisecond, Found: c.Found, Fault: c.Err}
	if used := s.usedOf(row.Assistant, recs[record:record+1]); len(used) > 0 {
		r.Used = &used[0].Usage
	}
	var told assistant.Exchanged
	if a.Exchanged != nil {
		if told, err = a.Exchanged(ctx, v, c); err != nil {
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			told, r.Lost = assistant.Exchanged{}, true
		}
	}
	if told.Sent == nil {
		told.Sent = data(c.Payload)
	}
	if told.Got == nil {
		told.Got = data(c.Result)
	}
	r.To, r.LeftOut, r.Changed, r.Sent, r.Got = told.To, told.LeftOut, told.Changed, bounded(told.Sent), bounded(told.Got)
	return r, nil
}

// data is what a record holds, as it is.
func data(raw json.RawMessage) []assistant.Part {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	b := &bytes.Buffer{}
	if json.Indent(b, raw, "", "  ") != nil {
		return nil
	}
	return []assistant.Part{{Kind: assistant.PartData, Text: b.String()}}
}

func bounded(parts []assistant.Part) (all []Part) {
	for _, p := range parts[max(0, len(parts)-mostParts):] {
		if p.Tokens == 0 && p.Kind != assistant.PartData {
			p.Tokens = agent.Tokens(p.Text)
		}
		one := Part{p, len(p.Text)}
		if one.Bytes > mostPartText {
			cut := mostPartText
			for !utf8.RuneStart(p.Text[cut]) {
				cut--
			}
			one.Text = strings.Clone(p.Text[:cut])
		}
		all = append(all, one)
	}
	return all
}

// Tree is the tree that decides in a run, or has decided.
func (s *Service) Tree(ctx context.Context, owner journal.Owner, id string) (*bt.Tree, error) {
	if _, err := s.config.Store.Run(ctx, owner, id); err != nil {
		return nil, err
	}
	return s.config.Engine.Tree(ctx, owner, id)
}
