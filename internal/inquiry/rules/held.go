package rules

import (
	"math"
	"slices"
)

// evidence is what speaks for and against a clash of two mentions, as numbers: what each shows by itself, and what they show together. Numbers
// are rounded to 32 bits, as the trees hold them. The next call writes
// to the same place.
func (c *Case) evidence(a, b *mention) []float64 {
	e := append(append(c.scratch[:0], a.own...), b.own...)
	e = c.sharing(e, a, b)
	e = c.denying(e, a, b)
	e = c.acting(e, a, b)
	switch a.kind {
	case Number:
		e = c.measuring(e, a, b)
	case Date:
		e = c.dating(e, a, b)
	case Name:
		e = append(e, truth(meeting([]string{b.name}, a.x.facts.names) > 0), truth(meeting([]string{a.name}, b.x.facts.names) > 0), truth(c.knew(a, b)))
	}
	for i, v := range e {
		e[i] = float64(float32(v))
	}
	c.scratch = e
	return e
}

// rare is how much a stem tells that two mentions share: less if the hypothesis or many exchanges have it.
func (c *Case) rare(stem string) float64 {
	w := 2 / math.Max(2, float64(c.frequency[stem]))
	if slices.Contains(c.claim.stems, stem) {
		w /= 2.5
	}
	return w
}

func (c *Case) together(a, b []string) (sum float64) {
	for _, s := range a {
		if akinTo(b, s) {
			sum += c.rare(s)
		}
	}
	return sum
}

func (c *Case) mass(a []string) (sum float64) {
	for _, s := range a {
		sum += c.rare(s)
	}
	return sum
}

// lacking is what those stems of a list tell that are akin to none of others.
func (c *Case) lacking(a []string, others ...[]string) (sum float64) {
	for _, s := range a {
		if !slices.ContainsFunc(others, func(o []string) bool { return akinTo(o, s) }) {
			sum += c.rare(s)
		}
	}
	return sum
}

func ratio(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return a / b
}

// sharing tells how much of the words of two mentions, of their sentences and of their questions is the same.
func (c *Case) sharing(e []float64, a, b *mention) []float64 {
	qa, qb, sa, sb := a.x.question.own, b.x.question.own, a.s.stems, b.s.stems
	kk, qs, qq, tt := c.together(a.stems, b.stems), c.together(qa, sb), c.together(qa, qb), c.together(a.topic, b.topic)
	return append(e, kk, c.together(sa, sb), qq, c.together(a.stems, sb), c.together(sa, b.stems), c.together(qa, b.stems), c.together(a.stems, qb), qs, c.together(sa, qb),
		c.together(a.wide, b.wide), ratio(kk, c.mass(a.stems)), ratio(kk, c.mass(b.stems)), ratio(c.together(qa, b.wide), c.mass(qa)), ratio(qs, c.mass(qa)),
		ratio(c.together(qb, a.wide), c.mass(qb)), ratio(qq, c.mass(qa)), ratio(qq, c.mass(qb)), tt, ratio(tt, c.mass(a.topic)), ratio(tt, c.mass(b.topic)),
		c.together(a.beside, b.beside), c.together(a.beside, b.topic), c.together(a.topic, b.beside),
		c.together(a.fresh, b.fresh), c.lacking(b.topic, a.wide, c.claim.stems),
		truth(slices.Equal(a.x.question.asked, b.x.question.asked)))
}

// denying tells whether one mention says no where the other one says yes, or they have words that exclude each other.
func (c *Case) denying(e []float64, a, b *mention) []float64 {
	qa, kk := a.x.question.own, c.together(a.stems, b.stems)
	qk, qs := c.together(qa, b.stems), ratio(c.together(qa, b.s.stems), c.mass(qa))
	differ := truth(a.negative != b.negative)
	refused, affirmed := truth(a.x.facts.sign < 0 && !b.negative), truth(a.x.facts.sign > 0 && b.negative)
	e = append(e, differ, differ*truth(kk > 0), differ*kk, differ*qk, float64(c.opposed(a.stems, b.stems)), float64(c.opposed(a.stems, b.stems)+c.opposed(qa, b.stems)),
		refused*qs, refused*qk, refused*c.together(a.fresh, b.stems), affirmed*qs, affirmed*qk)
	for i := range contrastClasses {
		e = append(e, truth(differIn(a.classes[i][0], b.classes[i][0])), truth(differIn(a.classes[i][1], b.classes[i][1])))
	}
	return append(e, truth(c.l.apart(a.marks, b.marks, a.kind != Number)), truth(c.l.apart(a.wideMarks, b.wideMarks, a.kind != Number)))
}

