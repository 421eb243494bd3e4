package replay

import (
	"context"
	"maps"
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/run"
)

// compare tells what a step decides otherwise, and finds the recorded completions of what it asks for.
func (r *replayer) compare(ctx context.Context, was *step) (Difference, error) {
	d := Difference{Moment: was.moment()}
	r.compareWithdrawn(was, &d)
	left := slices.DeleteFunc(slices.Clone(was.asked), r.bound) // the others were asked for earlier
	equal, rest := pairs(r.fold.Last().Start, &left, func(e bt.Effect, a Asked) bool { return a.Leaf == e.Leaf && a.Digest == run.Digest(e) })
	for _, p := range equal {
		r.bind(p.effect, p.was.Op)
	}
	rest = r.pairElsewhere(rest, was, &d)
	changed, rest := pairs(rest, &left, func(e bt.Effect, a Asked) bool { return a.Leaf == e.Leaf })
	for _, e := range rest {
		if was.known() {
			d.Extra = append(d.Extra, r.askedBy(e))
		}
	}
	for _, a := range left {
		r.reported[a.Op] = true
		if !r.waits {
			d.Missing = append(d.Missing, a)
		}
	}
	d.Ending = r.changedEnding(was)
	if len(d.Extra)+len(d.Missing)+len(d.Kept)+len(d.Withdrawn) > 0 || d.Ending != nil {
		d.Kind, r.diverged = OtherDecision, true
	}
	for _, p := range changed {
		d.Requests = append(d.Requests, r.changedRequest(p))
		if r.diverged {
			r.reported[p.was.Op] = true
		} else {
			r.bind(p.effect, p.was.Op)
		}
	}
	var err error
	if d.Sent, err = r.compareSent(ctx, equal); err != nil {
		return d, err
	}
	switch {
	case d.Kind != "":
	case len(d.Requests) > 0:
		d.Kind = OtherRequest
	case len(d.Sent) > 0:
		d.Kind = OtherSending
	}
	return d, nil
}

// changedEnding compares how the trees stand after a step. Once the decisions differ, only the ends are compared.
func (r *replayer) changedEnding(was *step) *ChangedEnding {
	ended, would := was.Status, r.fold.Ending().Status.String()
	if r.diverged {
		if would == bt.Running.String() {
			return nil
		}
		ended = r.steps[len(r.steps)-1].Status
	}
	if !was.known() || ended == would {
		return nil
	}
	e := &ChangedEnding{Was: ended, Would: would}
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

// pairElsewhere finds effects that the recorded run asked for at another time, and gives those it never did. Of one
// that an earlier difference missed nothing more is told.
func (r *replayer) pairElsewhere(effects []bt.Effect, was *step, d *Difference) (rest []bt.Effect) {
	for _, e := range effects {
		op := r.completed(e)
		if op == 0 {
			rest = append(rest, e)
			continue
		}
		r.bind(e, op)
		if was.known() && !r.reported[op] {
			a := r.askedBy(e)
			a.Record = r.receipts[op].Record
			d.Extra = append(d.Extra, a)
		}
	}
	return rest
}

// bind lets an effect have the completion of a recorded operation.
func (r *replayer) bind(e bt.Effect, op uint64) {
	r.effects[op], r.recorded[e.Op] = e, op
}

// bound says whether an effect has the completion of a recorded one.
func (r *replayer) bound(a Asked) bool {
	_, bound := r.effects[a.Op]
	return bound
}

// completed gives the first recorded operation with this request whose completion no effect has; 0: there is none.
func (r *replayer) completed(e bt.Effect) uint64 {
	digest := run.Digest(e)
	for _, op := range slices.Sorted(maps.Keys(r.receipts)) {
		if a := r.receipts[op]; a.Record != 0 && a.Leaf == e.Leaf && a.Digest == digest && !r.bound(a) {
			return op
		}
	}
	return 0
}

// compareWithdrawn compares what the two steps withdrew of what both had asked for. The completion of what only the
// replay withdraws is free for the next that asks for the same.
func (r *replayer) compareWithdrawn(was *step, d *Difference) {
	for _, op := range r.fold.Last().Cancel {
		recorded, ok := r.recorded[op]
		if !ok {
			continue
		}
		if was.known() && !slices.Contains(was.Cancel, recorded) {
			d.Withdrawn = append(d.Withdrawn, r.askedBy(r.effects[recorded]))
		}
		delete(r.effects, recorded)
	}
	open := r.fold.Open()
	for _, op := range was.Cancel {
		if e, ok := r.effects[op]; ok && contains(open, e.Op) && !r.waits {
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
	return was.Hash != would.Hash || was.Parts != nil && would.Parts != nil && len(changedParts(was.Parts, would.Parts)) > 0
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
			changed = append(changed, ChangedPart{Kind: p.Kind, Name: p.Name, Change: PartChanged, Was: p.Tokens, Would: would[i].Tokens})
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
