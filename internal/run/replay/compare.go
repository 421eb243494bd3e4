package replay

import (
	"context"
	"maps"
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/run"
)

// compare tells what a step decides otherwise, and lets what it asks for have the completions of what the recorded one
// asked for.
func (r *replayer) compare(ctx context.Context, was *step) (d Difference, err error) {
	d.Moment = was.moment()
	starts := r.fold.Last().Start
	left := slices.Clone(was.asked)
	if !was.known() {
		left = r.unanswered()
	}
	equal, rest := pairs(starts, &left, isRequest)
	for _, p := range equal {
		r.answers[p.was.Op] = p.effect
	}
	if d.Sent, err = r.compareSent(ctx, equal); err != nil {
		return d, err
	}
	if was.known() {
		r.compareDecisions(was, rest, left, &d)
	}
	switch {
	case len(d.Extra)+len(d.Missing)+len(d.Kept)+len(d.Withdrawn) > 0 || d.Ending != nil:
		d.Kind = OtherDecision
	case len(d.Requests) > 0:
		d.Kind = OtherRequest
	case len(d.Sent) > 0:
		d.Kind = OtherSending
	}
	return d, nil
}

// unanswered are the recorded requests whose completions no effect has, in the order in which they were asked for.
func (r *replayer) unanswered() (all []Asked) {
	for _, op := range slices.Sorted(maps.Keys(r.receipts)) {
		if _, answered := r.answers[op]; !answered && r.receipts[op].Record != 0 {
			all = append(all, r.receipts[op])
		}
	}
	return all
}

// compareDecisions compares effects of the replay that have no equal with what is left of those of the recorded step,
// and what the two withdraw and how they end.
func (r *replayer) compareDecisions(was *step, effects []bt.Effect, left []Asked, d *Difference) {
	r.compareWithdrawn(was, d)
	other := slices.DeleteFunc(r.unanswered(), func(a Asked) bool { return contains(left, a) })
	early, effects := pairs(effects, &other, isRequest)
	for _, p := range early { // the recorded run asks for it at another time
		a := r.askedBy(p.effect)
		a.Record = p.was.Record
		d.Extra = append(d.Extra, a)
	}
	changed, rest := pairs(effects, &left, func(e bt.Effect, a Asked) bool { return a.Leaf == e.Leaf })
	for _, p := range changed {
		d.Requests = append(d.Requests, r.changedRequest(p))
		r.answers[p.was.Op] = p.effect
	}
	for _, e := range rest {
		d.Extra = append(d.Extra, r.askedBy(e))
	}
	d.Missing = left
	d.Ending = r.changedEnding(was)
}

// changedEnding compares how the trees stand after a step.
func (r *replayer) changedEnding(was *step) *ChangedEnding {
	would := r.fold.Ending().Status.String()
	if was.Status == would {
		return nil
	}
	e := &ChangedEnding{Was: was.Status, Would: would}
	if f := r.fold.Last().Fault; f != nil {
		e.Reason = &bt.Fault{Kind: f.Kind, Reason: string(r.redact([]byte(f.Reason))), Node: f.Node}
	}
	return e
}

// pair is an effect of the replay beside one of the recorded run.
type pair struct {
	effect bt.Effect
	was    Asked
}

// isRequest says whether a recorded effect asks for the same.
func isRequest(e bt.Effect, a Asked) bool { return a.Leaf == e.Leaf && a.Digest == run.Digest(e) }

func contains(all []Asked, a Asked) bool {
	return slices.ContainsFunc(all, func(other Asked) bool { return other.Op == a.Op })
}

// pairs pairs effects with recorded ones, in order, and takes those out of left. It gives the effects that have none,
// too.
func pairs(effects []bt.Effect, left *[]Asked, fit func(bt.Effect, Asked) bool) (found []pair, rest []bt.Effect) {
	for _, e := range effects {
		i := slices.IndexFunc(*left, func(a Asked) bool { return fit(e, a) })
		if i < 0 {
			rest = append(rest, e)
			continue
		}
		found = append(found, pair{e, (*left)[i]})
		*left = slices.Delete(*left, i, i+1)
	}
	return found, rest
}

