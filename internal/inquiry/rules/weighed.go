package rules

import "slices"

// looksSeen is how many numbers looks gives.
const looksSeen = 138

// looks gives what is seen in an answer as numbers, for the trees that judge what it is worth for an aspect: always as many, in the same order.
func (l *language) looks(q question, aspect string, a answer) []float64 {
	all := l.shapes(q, a)
	v := l.ruled(q, spoken(aspect), a)
	out := []float64{truth(l.code == "de"), truth(q.polar), truth(q.once), float64(len(q.asked)), float64(slices.Index(q.asked, spoken(aspect))), float64(len(all)),
		float64(len(a.sentences)), truth(v.given), float64(covered(q.stems, stemsOf(a))), float64(len(q.stems)), float64(len(stemsOf(a)))}
	for _, x := range slices.Concat(aspects[:], []string{whether}) {
		out = append(out, truth(x == aspect), truth(x != aspect && q.asks(x)))
	}
	for _, x := range [...]string{Missing, Vagueness} {
		out = append(out, truth(v.category == x))
	}
	for _, x := range [...]string{"unknown", "evaded", "missing", "vague", "hedge", "not found"} {
		out = append(out, truth(v.why == x))
	}
	for _, kind := range wordKinds {
		n := 0
		for _, t := range all {
			n += int(truth(t.kind == kind))
		}
		out = append(out, float64(n), truth(len(all) > 0 && all[0].kind == kind))
	}
	return append(out, l.said(q, aspect, a)...)
}

// said gives which classes of words sentences hold, and in how many.
func (l *language) said(q question, aspect string, a answer) []float64 {
	var asks, negated, denies, gives, keepsOpen float64
	for n, s := range a.sentences {
		asks += truth(s.asked)
		negated += truth(l.negations(s.list) > 0)
		denies += truth(n == 0 && l.negations(s.list) > 0)
		gives += truth(l.gives(q, spoken(aspect), s))
		keepsOpen += truth(l.vague(spoken(aspect), s) != nil)
	}
	out := []float64{asks, negated, denies, gives, keepsOpen}
	for _, class := range signClasses {
		var all, first, begins float64
		for n, s := range a.sentences {
			if !l.has(class, s.list) {
				continue
			}
			all++
			first += truth(n == 0)
			begins += truth(n == 0 && l.classes[class].at(s.list, 0) > 0)
		}
		out = append(out, all, first, begins)
	}
	return out
}

func stemsOf(a answer) (stems []string) {
	for _, s := range a.sentences {
		stems = union(stems, s.stems)
	}
	return stems
}
