package inquiry

import "slices"

// session is what an interrogation adds to a tally.
type session struct {
	questions, repeated int
	reached             int // clashes that stand and whose two sides were told
	put                 int // clashes and traps that the detective asked about, naming both sides
	vague, cleared      int // answers that a second question makes precise; those that were
	left, leftRight     int // gaps that it left open; those that the witness did leave open
}

// interrogated judges an interrogation by what the witness remembers.
func (t *trial) interrogated(o Outcome, w *scripted, s *session) {
	t.t.cases++
	s.questions += len(w.asked)
	s.repeated += repeated(w.asked)
	for _, u := range w.said {
		s.put += one(u.clash >= 0)
	}
	t.plantedClashes(o, w, s)
	for _, c := range o.Contradictions {
		if !slices.ContainsFunc(t.c.Contradictions, func(l ClashLabel) bool { return l.Stands() && w.sides(l.Pairs, c) }) {
			t.t.wrong++
			t.problem("recorded, and does not stand: %s", w.twoAnswers(c))
		}
	}
	for _, c := range o.Suspicions {
		t.t.suspicions++
		t.t.idle += one(!slices.ContainsFunc(t.c.Contradictions, func(l ClashLabel) bool { return w.sides(l.Pairs, c) }))
	}
	t.leftOpen(o, w, s)
	for i, f := range t.c.Witness.Facts {
		if f.Again != "" && !f.Stays && w.times[i] > 0 {
			s.vague++
			s.cleared += one(w.times[i] > 1)
		}
	}
	if t.c.Flawless {
		t.t.flawless++
		t.t.calm += one(o.Satisfied)
		t.t.clean += one(len(o.Gaps)+len(o.Contradictions)+len(o.Suspicions) == 0)
		if !o.Satisfied {
			t.problem("a flawless witness was not believed after %d questions (%s)", len(w.asked), o.End)
		}
	}
}

// plantedClashes looks for those that stand after what the witness says to them.
func (t *trial) plantedClashes(o Outcome, w *scripted, s *session) {
	for _, l := range t.c.Contradictions {
		if !l.Stands() {
			continue
		}
		has := func(c Clash) bool { return w.sides(l.Pairs, c) }
		recorded, suspected := slices.ContainsFunc(o.Contradictions, has), slices.ContainsFunc(o.Suspicions, has)
		t.clash(l, recorded, suspected)
		told := w.told(l.Pairs[0]) && w.told(l.Pairs[1])
		s.reached += one(told)
		if told && !recorded {
			t.problem("heard both and did not record: “%s” against “%s”", l.Words[0], l.Words[1])
		}
	}
	for _, l := range t.c.Traps {
		has := func(c Clash) bool { return w.sides(l.Pairs, c) }
		t.trap(l, slices.ContainsFunc(o.Contradictions, has), slices.ContainsFunc(o.Suspicions, has))
	}
}

func repeated(questions []string) (n int) {
	seen := map[string]bool{}
	for _, q := range questions {
		n += one(seen[plain(q)])
		seen[plain(q)] = true
	}
	return n
}

// sides says whether two answers of the witness are the two sides of a clash of the set. The reply about a clash repeats both of its sides.
func (w *scripted) sides(pairs [2]int, c Clash) bool {
	return c.Pairs[0] != c.Pairs[1] &&
		(w.has(c.Pairs[0], pairs[0], pairs) && w.has(c.Pairs[1], pairs[1], pairs) || w.has(c.Pairs[0], pairs[1], pairs) && w.has(c.Pairs[1], pairs[0], pairs))
}

// has says whether an answer told the pair of the interview, or is the reply about the clash of both.
func (w *scripted) has(answer, pair int, both [2]int) bool {
	if answer < 0 || answer >= len(w.said) {
		return false
	}
	u := w.said[answer]
	if u.clash >= 0 {
		return w.c.clashing()[u.clash] == both
	}
	return slices.ContainsFunc(u.facts, func(i int) bool { return w.c.Witness.Facts[i].Pair == pair })
}

// twoAnswers are the questions of two answers, for a failure.
func (w *scripted) twoAnswers(c Clash) string {
	var text string
	for i, at := range c.Pairs {
		if i > 0 {
			text += " / "
		}
		if at < 0 || at >= len(w.asked) {
			text += "an answer that was never given"
			continue
		}
		text += "“" + w.asked[at] + "”"
	}
	return text
}

// leftOpen judges the gaps that are open at the end. A flawless witness leaves none.
func (t *trial) leftOpen(o Outcome, w *scripted, s *session) {
	for _, g := range o.Gaps {
		if g.Closed {
			continue
		}
		s.left++
		if w.leftOpen(g) {
			s.leftRight++
			continue
		}
		question := "a question that was never asked"
		if g.Pair >= 0 && g.Pair < len(w.asked) {
			question = w.asked[g.Pair]
		}
		t.problem("left open after “%s”: %s (%s)", question, named(g.Category), g.Aspect)
	}
}

// leftOpen says whether an answer does leave this open: it said nothing to the point, evaded a clash, or has a label that no later answer closed.
func (w *scripted) leftOpen(g Gap) bool {
	if g.Pair < 0 || g.Pair >= len(w.said) || w.c.Flawless {
		return false
	}
	u := w.said[g.Pair]
	inconsistent := named(g.Category) == Inconsistency
	if u.clash >= 0 {
		return u.clash < len(w.c.Contradictions) && w.c.Contradictions[u.clash].Stands() && inconsistent
	}
	if len(u.facts) == 0 {
		return !inconsistent
	}
	return slices.ContainsFunc(u.facts, func(i int) bool {
		f := w.c.Witness.Facts[i]
		if inconsistent {
			return slices.ContainsFunc(w.c.Contradictions, func(l ClashLabel) bool { return slices.Contains(l.Pairs[:], f.Pair) && l.Stands() })
		}
		cleared := f.Again != "" && !f.Stays && w.times[i] > 1
		return !cleared && slices.ContainsFunc(w.c.Gaps, func(l GapLabel) bool {
			of := l.Pair
			l.Pair = g.Pair // the pairs of this interrogation are others than those of the interview
			return of == f.Pair && l.allows(g)
		})
	})
}
