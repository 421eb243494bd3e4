package replay

import (
	"context"
	"maps"
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/run"
)

// compareStep returns how a step with these requests differs from the recorded one, and assigns the completions of
// equal recorded requests to them. If the recorded decision is unknown, only what was sent is compared.
func (r *replayer) compareStep(ctx context.Context, was *step, requests []Asked) (d Difference, err error) {
	d.Moment = was.at
	left := r.requestsOf(was)
	if !was.isKnown() {
		left = r.unusedRequests()
	}
	equal, rest := pairRequests(requests, &left, Asked.isSame)
	for _, a := range rest {
		r.unanswered[a.Op] = a
	}
	r.useCompletions(equal)
	if d.Sent, err = r.compareSent(ctx, equal); err != nil {
		return d, err
	}
	if was.isKnown() {
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

// isSame says whether two requests are equal.
func (a Asked) isSame(other Asked) bool { return a.Leaf == other.Leaf && a.Digest == other.Digest }

func sameLeaf(a, other Asked) bool { return a.Leaf == other.Leaf }

// useCompletions gives requests of the replay the completions of the recorded requests that they are paired with.
func (r *replayer) useCompletions(all []ChangedRequest) {
	for _, p := range all {
		r.answers[p.Was.Op] = p.Would
		delete(r.unanswered, p.Would.Op)
	}
}

// unusedRequests are the completed recorded requests that no request of the replay is paired with, in order.
func (r *replayer) unusedRequests() (all []Asked) {
	for _, op := range slices.Sorted(maps.Keys(r.asked)) {
		if _, answered := r.answers[op]; !answered && r.asked[op].Record != 0 {
			all = append(all, r.asked[op])
		}
	}
	return all
}

// pairRequests pairs requests of the replay with recorded ones, in order, and removes those from left. rest are the
// requests of the replay without a pair.
func pairRequests(starts []Asked, left *[]Asked, fit func(a, other Asked) bool) (found []ChangedRequest, rest []Asked) {
	for _, a := range starts {
		i := slices.IndexFunc(*left, func(was Asked) bool { return fit(a, was) })
		if i < 0 {
			rest = append(rest, a)
			continue
		}
		found = append(found, ChangedRequest{Was: (*left)[i], Would: a, Changes: []Change{}})
		*left = slices.Delete(*left, i, i+1)
	}
	return found, rest
}

// compareDecisions compares the unequal requests of the replay with those left of the recorded step, and what both
// withdraw and how they end.
func (r *replayer) compareDecisions(was *step, starts, left []Asked, d *Difference) {
	r.compareWithdrawn(was, d)
	other := slices.DeleteFunc(r.unusedRequests(), func(a Asked) bool {
		return slices.ContainsFunc(left, func(l Asked) bool { return l.Op == a.Op })
	})
	early, starts := pairRequests(starts, &other, Asked.isSame)
	for _, p := range early { // the recorded run asks for it at another time
		p.Would.Record = p.Was.Record
		d.Extra = append(d.Extra, p.Would)
	}
	d.Requests, starts = pairRequests(starts, &left, sameLeaf)
	for i := range d.Requests {
		d.Requests[i].fillChanges()
	}
	r.useCompletions(d.Requests)
	d.Extra = append(d.Extra, starts...)
	d.Missing = left
	would := r.fold.Ending().Status.String()
	if was.Status == would {
		return
	}
	d.Ending = &ChangedEnding{Was: was.Status, Would: would}
	if f := r.fold.Last().Fault; f != nil {
		d.Ending.Reason = &bt.Fault{Kind: f.Kind, Reason: string(r.redact([]byte(f.Reason))), Node: f.Node}
	}
}

// compareWithdrawn compares which common requests the two steps withdrew.
func (r *replayer) compareWithdrawn(was *step, d *Difference) {
	open := r.fold.Open()
	for _, op := range slices.Sorted(maps.Keys(r.answers)) {
		a := r.answers[op]
		recorded := slices.Contains(was.Cancel, op)
		switch {
		case !recorded && slices.Contains(r.fold.Last().Cancel, a.Op):
			d.Withdrawn = append(d.Withdrawn, a)
		case recorded && slices.ContainsFunc(open, func(e bt.Effect) bool { return e.Op == a.Op }):
			d.Kept = append(d.Kept, a)
		}
	}
}

// fillChanges lists the differences of the two requests.
func (c *ChangedRequest) fillChanges() {
	if c.Was.Payload != nil {
		c.Changes = append(c.Changes, changesOf(c.Was.Payload, c.Would.Payload)...)
	}
	if c.Was.Kind != c.Would.Kind {
		c.Changes = append(c.Changes, Change{Path: "(kind)", Was: c.Was.Kind, Would: c.Would.Kind})
	}
}

// compareSent composes again what completed effects sent, and returns the differences.
func (r *replayer) compareSent(ctx context.Context, equal []ChangedRequest) (all []ChangedSending, err error) {
	for _, p := range equal {
		if p.Was.Record == 0 {
			continue
		}
		c, err := r.view.Receipt(p.Was.Record)
		if err != nil {
			return nil, err
		}
		if s, differs := r.changedSending(ctx, c); differs {
			s.Request = p.Was
			all = append(all, s)
		}
	}
	return all, nil
}

func (r *replayer) changedSending(ctx context.Context, c *run.CompletionRecord) (ChangedSending, bool) {
	was, own, err := r.a.Sent(ctx, r.view, c)
	if err != nil {
		return ChangedSending{Was: was, Build: true, Why: err.Error()}, true
	}
	s := ChangedSending{Was: was, Would: own, Build: sentDiffers(was, own)}
	if r.changedView == nil {
		s.Parts = changedParts(was.Parts, own.Parts)
		return s, s.Build
	}
	if _, s.Would, err = r.a.Sent(ctx, r.changedView, c); err != nil {
		s.Why = err.Error()
		return s, true
	}
	s.Parts = changedParts(own.Parts, s.Would.Parts)
	return s, sentDiffers(was, s.Would)
}

// sentDiffers compares the hashes, and the parts if both are known, since a hash need not cover every part.
func sentDiffers(was, would run.Sent) bool {
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

// compareTraces counts the events that are the same: of the same rule, with the same status, type of event or key and
// value. In reasons there are places in a file, and the data of events grow from build to build: neither counts.
func compareTraces(was, would []run.TraceEvent) TraceDiff {
	same := func(a, b run.TraceEvent) bool {
		return a.Rule == b.Rule && a.Status == b.Status && a.Type == b.Type && a.Key == b.Key && a.Value == b.Value
	}
	d := TraceDiff{Was: was, Would: would}
	for d.Same < len(was) && d.Same < len(would) && same(was[d.Same], would[d.Same]) {
		d.Same++
	}
	return d
}

func (d TraceDiff) hasDifference() bool { return d.Same < len(d.Was) || d.Same < len(d.Would) }
