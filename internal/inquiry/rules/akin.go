package rules

import (
	"slices"
	"strings"
)

// context gives what a statement is about in the widest sense: an answer is elliptic, so its sentence and its question count.
func (s *statement) context() []string {
	if s.wide == nil {
		s.wide = union(union(s.key, s.sentence.stems), s.question.stems)
	}
	return s.wide
}

// shortestRoot is how many letters a word has at least that another one may begin with: “Nitrat” and “Nitratwert”, “insured” and “insurance”.
const shortestRoot = 5

// akinStem says whether two stems are of one word or one of its compounds.
func akinStem(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= shortestRoot && (strings.HasPrefix(b, a) || strings.HasPrefix(plain(b), plain(a)))
}

// plain gives a stem without the umlauts that a plural brings: “Ausfall” and “Ausfälle”.
func plain(stem string) string { return umlauts.Replace(stem) }

var umlauts = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// root is by what stems are found that may be akin.
func root(stem string) string { return stem[:min(len(stem), shortestRoot)] }

func holdsAkin(list []string, stem string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return akinStem(s, stem) })
}

// covered counts the stems of a list that another one holds.
func covered(stems, by []string) int {
	n := 0
	for _, s := range stems {
		if holdsAkin(by, s) {
			n++
		}
	}
	return n
}

// What makes two statements of one thing: a stem that both hold counts one, one that the whole interview is about or a year half of it.
const (
	ownStem    = 2
	commonStem = 1
	akinEnough = ownStem + commonStem
)

// enoughFor is how much must speak for it: what has a measure is told of many things at once.
func enoughFor(kind string) int {
	if kind == Number {
		return 2 * ownStem
	}
	return akinEnough
}

// akin says whether two statements are of the same thing though their clauses by themselves share little: one of them answers a question, and the
// other one speaks of what was asked. What tells two things apart excludes as ever.
func (c *Case) akin(a, b *statement) bool {
	if !c.answersFor(a, b) && !c.answersFor(b, a) || a.kind == Number && (a.quantity.open() || b.quantity.open()) {
		return false
	}
	if c.weight(a, b) < enoughFor(a.kind) || c.namesOther(a, b) || c.modified(a, b) || !c.reports(a) && !c.reports(b) && c.namesApart(a, b) {
		return false
	}
	if c.l.apart(c.ownMarks(a), c.ownMarks(b), a.kind != Number) {
		return false
	}
	if a.kind == Date {
		return !c.l.has("not ordinary", c.part(a.clause, a.words)) && !c.l.has("not ordinary", c.part(b.clause, b.words))
	}
	left, right := a.when.or(a.question.when), b.when.or(b.question.when)
	return !left.apart(right) && (a.kind != Number || !left.unbound(right) || c.oneYear(a, b) || !c.tensesDiffer(a, b))
}

// reports says whether a statement tells what somebody has written or said, who is then no part of what it is about.
func (c *Case) reports(s *statement) bool { return c.l.has("reports", s.clause) }

// ownMarks are what a statement and the question that it answers say within contrasts.
func (c *Case) ownMarks(s *statement) []mark {
	marks := c.l.told(s.clause)
	if s.question.asks(aspectOf(s.kind)) {
		marks = union(marks, s.question.marks)
	}
	return marks
}

// namesOther says whether two statements name different things of one kind: pump A and pump B.
func (c *Case) namesOther(a, b *statement) bool {
	left, right := c.l.identifiers(a.clause), c.l.identifiers(b.clause)
	return slices.ContainsFunc(left, func(one string) bool {
		kind, _, _ := strings.Cut(one, " ")
		return !slices.Contains(right, one) && slices.ContainsFunc(right, func(o string) bool { return strings.HasPrefix(o, kind+" ") })
	})
}

