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
	performer
	answers map[int64]*Answer               // by the records of their replies
	saves   map[int64]*run.CompletionRecord // by the same: how they were written
}

// addReceipts puts the receipts into the outcome: those that the tree has folded, and those that came when the run was
// stopped.
func (c *composer) addReceipts(o *Outcome, e run.Ending) {
	for seq, done := range c.view.Receipts() {
		c.addReceipt(o, seq, done)
	}
	for n := range e.Unfolded {
		c.addReceipt(o, unrecorded, &e.Unfolded[n])
	}
	over := e.Cancelled || !e.Suspended && e.Status != bt.Success
	for seq, a := range c.answers {
		if done := c.saves[seq]; done != nil {
			c.setFile(o, a, done)
		} else if over {
			c.leaveUnsaved(o, a, seq)
		}
	}
	order := func(s Seat) int { return slices.Index(c.given.Oracles, s) }
	slices.SortStableFunc(o.Answers, func(a, b Answer) int { return cmp.Compare(order(a.Oracle), order(b.Oracle)) })
	slices.SortStableFunc(o.Silent, func(a, b Silent) int { return cmp.Compare(order(a.Oracle), order(b.Oracle)) })
	if whole := !e.Cancelled && !e.Suspended; whole && c.given.Chaired && len(o.Answers) == 1 {
		o.Skipped = append(o.Skipped, Skipped{partChair, tooFew.With()})
	}
}

// unrecorded is the record number of a receipt without a record: it came when the run was stopped.
const unrecorded = -1

// addReceipt puts what an effect gave into the outcome. seq is its record, or unrecorded.
func (c *composer) addReceipt(o *Outcome, seq int64, done *run.CompletionRecord) {
	switch r := done.Value.(type) {
	case ReplyReceipt:
		if done.Err == nil || r.Text != "" {
			o.Answer = c.newAnswer(seq, r.Composed, Answer{Oracle: c.firstOracle(), Text: r.Text, Model: r.Model,
				Usage: r.Usage, CutOff: r.Finish == string(model.FinishLength) || done.Err != nil,
				Repeated: r.Finish == string(model.FinishRepeated)})
		}
	case ChairReceipt:
		if done.Err == nil && !r.Poor {
			o.dropSkipped(partChair)
			o.Chair, o.MergedAnswers = c.newAnswer(seq, r.Composed, Answer{Oracle: c.given.Chair, Text: r.Text, Model: r.Model,
				Usage: r.Usage}), &r.MergedAnswers
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
		c.saves[asked.Reply] = done
	case MemberPayload:
		o.addMember(seq, asked, done)
	case ChairPayload:
		r, _ := done.Value.(ChairReceipt)
		switch {
		case done.Err != nil:
			o.dropSkipped(partChair)
			o.Skipped = append(o.Skipped, Skipped{partChair, done.Err.Why()})
		case r.Poor:
			o.dropSkipped(partChair)
			o.Skipped = append(o.Skipped, Skipped{partChair, poorChair.With()})
		}
	}
}

// dropSkipped forgets that a part was left out, since it was tried again.
func (o *Outcome) dropSkipped(part string) {
	o.Skipped = slices.DeleteFunc(o.Skipped, func(s Skipped) bool { return s.What == part })
}

// newAnswer completes an answer that was given in this run.
func (c *composer) newAnswer(seq int64, sent Composed, a Answer) *Answer {
	a.Run, a.Snapshot = c.view.ID, sent.snapshot(c.given.Snapshot)
	a.Snapshot.Model = cmp.Or(a.Model, a.Snapshot.Model)
	if seq != unrecorded {
		a.At = c.recordedAt(seq)
		c.answers[seq] = &a
	}
	return &a
}

// addMember adds the answer of an oracle of a sitting, or why it gave none.
func (o *Outcome) addMember(seq int64, asked MemberPayload, done *run.CompletionRecord) {
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

// setFile says in which file an answer is, or that it is still to be saved.
func (c *composer) setFile(o *Outcome, a *Answer, done *run.CompletionRecord) {
	if r, ok := done.Value.(KeepReceipt); ok && done.Err == nil {
		a.Sequence, a.File = r.Sequence, r.File
		return
	}
	a.Unsaved = "it could not be written to the session's folder"
	if done.Err != nil {
		a.Unsaved = done.Err.Reason
	}
	if p, ok := done.Asked.(KeepPayload); ok {
		c.setUnsaved(o, p)
	}
}

// leaveUnsaved has the answer in a record saved later, if it is whole: the run was over before it was.
func (c *composer) leaveUnsaved(o *Outcome, a *Answer, seq int64) {
	if done, err := c.view.Receipt(seq); err != nil || done.Err != nil {
		return
	}
	p := KeepPayload{Reply: seq, Oracle: a.Oracle}
	if a == o.Chair {
		p.Kind = mergedKind
	}
	a.Unsaved = overBefore
	c.setUnsaved(o, p)
}

const overBefore = "the run was over before it was written there"

func (c *composer) setUnsaved(o *Outcome, p KeepPayload) {
	if r, err := c.responseEntry(p); err == nil {
		o.Unsaved = &Unsaved{c.given.Session, r.LlmEntry, r.Slug, r.Text}
	}
}

// firstOracle is the oracle of an answer.
func (p *performer) firstOracle() Seat {
	if len(p.given.Oracles) == 0 {
		return Seat{}
	}
	return p.given.Oracles[0]
}

func (c *composer) recordedAt(seq int64) time.Time { return c.view.Records()[seq].At.UTC() }
