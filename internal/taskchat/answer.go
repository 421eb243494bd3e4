package taskchat

import (
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/taskchat/understand"
)

func takeAnswer() bt.Leaf {
	type in struct {
		Words string `port:"words"`
		Open  Open   `port:"open"`
	}
	type out struct {
		Acts      []Act      `port:"acts"`
		Remarks   []Remark   `port:"remarks"`
		Questions []Question `port:"questions"`
	}
	return bt.Func("TakeAnswer", "Puts what an answer stands for in its place: what was asked about, with the yes or the choice.", func(i in, o *out) error {
		if i.Open.Row == "" {
			return nil
		}
		var acts, rest []Act
		for _, a := range o.Acts {
			switch meant, asks, is := i.Open.answered(a, i.Words); {
			case !is:
				acts = append(acts, a)
				continue
			case asks:
				o.Questions = append(slices.Clip(o.Questions), i.Open.Question)
			case a.Intent == understand.Decline:
				o.Remarks = append(slices.Clip(o.Remarks), Remark{What: sayLeft, Items: i.Open.Act.Targets})
				rest = i.Open.Rest
			default:
				acts, rest = append(acts, meant...), i.Open.Rest
			}
		}
		if o.Acts = append(acts, rest...); len(o.Acts) > mostActs {
			o.Acts = o.Acts[:mostActs]
			o.Remarks = append(slices.Clip(o.Remarks), Remark{What: sayTooMany, N: mostActs})
		}
		return nil
	})
}

// answers says that a message answers the question, or nothing at all: a yes or no that nobody asked for is no wish.
func (o *Open) answers(read []understand.Result) bool {
	answer := func(r understand.Result) bool {
		return r.Intent == understand.Confirm || r.Intent == understand.Decline
	}
	if o.Row == "" {
		return !slices.ContainsFunc(read, func(r understand.Result) bool { return !answer(r) })
	}
	return slices.ContainsFunc(read, func(r understand.Result) bool { return answer(r) || r.Intent == understand.Choose })
}

// answered is what an answer to the question means; asks: it is none that can be followed, and the question stands. is says whether it is an
// answer at all.
func (o *Open) answered(a Act, words string) (meant []Act, asks, is bool) {
	switch {
	case a.Intent == understand.Decline:
		return nil, false, true
	case a.Intent == understand.Confirm && o.Kind == askConfirm:
		yes := o.Act
		yes.Chosen = true
		if yes.Intent == understand.Delete && len(yes.Targets) > 0 {
			yes.Row = o.Row
		}
		return []Act{yes}, false, true
	case a.Intent == understand.Confirm && o.Kind == askChoose && len(o.Options) == 1:
		return []Act{o.Options[0].Act}, false, true
	case a.Intent == understand.Confirm && o.Kind == askChoose:
		return nil, true, true
	case a.Intent == understand.Choose && o.Kind == askChoose:
		meant = o.chosen(a.Entities.Reference)
		return meant, len(meant) == 0, true
	case a.Intent == understand.Value && o.Kind == askValue:
		act := o.Act
		act.Entities.Title, act.Chosen = a.Entities.Title, true
		return []Act{act}, false, true
	}
	return nil, false, false
}

// chosen are the acts of the options that a reference names; those of one intent on tasks become one.
func (o *Open) chosen(r *understand.Reference) (acts []Act) {
	for _, n := range pick(r, o.labels()) {
		a := o.Options[n].Act
		a.Chosen = true
		if k := len(acts) - 1; k >= 0 && acts[k].Intent == a.Intent && len(a.Targets) > 0 {
			acts[k].Targets = append(slices.Clip(acts[k].Targets), a.Targets...)
			continue
		}
		acts = append(acts, a)
	}
	return acts
}

// pick are the options, from 0, that a reference names; none if it names one that is not there, or does not tell them apart.
func pick(r *understand.Reference, labels []string) (picked []int) {
	if r == nil {
		return nil
	}
	var except []int
	if r.Except != nil {
		if except = pick(r.Except, labels); except == nil {
			return nil
		}
	}
	switch {
	case r.Both && len(labels) != 2:
		return nil
	case r.All:
		for n := range labels {
			if !slices.Contains(except, n) {
				picked = append(picked, n)
			}
		}
	case len(r.Positions) > 0:
		for _, p := range r.Positions {
			if p < 0 {
				p += len(labels) + 1
			}
			if p < 1 || p > len(labels) {
				return nil
			}
			if !slices.Contains(picked, p-1) {
				picked = append(picked, p-1)
			}
		}
	case r.Title != "":
		if best := matching(r.Title, labels); len(best) == 1 {
			return best
		}
	}
	return picked
}
