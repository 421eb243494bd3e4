package council

import (
	"cmp"
	"slices"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// composer makes an outcome of receipts.
type composer struct {
	performing
	answers map[int64]*Answer               // by the records of their replies
	kept    map[int64]*run.CompletionRecord // by the same: how they were written
}

// compose reads the receipts: those that the tree has taken in, and those that came when the run was stopped.
func (c *composer) compose(o *Outcome, e run.Ending) {
	for seq, done := range c.view.Receipts() {
		c.receipt(o, seq, done)
	}
	for n := range e.Under {
		c.receipt(o, unrecorded, &e.Under[n])
	}
	for seq, a := range c.answers {
		c.place(o, a, c.kept[seq])
	}
	order := func(s Seat) int { return slices.Index(c.given.Oracles, s) }
	slices.SortStableFunc(o.Answers, func(a, b Answer) int { return cmp.Compare(order(a.Oracle), order(b.Oracle)) })
	slices.SortStableFunc(o.Silent, func(a, b Silent) int { return cmp.Compare(order(a.Oracle), order(b.Oracle)) })
	if whole := !e.Cancelled && !e.Suspended; whole && c.given.Chaired && len(o.Answers) == 1 {
		o.Skipped = append(o.Skipped, Skipped{partChair, tooFew.With()})
	}
}

// unrecorded stands for the record of a receipt that has none of its own: it came when the run was stopped.
const unrecorded = -1

// receipt takes in what came of an effect, by its record.
func (c *composer) receipt(o *Outcome, seq int64, done *run.CompletionRecord) {
	switch r := done.Value.(type) {
	case ReplyReceipt:
		if done.Err == nil || r.Text != "" {
			o.Answer = c.answer(seq, Answer{Oracle: c.seat(), Text: r.Text, Model: r.Model, Usage: r.Usage,
				CutOff: r.Finish == string(model.FinishLength) || done.Err != nil})
		}
	case ChairReceipt:
		if done.Err == nil {
			o.Chair, o.Merged = c.answer(seq, Answer{Oracle: c.given.Chair, Text: r.Text, Model: r.Model,
				Usage: r.Usage}), &r.Merged
		}
	case NextReceipt:
		o.Before = r.Failed
	case TranscriptReceipt:
		switch {
		case done.Err != nil:
		case r.Failed != "":
			o.Failed = append(o.Failed, Recording{Sequence: r.Sequence, File: done.Label, Failed: r.Failed})
		default:
			o.Recordings = append(o.Recordings, r)
		}
	case NameReceipt:
		if done.Err == nil {
			o.Name = r.Name
		}
	}
	switch asked := done.Asked.(type) {
	case KeepPayload:
		c.kept[asked.Reply] = done
	case MemberPayload:
		o.member(seq, asked, done)
	case ChairPayload:
		if done.Err != nil {
			o.Skipped = append(o.Skipped, Skipped{partChair, done.Err.Why()})
		}
	}
}

// answer is one of this very run.
func (c *composer) answer(seq int64, a Answer) *Answer {
	a.Run, a.Snapshot = c.view.ID, c.given.Snapshot
	a.Snapshot.Model = cmp.Or(a.Model, a.Snapshot.Model)
	if seq != unrecorded {
		a.At = c.at(seq)
		c.answers[seq] = &a
	}
	return &a
}

// member takes in how an oracle of a sitting has answered.
func (o *Outcome) member(seq int64, asked MemberPayload, done *run.CompletionRecord) {
	r, _ := done.Value.(MemberReceipt)
	switch {
	case done.Err == nil && r.Answer != nil:
		o.Answers = append(o.Answers, *r.Answer)
		return
	case done.Err != nil && seq == unrecorded:
		r.Failed, r.Coded = wasStopped, bt.Coded{}
	case done.Err != nil:
		r.Failed, r.Coded = done.Err.Reason, done.Err.Why().Coded
	}
	o.Silent = append(o.Silent, Silent{asked.Oracle, r.Run, r.Failed, r.Coded})
}

// place says where an answer lies, or that it has to be written yet.
func (c *composer) place(o *Outcome, a *Answer, done *run.CompletionRecord) {
	if done == nil {
		return // it was stopped before
	}
	if r, ok := done.Value.(KeepReceipt); ok && done.Err == nil {
		a.Sequence, a.File = r.Sequence, r.File
		return
	}
	a.Unsaved = "it could not be written to the session's folder"
	if done.Err != nil {
		a.Unsaved = done.Err.Reason
	}
	if p, ok := done.Asked.(KeepPayload); ok {
		if r, err := c.response(p); err == nil {
			o.Unsaved = &Unsaved{c.given.Session, r.LlmEntry, r.Slug, r.Text}
		}
	}
}

// seat is the oracle of an answer.
func (c *composer) seat() Seat {
	if len(c.given.Oracles) == 0 {
		return Seat{}
	}
	return c.given.Oracles[0]
}

func (c *composer) at(seq int64) time.Time { return c.view.Records()[seq].At.UTC() }
