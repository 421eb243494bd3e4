package rules

import (
	"slices"
	"strings"
)

// mention is what of an answer can clash: a number, a time, a name, or a clause by what it says.
type mention struct {
	kind     string // Number, Date, Name, Negation: a clause
	pair     int
	x        *exchange
	s        *sentence
	at       int // of the sentence in its answer
	part     int // of the clause in its sentence
	clause   []token
	words    []token
	said     string   // the words, verbatim
	stems    []string // of the clause
	quantity quantity
	moment   moment
	name     string
	negative bool
	polar    int // 1, -1: the clause is that of a question that was answered with yes or no
	features     // of its own
}

// fewest is how many stems a clause has at least that says by itself what it is about.
const fewest = 2

// mostMentions is how many mentions of a kind are taken of an answer.
const mostMentions = 24

// mentions takes an answer apart.
func (c *Case) mentions(x *exchange, k int) []*mention {
	var all []*mention
	count := map[string]int{}
	for at := range x.answer.sentences {
		s := &x.answer.sentences[at]
		text := span(s.text, s.list)
		first, told := c.said[text]
		if told && first != k && len(s.list) > longestEllipsis || s.asked && len(s.list) <= longestEllipsis {
			continue // who says a whole sentence again says nothing new
		}
		if !told {
			c.said[text] = k
		}
		c.mentioned(x, s, func(m mention) {
			if count[m.kind]++; count[m.kind] > mostMentions {
				return
			}
			m.pair, m.x, m.s, m.at, m.said = k, x, s, at, span(s.text, m.words)
			if m.clause == nil {
				m.part, m.clause = clauseOf(s, m.words)
			}
			if m.stems == nil {
				m.stems = c.l.content(m.clause)
			}
			m.negative = m.polar < 0 || m.polar == 0 && c.l.negations(m.clause)%2 == 1
			m.features = c.featuresOf(&m)
			all = append(all, &m)
		})
	}
	return all
}

// mentioned gives the mentions of a sentence.
func (c *Case) mentioned(x *exchange, s *sentence, add func(mention)) {
	times := c.l.moments(s.list)
	for _, q := range c.l.quantities(s.list) {
		if slices.ContainsFunc(times, func(m moment) bool { return m.from < q.to && q.from < m.to }) {
			continue // an hour of the clock
		}
		if q.unit == "" && x.question.asks(HowMuch) && len(q.counts) == 0 {
			q.counts = x.question.counted
		}
		add(mention{kind: Number, quantity: q, words: s.list[q.from:q.to]})
	}
	for _, m := range times {
		add(mention{kind: Date, moment: m, words: s.list[m.from:m.to]})
	}
	for _, n := range s.names {
		if words := c.l.nameTokens(s.list, n); words != nil {
			add(mention{kind: Name, name: n, words: words})
		}
	}
	for i, clause := range s.clauses {
		add(mention{kind: Negation, clause: clause, words: clause, part: i})
	}
	if s == &x.answer.sentences[0] && x.question.polar {
		c.affirmed(x, s, add)
	}
}

// affirmed makes a mention of a question that is answered with yes or no.
func (c *Case) affirmed(x *exchange, s *sentence, add func(mention)) {
	yes, no := c.l.yesOrNo(s)
	if yes == 0 && no == 0 {
		return
	}
	polar := 1
	if (no > yes) != x.question.negated {
		polar = -1
	}
	add(mention{kind: Negation, clause: x.question.list, stems: x.question.own, polar: polar, words: s.list[:max(yes, no)]})
}

// clauseOf finds the clause of a sentence that holds tokens.
func clauseOf(s *sentence, words []token) (int, []token) {
	for i, clause := range s.clauses {
		if clause[0].from <= words[0].from && words[len(words)-1].to <= clause[len(clause)-1].to {
			return i, clause
		}
	}
	return 0, s.list
}