// acting compares who and when two mentions are about.
func (c *Case) acting(e []float64, a, b *mention) []float64 {
	na, nb := a.features.names, b.features.names
	timesA, timesB := a.wideTimes, b.wideTimes
	others := meeting(b.s.names, a.s.names) < len(b.s.names)
	return append(e, float64(meeting(na, nb)), float64(meeting(a.wideNames, b.wideNames)), float64(meeting(a.x.question.names, b.s.names)),
		truth(len(na) > 0 && len(nb) > 0 && meeting(na, nb) == 0), truth(len(na) > 0 && len(nb) == 0), truth(len(na) == 0 && len(nb) > 0),
		truth(len(a.stems) > 0 && len(b.stems) > 0 && a.stems[0] == b.stems[0]), truth(others && c.l.has("only", a.s.list)),
		truth(apartTimes(a.times, b.times)), truth(apartTimes(timesA, timesB)),
		truth(slices.ContainsFunc(timesA, func(m moment) bool { return slices.ContainsFunc(timesB, equalMoment(m)) })),
		truth(len(timesA) > 0 && len(timesB) == 0), truth(len(timesA) == 0 && len(timesB) > 0))
}

// apartTimes says whether two texts name times that differ, and none in common.
func apartTimes(a, b []moment) bool {
	apart := false
	for _, x := range a {
		for _, y := range b {
			differ, ok := x.differ(y)
			if ok && !differ {
				return false
			}
			apart = apart || differ
		}
	}
	return apart
}

// differIn says whether two texts each have a word of a class, and none in common.
func differIn(left, right []string) bool {
	return len(left) > 0 && len(right) > 0 && !slices.ContainsFunc(left, func(s string) bool { return slices.Contains(right, s) })
}

// wordsOf gives the beginnings of the words of a class in a text.
func (c *Case) wordsOf(class string, list []token) (found []string) {
	for i, t := range list {
		if c.l.classes[class].at(list, i) > 0 {
			found = append(found, t.norm[:min(shortestStem, len(t.norm))])
		}
	}
	return found
}

// opposed counts the antonyms of two lists of stems.
func (c *Case) opposed(a, b []string) (n int) {
	for _, stem := range a {
		p, ok := c.l.antonyms[stem]
		if !ok {
			continue
		}
		for _, other := range b {
			if o, ok := c.l.antonyms[other]; ok && o.pair == p.pair && o.side != p.side {
				n++
			}
		}
	}
	return n
}

// measuring compares two numbers.
func (c *Case) measuring(e []float64, a, b *mention) []float64 {
	p, q := a.quantity, b.quantity
	near, small, large := 0.0, math.Min(math.Abs(p.low), math.Abs(q.low)), math.Max(math.Abs(p.low), math.Abs(q.low))
	if large > 0 && !math.IsInf(large, 0) {
		near = small / large
	}
	left, right := a.x.facts.quantities, b.x.facts.quantities
	alike := func(o quantity) func(quantity) bool {
		return func(x quantity) bool { return x.unit == o.unit && agree(x, o) }
	}
	return append(e, truth(p.rate != q.rate), float64(covered(p.counts, q.counts)), truth(len(p.counts) > 0 && len(q.counts) > 0 && covered(p.counts, q.counts) == 0),
		truth(covered(p.counts, b.wide) > 0), truth(covered(q.counts, a.wide) > 0),
		truth(covered(a.x.question.counted, b.x.question.counted) > 0), truth(covered(a.x.question.counted, q.counts)+covered(a.x.question.counted, b.s.stems) > 0), near, truth(q.low > p.low),
		truth(slices.ContainsFunc(left, alike(q))), truth(slices.ContainsFunc(right, alike(p))), truth(isSum(p, right)), truth(isSum(q, left)),
		truth(c.knew(a, b)), c.lacking(a.stems, b.wide, a.x.question.own, p.counts), c.lacking(b.stems, a.wide, b.x.question.own, q.counts))
}

// dating compares two times.
func (c *Case) dating(e []float64, a, b *mention) []float64 {
	p, q := a.moment, b.moment
	left, _ := c.l.dateRole(a.s.list, p.from)
	right, _ := c.l.dateRole(b.s.list, q.from)
	later := 0
	switch {
	case p.date.minute >= 0 && q.date.minute >= 0:
		later = q.date.minute - p.date.minute
	case p.date.month > 0 && q.date.month > 0:
		later = (q.date.month-p.date.month)*30 + q.date.day - p.date.day
	case p.weekday > 0:
		later = q.weekday - p.weekday
	}
	return append(e, truth(p.twelve || q.twelve), truth(left != right), truth(slices.ContainsFunc(a.x.facts.times, equalMoment(q))),
		truth(slices.ContainsFunc(b.x.facts.times, equalMoment(p))), float64(later))
}

// mostKnown is how many exchanges before one are looked through for what it says.
const mostKnown = 20

// knew says whether an answer before, other than that of a, said what b says.
func (c *Case) knew(a, b *mention) bool {
	for k := max(0, b.pair-mostKnown); k < b.pair; k++ {
		f := &c.exchanges[k].facts
		switch {
		case k == a.pair:
		case b.kind == Name && meeting([]string{b.name}, f.names) > 0:
			return true
		case b.kind == Number && slices.ContainsFunc(f.quantities, func(o quantity) bool { return o.unit == b.quantity.unit && agree(o, b.quantity) }):
			return true
		}
	}
	return false
}