// compareWithdrawn compares what the two steps withdrew of what both had asked for.
func (r *replayer) compareWithdrawn(was *step, d *Difference) {
	for _, op := range r.fold.Last().Cancel {
		if recorded := r.recordedOf(op); recorded != 0 && !slices.Contains(was.Cancel, recorded) {
			d.Withdrawn = append(d.Withdrawn, r.askedBy(r.answers[recorded]))
		}
	}
	open := r.fold.Open()
	for _, op := range was.Cancel {
		e, ok := r.answers[op]
		if ok && slices.ContainsFunc(open, func(o bt.Effect) bool { return o.Op == e.Op }) {
			d.Kept = append(d.Kept, r.askedBy(e))
		}
	}
}

func (r *replayer) changedRequest(p pair) ChangedRequest {
	c := ChangedRequest{Was: p.was, Would: r.askedBy(p.effect), Changes: []Change{}}
	if c.Was.Payload != nil {
		c.Changes = append(c.Changes, changesOf(c.Was.Payload, c.Would.Payload)...)
	}
	if c.Was.Kind != c.Would.Kind {
		c.Changes = append(c.Changes, Change{Path: "(kind)", Was: c.Was.Kind, Would: c.Would.Kind})
	}
	return c
}

// compareSent composes anew what completed effects sent beyond their payload.
func (r *replayer) compareSent(ctx context.Context, equal []pair) (all []ChangedSending, err error) {
	for _, p := range equal {
		if p.was.Record == 0 {
			continue
		}
		c, err := r.view.Receipt(p.was.Record)
		if err != nil {
			return nil, err
		}
		if s, differs := r.changedSending(ctx, c); differs {
			s.Request = p.was
			all = append(all, s)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (r *replayer) changedSending(ctx context.Context, c *run.CompletionRecord) (ChangedSending, bool) {
	was, own, err := r.a.Sent(ctx, r.view, c)
	if err != nil {
		return ChangedSending{Was: was, Build: true, Why: err.Error()}, true
	}
	s := ChangedSending{Was: was, Would: own, Build: differ(was, own)}
	if r.changed == nil {
		s.Parts = changedParts(was.Parts, own.Parts)
		return s, s.Build
	}
	if _, s.Would, err = r.a.Sent(ctx, r.changed, c); err != nil {
		s.Why = err.Error()
		return s, true
	}
	s.Parts = changedParts(own.Parts, s.Would.Parts)
	return s, differ(was, s.Would)
}

// differ compares by the hash of all, and by parts where those of both are known: a hash need not cover every part.
func differ(was, would run.Sent) bool {
	return was.Hash != would.Hash || was.Parts != nil && would.Parts != nil &&
		len(changedParts(was.Parts, would.Parts)) > 0
}

// changedParts lists the parts that differ, in the order of the first, then of the second list.
func changedParts(was, would []run.Part) []ChangedPart {
	changed := []ChangedPart{}
	find := func(in []run.Part, p run.Part) int {
		return slices.IndexFunc(in, func(other run.Part) bool { return other.Kind == p.Kind && other.Name == p.Name })
	}
	for _, p := range was {
		i := find(would, p)
		switch {
		case i < 0:
			changed = append(changed, ChangedPart{Kind: p.Kind, Name: p.Name, Change: PartRemoved, Was: p.Tokens})
		case p.Hash != "" && would[i].Hash != "" && p.Hash != would[i].Hash:
			changed = append(changed, ChangedPart{Kind: p.Kind, Name: p.Name, Change: PartChanged, Was: p.Tokens,
				Would: would[i].Tokens})
		}
	}
	for _, p := range would {
		if find(was, p) < 0 {
			changed = append(changed, ChangedPart{Kind: p.Kind, Name: p.Name, Change: PartAdded, Would: p.Tokens})
		}
	}
	return changed
}

// SameEvent says whether two events tell the same: the same rule, with the same status, type of event or key and value.
// In reasons there are places in a file, and the data of events grow from build to build: neither counts.
func SameEvent(a, b run.TraceEvent) bool {
	return a.Rule == b.Rule && a.Status == b.Status && a.Type == b.Type && a.Key == b.Key && a.Value == b.Value
}

func compareTraces(was, would []run.TraceEvent) TraceDiff {
	d := TraceDiff{Was: was, Would: would}
	for d.Same < len(was) && d.Same < len(would) && SameEvent(was[d.Same], would[d.Same]) {
		d.Same++
	}
	return d
}

func (d TraceDiff) differ() bool { return d.Same < len(d.Was) || d.Same < len(d.Would) }