// comparable says whether two mentions can be held against each other: they differ in what is of one kind, or have words in common.
func (c *Case) comparable(a, b *mention) bool {
	if identifiedApart(a.things, b.things) || a.kind != Date && disjoint(a.s.when.years, b.s.when.years) {
		return false
	}
	switch a.kind {
	case Number:
		return a.quantity.unit == b.quantity.unit && !agree(a.quantity, b.quantity)
	case Date:
		differ, ok := a.moment.differ(b.moment)
		return ok && differ
	case Name:
		return !sameName(a.name, b.name)
	}
	if a.said == b.said && a.polar == 0 && b.polar == 0 {
		return false
	}
	return covered(a.stems, b.stems) > 0 || covered(a.x.question.own, b.stems) > 0 || covered(a.stems, b.x.question.own) > 0 || meeting(a.s.names, b.s.names) > 0
}

// identifiedApart says whether two texts are of different things of one kind: pump A and pump B.
func identifiedApart(a, b []string) bool {
	for _, left := range a {
		kind, _, _ := strings.Cut(left, " ")
		for _, right := range b {
			if of, _, _ := strings.Cut(right, " "); of == kind && !slices.Contains(b, left) && !slices.Contains(a, right) {
				return true
			}
		}
	}
	return false
}

// meeting counts the names of a list that may be those of another one.
func meeting(a, b []string) (n int) {
	for _, name := range a {
		if slices.ContainsFunc(b, func(o string) bool { return sameName(name, o) }) {
			n++
		}
	}
	return n
}

func (l *language) nameTokens(list []token, name string) []token {
	for i := range list {
		if n, _ := l.nameAt(list, i); n > 0 && slices.Equal(l.names(list[i:i+n]), []string{name}) || n == 1 && list[i].norm == name {
			return list[i : i+n]
		}
	}
	return nil
}

// startsWithPronoun says whether a clause begins with a word that stands for something; “this bridge” does not.
func (l *language) startsWithPronoun(clause []token) bool {
	if l.classes["pronoun start"].at(clause, 0) == 0 {
		return false
	}
	next := at(clause, 1)
	if !l.is("article", clause[0].norm) {
		return true
	}
	return next.word && (l.isFunction(next.norm) || l.is("state verbs", next.norm) || l.code == "de" && !next.upper)
}

// longestEllipsis is how many words “we were not” and its like have at most.
const longestEllipsis = 4

// yesOrNo gives how many tokens say yes or no at the beginning of an answer: “Yes”, “No”, “We were not”.
func (l *language) yesOrNo(s *sentence) (yes, no int) {
	yes, no = l.classes["yes"].at(s.list, 0), l.classes["no"].at(s.list, 0)
	if yes == 0 && no == 0 && len(s.clauses) == 1 && len(s.list) > 1 && len(s.list) <= longestEllipsis && len(s.stems) == 0 && l.negations(s.list)%2 == 1 {
		no = len(s.list)
	}
	return yes, no
}

// negations counts the words of a text that deny.
func (l *language) negations(list []token) int {
	n := 0
	for i := 0; i < len(list); i++ {
		if skip := l.classes["no negation"].at(list, i); skip > 0 {
			i += skip - 1
			continue
		}
		if w := l.classes["negation"].at(list, i); w > 0 {
			n++
			i += w - 1
		}
	}
	return n
}

// identifiers are the letters and numbers that tell things of one kind apart: “pump a”, “room 12”.
func (l *language) identifiers(list []token) []string {
	var found []string
	for i := 1; i < len(list); i++ {
		t, before := list[i], list[i-1]
		if !t.word || !before.word || l.isFunction(before.norm) || before.isFigure() {
			continue
		}
		letter := len(t.norm) == 1 && t.upper && (t.norm != "i" && t.norm != "a" || l.is("identified", before.norm))
		number := t.isFigure() && l.isIdentifier(list, i)
		if letter || number {
			found = append(found, l.stemOf(before)+" "+t.norm)
		}
	}
	return found
}
