package inquiry

import (
	"fmt"
	"slices"
	"strings"
)

// tally counts what was found in some of the cases. A share is of two of its numbers.
type tally struct {
	cases, flawless int

	clashes, recorded, suspected int            // labelled contradictions; recorded, each once; only suspected
	wrong                        int            // recorded, and no contradiction by any label
	suspicions, idle             int            // all of them; those that no label has
	byKind                       map[string]hit // labelled contradictions by kind
	traps                        map[string]hit // traps by kind; whoever records one fell for it

	gaps, gapsFound, gapsWrong int            // labelled, found, and reported without a label
	byCategory                 map[string]hit // gaps by the first category of their label, wrong ones by their own
	aspects, aspectsRight      int            // of the gaps found, those whose label has an aspect
	severitiesRight            int            // of the gaps found

	clean, calm, hasty int // flawless ones without any finding; closed as satisfied; flawed ones closed as satisfied though something labelled is open
}

// hit is how many there are, and what became of them.
type hit struct{ of, recorded, suspected, wrong int }

func newTally() *tally {
	return &tally{byKind: map[string]hit{}, traps: map[string]hit{}, byCategory: map[string]hit{}}
}

func count(of map[string]hit, kind string, change func(*hit)) {
	h := of[kind]
	change(&h)
	of[kind] = h
}

// trial is one case under one detective: what is wrong with it goes into words, what is to be counted into a tally.
type trial struct {
	c        Case
	t        *tally
	problems []string
}

func (t *trial) problem(format string, args ...any) {
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}

// analysed judges what was found in the interview of a case.
func (t *trial) analysed(f Found) {
	t.t.cases++
	t.clashes(f)
	t.gaps(f)
	if !t.c.Flawless {
		open := len(t.c.Contradictions) > 0 || slices.ContainsFunc(t.c.Gaps, func(g GapLabel) bool { return g.counts() && g.Severity == "high" })
		if f.Satisfied && open {
			t.t.hasty++
			t.problem("satisfied with something of weight open")
		}
		return
	}
	t.t.flawless++
	t.t.calm += one(f.Satisfied)
	if !f.Satisfied {
		t.problem("not satisfied with a flawless interview")
	}
	t.t.clean += one(len(f.Gaps)+len(f.Contradictions)+len(f.Suspicions) == 0)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// counts says whether a label is to be found: whoever leaves out an optional one, or one that a later answer closes, misses nothing.
func (g GapLabel) counts() bool { return !g.Optional && g.Closed == 0 }

// has says whether a clash is the labelled one. The answer that left it standing repeats both sides, so it may stand for either.
func (l ClashLabel) has(c Clash) bool {
	is := func(pair int) bool {
		return pair == l.Pairs[0] || pair == l.Pairs[1] || l.Standing > 0 && pair == l.Standing
	}
	return c.Pairs[0] != c.Pairs[1] && is(c.Pairs[0]) && is(c.Pairs[1])
}

func (l Trap) has(c Clash) bool {
	return c.Pairs == l.Pairs || c.Pairs == [2]int{l.Pairs[1], l.Pairs[0]}
}

func (t *trial) clashes(f Found) {
	for _, l := range t.c.Contradictions {
		recorded, suspected := slices.ContainsFunc(f.Contradictions, l.has), slices.ContainsFunc(f.Suspicions, l.has)
		t.clash(l, recorded, suspected)
		if !recorded && !suspected {
			t.problem("missed: %s, pairs %v: “%s” against “%s”", l.Kind, l.Pairs, l.Words[0], l.Words[1])
		}
	}
	for _, l := range t.c.Traps {
		fell, doubted := slices.ContainsFunc(f.Contradictions, l.has), slices.ContainsFunc(f.Suspicions, l.has)
		t.trap(l, fell, doubted)
		if fell {
			t.problem("recorded, and is none: %s, pairs %v: “%s” beside “%s”", l.Kind, l.Pairs, l.Words[0], l.Words[1])
		}
	}
	for _, c := range f.Contradictions {
		if !t.labelled(c) {
			t.t.wrong++
			if !slices.ContainsFunc(t.c.Traps, func(l Trap) bool { return l.has(c) }) {
				t.problem("recorded, and is none: pairs %v", c.Pairs)
			}
		}
	}
	for _, c := range f.Suspicions {
		t.t.suspicions++
		t.t.idle += one(!t.labelled(c))
	}
}

func (t *trial) clash(l ClashLabel, recorded, suspected bool) {
	t.t.clashes++
	t.t.recorded += one(recorded)
	t.t.suspected += one(suspected && !recorded)
	count(t.t.byKind, l.Kind, func(h *hit) {
		h.of++
		h.recorded += one(recorded)
		h.suspected += one(suspected && !recorded)
	})
}

func (t *trial) trap(l Trap, fell, doubted bool) {
	count(t.t.traps, l.Kind, func(h *hit) {
		h.of++
		h.recorded += one(fell)
		h.suspected += one(doubted && !fell)
	})
}

func (t *trial) labelled(c Clash) bool {
	return slices.ContainsFunc(t.c.Contradictions, func(l ClashLabel) bool { return l.has(c) })
}

// named is a category or an aspect as the labels have it: “How much” is how_much.
func named(text string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(text)))
}

