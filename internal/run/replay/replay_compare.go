package run

import (
	"context"
	"maps"
	"slices"

	"sibyl/internal/bt"
)

// compare tells what a step decides otherwise, and finds the recorded completions of what it asks for.
func (r *replayer) compare(ctx context.Context, was *pastStep, at Moment) (Difference, error) {
	d := Difference{Moment: at}
	r.compareWithdrawn(was, &d)
	left := slices.DeleteFunc(slices.Clone(was.asked), func(a Asked) bool { return a.op != 0 && r.claimed[a.op] }) // asked for earlier
	rest, equal := r.pairEqual(&left)
	extra := r.pairElsewhere(rest, was.known, &d)
	pairs, extra := pairByLeaf(extra, &left)
	for _, e := range extra {
		if was.known {
			d.Extra = append(d.Extra, askedBy(e, r.e.Redact))
		}
	}
	for _, a := range left {
		r.told[a.op] = true
		if !r.waits {
			d.Missing = append(d.Missing, a)
		}
	}
	d.Ending = r.changedEnding(was)
	if len(d.Extra)+len(d.Missing)+len(d.Kept)+len(d.Withdrawn) > 0 || d.Ending != nil {
		d.Kind, r.parted = OtherDecision, true
	}
	for _, p := range pairs {
		d.Requests = append(d.Requests, r.changedRequest(p))
		if r.parted {
			r.told[p.was.op] = true
		} else {
			r.bind(p.effect, p.was.op)
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

// changedEnding compares how the trees stand after a step. Once they have parted, only their ends are compared.
func (r *replayer) changedEnding(was *pastStep) *ChangedEnding {
	ended, would := was.status, r.f.status()
	if r.parted {
		if would == bt.Running.String() {
			return nil
		}
		ended = r.p.last().status
	}
	if !was.known || ended == would {
		return nil
	}
	e := &ChangedEnding{Was: ended, Would: would}
	if f := r.f.last.Fault; f != nil {
		e.Reason = &bt.Fault{Kind: f.Kind, Reason: r.redact(f.Reason), Node: f.Node}
	}
	return e
}

func (r *replayer) redact(s string) string { return string(r.e.Redact([]byte(s))) }

// pair is an effect of the replay beside one of the recorded run.
type pair struct {
	effect bt.Effect
	was    Asked
}

// pairEqual pairs the effects that the recorded step asked for as well, and takes those out of left. It gives the others,
// and the pairs.
func (r *replayer) pairEqual(left *[]Asked) (rest []bt.Effect, equal []pair) {
	for _, e := range r.f.last.Start {
		digest := Digest(e)
		i := slices.IndexFunc(*left, func(a Asked) bool {
			if a.op == 0 || a.digest == "" { // all that is known of it is its label
				return a.Label == askedBy(e, r.e.Redact).Name()
			}
			return a.Leaf == e.Leaf && a.digest == digest
		})
		if i < 0 {
			rest = append(rest, e)
			continue
		}
		was := (*left)[i]
		*left = slices.Delete(*left, i, i+1)
		r.bind(e, was.op)
		equal = append(equal, pair{e, was})
	}
	return rest, equal
}

// pairElsewhere finds effects that the recorded run asked for at another time, and gives those it never did. Of one that an
// earlier difference missed nothing more is to be told.
func (r *replayer) pairElsewhere(effects []bt.Effect, known bool, d *Difference) (rest []bt.Effect) {
	for _, e := range effects {
		op := r.elsewhere(e)
		if op == 0 {
			rest = append(rest, e)
			continue
		}
		r.bind(e, op)
		if known && !r.told[op] {
			a := askedBy(e, r.e.Redact)
			a.Record = r.p.receipts[op].Record
			d.Extra = append(d.Extra, a)
		}
	}
	return rest
}

// elsewhere is the first operation of the recorded run with this request that nothing stands for; 0: there is none.
func (r *replayer) elsewhere(e bt.Effect) uint64 {
	digest := Digest(e)
	for _, op := range slices.Sorted(maps.Keys(r.p.receipts)) {
		if a := r.p.receipts[op]; a.Record != 0 && a.Leaf == e.Leaf && a.digest == digest && !r.claimed[op] {
			return op
		}
	}
	return 0
}

// pairByLeaf pairs effects with recorded ones of the same leaf type, in order, and takes those out of left.
func pairByLeaf(effects []bt.Effect, left *[]Asked) (pairs []pair, rest []bt.Effect) {
	for _, e := range effects {
		i := slices.IndexFunc(*left, func(a Asked) bool { return a.Leaf == e.Leaf })
		if i < 0 {
			rest = append(rest, e)
			continue
		}
		pairs = append(pairs, pair{e, (*left)[i]})
		*left = slices.Delete(*left, i, i+1)
	}
	return pairs, rest
}

// bind lets an effect have the completion of a recorded operation.
func (r *replayer) bind(e bt.Effect, op uint64) {
	if op != 0 {
		r.stands[op], r.means[e.Op], r.claimed[op] = e, op, true
	}
}

// compareWithdrawn compares what the two steps withdrew of what both had asked for. The completion of what only the replay
// withdraws is free for the next that asks for the same.
func (r *replayer) compareWithdrawn(was *pastStep, d *Difference) {
	would := map[uint64]bool{}
	for _, op := range r.f.last.Cancel {
		recorded, ok := r.means[op]
		if !ok {
			continue
		}
		would[recorded] = true
		if was.known && !slices.Contains(was.Cancel, recorded) {
			d.Withdrawn = append(d.Withdrawn, askedBy(r.stands[recorded], r.e.Redact))
		}
		delete(r.claimed, recorded)
	}
	for _, op := range was.Cancel {
		e, ok := r.stands[op]
		if _, open := r.f.open[e.Op]; ok && open && !would[op] && !r.waits {
			d.Kept = append(d.Kept, askedBy(e, r.e.Redact))
		}
	}
}

func (r *replayer) changedRequest(p pair) ChangedRequest {
	c := ChangedRequest{Was: p.was, Would: askedBy(p.effect, r.e.Redact)}
	c.Changes = changesOf(c.Was.Payload, c.Would.Payload)
	if c.Was.Kind != c.Would.Kind {
		c.Changes = append(c.Changes, Change{Path: "(kind)", Was: c.Was.Kind, Would: c.Would.Kind})
	}
	return c
}

// compareSent composes anew what completed effects sent beyond their payload.
func (r *replayer) compareSent(ctx context.Context, equal []pair) (all []ChangedSending, err error) {
	if r.a.Sends == nil {
		return nil, nil
	}
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

func (r *replayer) changedSending(ctx context.Context, c CompletionRecord) (ChangedSending, bool) {
	was, own, err := r.sends(ctx, r.view, c)
	if err != nil {
		return ChangedSending{Was: was, Build: true, Why: err.Error()}, true
	}
	s := ChangedSending{Was: was, Would: own, Build: own.Hash != was.Hash}
	if r.changed == nil {
		s.Parts = changedParts(was.Parts, own.Parts)
		return s, s.Build
	}
	if _, s.Would, err = r.sends(ctx, r.changed, c); err != nil {
		s.Why = err.Error()
		return s, true
	}
	s.Parts = changedParts(own.Parts, s.Would.Parts)
	return s, s.Would.Hash != was.Hash
}

func (r *replayer) sends(ctx context.Context, v *View, c CompletionRecord) (was, would Sent, err error) {
	defer contain(r.a.Name, &err)
	return r.a.Sends(ctx, v, c)
}

// changedParts lists the parts that differ, in the order of the first, then of the second list.
func changedParts(was, would []Part) []ChangedPart {
	changed := []ChangedPart{}
	for _, w := range was {
		i := slices.IndexFunc(would, func(p Part) bool { return p.Name == w.Name })
		switch {
		case i < 0:
			changed = append(changed, ChangedPart{Name: w.Name, Was: w.Tokens})
		case w.Hash != "" && would[i].Hash != "" && w.Hash != would[i].Hash:
			changed = append(changed, ChangedPart{Name: w.Name, Was: w.Tokens, Would: would[i].Tokens})
		}
	}
	for _, w := range would {
		if !slices.ContainsFunc(was, func(p Part) bool { return p.Name == w.Name }) {
			changed = append(changed, ChangedPart{Name: w.Name, Would: w.Tokens})
		}
	}
	return changed
}

// wayOf lays the events of two steps side by side.
func wayOf(was, would []TraceEvent) Way {
	w := Way{Was: was, Would: would}
	for w.Same < len(was) && w.Same < len(would) && was[w.Same] == would[w.Same] {
		w.Same++
	}
	return w
}