// answersFor says whether a statement gives what its question asks for, and another one speaks of at least half of that.
func (c *Case) answersFor(a, b *statement) bool {
	wanted := c.things(a.question)
	if !a.question.asks(aspectOf(a.kind)) || len(wanted) == 0 {
		return false
	}
	other := c.things(b.question)
	if b.question.asks(aspectOf(b.kind)) && 2*covered(other, a.context()) < len(other) {
		return false
	}
	if c.ofAnother(a, b) {
		return false
	}
	said := b.sentence.stems
	if len(said) <= fewest || slices.ContainsFunc(b.sentence.clauses, c.refersBack) {
		said = b.context()
	}
	n := covered(wanted, said)
	return n > 0 && 2*n >= len(wanted)
}

// ofAnother says whether a statement is of an “it” that stands for what its own question is about, and another statement is not.
func (c *Case) ofAnother(a, b *statement) bool {
	other := c.things(b.question)
	return c.l.startsWithPronoun(b.clause) && !c.l.is("article", at(b.clause, 1).norm) && len(other) > 0 && covered(other, union(a.context(), c.claim.stems)) == 0
}

// things are the stems of a question without the unit that it asks for.
func (c *Case) things(q *question) []string {
	return slices.DeleteFunc(slices.Clone(q.stems), func(stem string) bool {
		return slices.ContainsFunc(q.list, func(t token) bool { return t.word && c.l.isUnit(t.norm) && c.l.stemOf(t) == stem })
	})
}

// weight is how much speaks for two statements being of one thing.
func (c *Case) weight(a, b *statement) int {
	sum := 0
	counted := func(stem string) {
		if slices.Contains(c.claim.topic, stem) {
			sum += commonStem
		} else {
			sum += ownStem
		}
	}
	for _, stem := range a.context() {
		if holdsAkin(b.context(), stem) && (holdsAkin(a.key, stem) || holdsAkin(b.key, stem)) {
			counted(stem)
		}
	}
	left, right := a.when.or(a.question.when), b.when.or(b.question.when)
	switch {
	case a.kind == Date:
	case meet(left.days, right.days):
		sum += ownStem
	case meet(left.years, right.years):
		sum += commonStem
	}
	return sum
}

func meet(a, b []int) bool {
	return slices.ContainsFunc(a, func(x int) bool { return slices.Contains(b, x) })
}

// reach are the stems by which a statement is found: all that a clause says by itself, or the context of what is only a part of one.
func (s *statement) reach() []string {
	if s.kind == Negation {
		return s.key
	}
	return s.context()
}

// onlyNames says whether two clauses share nothing but names: a street that one thing is in, and another one does not go through.
func (c *Case) onlyNames(a, b *statement) bool {
	named := func(stem string, s *statement) bool {
		return slices.ContainsFunc(s.clause, func(t token) bool { return t.word && t.upper && c.l.stemOf(t) == stem }) &&
			slices.ContainsFunc(s.names, func(n string) bool { return slices.Contains(c.l.content(c.l.tokens(n)), stem) })
	}
	return !slices.ContainsFunc(a.key, func(stem string) bool {
		return holdsAkin(b.key, stem) && !named(stem, a) && !named(stem, b)
	})
}

// mostDenied is the share of what a “no” or a “nobody” denies that another clause must hold.
const mostDenied = 0.6

// refutes says whether one statement denies on the whole what the other one tells as a fact: a “no” to a question, or “nobody was ill”.
func (c *Case) refutes(a, b *statement) bool {
	if b.negative {
		a, b = b, a
	}
	if !a.negative || b.negative || b.polar || !a.polar && !a.universal {
		return false
	}
	n := covered(a.key, b.key)
	whole := n == len(a.key) && n >= fewest
	if !whole && c.weight(a, b) < akinEnough {
		return false
	}
	if c.namesOther(a, b) || c.l.apart(c.l.told(a.clause), c.l.told(b.clause), true) || a.when.or(a.question.when).apart(b.when.or(b.question.when)) {
		return false
	}
	return n > 0 && float64(n) >= mostDenied*float64(len(a.key)) && (a.universal || n >= fewest)
}