// allows says whether a gap that was found can be the labelled one: the same answer, a category and an aspect that the label has. Who names no
// aspect contradicts none.
func (g GapLabel) allows(found Gap) bool {
	return (g.Pair == found.Pair || g.Pair == Anywhere) && slices.Contains(g.Category, named(found.Category)) &&
		(len(g.Aspect) == 0 || found.Aspect == "" || slices.Contains(g.Aspect, named(found.Aspect)))
}

func (g GapLabel) String() string {
	text := fmt.Sprintf("pair %d %s", g.Pair, strings.Join(g.Category, " or "))
	if len(g.Aspect) > 0 {
		text += " (" + strings.Join(g.Aspect, " or ") + ")"
	}
	return text
}

// gaps pairs what was found with labels, one to one as far as that goes. Two gaps for one hole are one.
func (t *trial) gaps(f Found) {
	taken := make([]bool, len(t.c.Gaps))
	for _, found := range f.Gaps {
		if named(found.Category) == Inconsistency {
			t.inconsistency(found)
			continue
		}
		at := t.label(found, taken)
		if at < 0 {
			t.wrongGap(found, "and nothing is missing there")
			continue
		}
		l := t.c.Gaps[at]
		switch {
		case l.Closed > 0 && !found.Closed:
			t.wrongGap(found, fmt.Sprintf("and pair %d closes it", l.Closed))
		case l.counts() && !taken[at]:
			t.gapFound(l, found)
		}
		taken[at] = true
	}
	for at, l := range t.c.Gaps {
		if !l.counts() {
			continue
		}
		t.t.gaps++
		count(t.t.byCategory, l.Category[0], func(h *hit) { h.of++ })
		if !taken[at] {
			t.problem("missed: %v", l)
		}
	}
}

// label is the label of a gap, one that is not taken yet if there is one; -1: none.
func (t *trial) label(found Gap, taken []bool) int {
	best := -1
	for at, l := range t.c.Gaps {
		if l.allows(found) && (best < 0 || taken[best] && !taken[at]) {
			best = at
		}
	}
	return best
}

func (t *trial) gapFound(l GapLabel, found Gap) {
	t.t.gapsFound++
	t.t.severitiesRight += one(named(found.Severity) == l.Severity)
	count(t.t.byCategory, l.Category[0], func(h *hit) { h.recorded++ })
	if len(l.Aspect) > 0 {
		t.t.aspects++
		t.t.aspectsRight += one(found.Aspect != "")
	}
}

func (t *trial) wrongGap(found Gap, why string) {
	t.t.gapsWrong++
	count(t.t.byCategory, named(found.Category), func(h *hit) { h.wrong++ })
	t.problem("reported: pair %d %s (%s), %s", found.Pair, named(found.Category), found.Aspect, why)
}

// inconsistency goes with a contradiction, where it counts as neither found nor wrong. Elsewhere it is wrong.
func (t *trial) inconsistency(found Gap) {
	part := func(l ClashLabel) bool {
		return found.Pair == l.Pairs[0] || found.Pair == l.Pairs[1] || l.Standing > 0 && found.Pair == l.Standing
	}
	if !slices.ContainsFunc(t.c.Contradictions, part) && !found.Closed {
		t.wrongGap(found, "and nothing clashes with it")
	}
}
