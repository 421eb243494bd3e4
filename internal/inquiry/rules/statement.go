package rules

import (
	"slices"
)

// statement is what an answer says of something: a quantity, a date, a name, or a clause by itself.
type statement struct {
	kind      string
	pair      int
	sentence  *sentence
	question  *question
	clause    []token
	words     []token
	key       []string // stems of what it is about
	names     []string
	marks     []mark
	when      anchors
	idents    []string
	hedged    bool
	quantity  quantity
	date      dateAt
	name      string
	negative  bool
	polar     bool // made of a question and its yes or no
	universal bool // it denies something of everybody: “nobody was ill”
	wide      []string
}

// mostStatements is how many statements of a kind are taken of an answer.
const mostStatements = 60

// statements takes an answer apart into what can clash.
func (c *Case) statements(x *exchange, k int) []statement {
	var all []statement
	count := map[string]int{}
	add := func(s statement) {
		if count[s.kind]++; count[s.kind] <= mostStatements {
			s.pair, s.question = k, &x.question
			all = append(all, s)
		}
	}
	for i := range x.answer.sentences {
		s := &x.answer.sentences[i]
		if !s.asserts() {
			continue
		}
		c.numbers(x, s, add)
		c.dated(x, s, add)
		c.named(x, s, add)
		c.stated(x, s, add)
	}
	c.affirmed(x, add)
	return all
}

// within finds the clause of a sentence that holds tokens.
func within(s *sentence, words []token) []token {
	for _, clause := range s.clauses {
		if clause[0].from <= words[0].from && words[len(words)-1].to <= clause[len(clause)-1].to {
			return clause
		}
	}
	return s.list
}

// fewest is how many stems a clause has at least that says by itself what it is about.
const fewest = 2

func (c *Case) statement(kind string, s *sentence, words []token, x *exchange, aspect string) statement {
	clause := within(s, words)
	st := statement{kind: kind, sentence: s, words: words, clause: clause, key: c.l.content(clause), names: s.names, marks: s.marks, when: s.when, hedged: s.hedged}
	if len(st.key) < fewest || c.l.startsWithPronoun(clause) {
		st.key = union(st.key, s.stems)
	}
	switch {
	case c.refersBack(clause) && len(x.question.stems) > 0 && covered(x.question.stems, c.claim.stems) == 0:
		st.key = union(st.key, x.question.stems) // “it” is what the question is about
	case c.refersBack(clause):
		st.key = union(st.key, c.claim.topic)
	}
	if x.question.asks(aspect) {
		st.key = union(st.key, x.question.stems)
		st.names = union(st.names, x.question.names)
		st.marks = union(st.marks, x.question.marks)
		st.when = st.when.or(x.question.when)
	}
	st.marks = union(st.marks, c.l.marksOf("plan", x.question.marks)) // what was planned is told of a plan
	st.idents = c.l.identifiers(s.list)
	return st
}

// refersBack says whether a clause begins with a word that stands for what the whole interview is about: “it”, “the company”.
func (c *Case) refersBack(clause []token) bool {
	return c.l.startsWithPronoun(clause) || c.l.is("article", at(clause, 0).norm) && c.l.is("organisation", at(clause, 1).norm)
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

func (a anchors) or(b anchors) anchors {
	if len(a.years) == 0 {
		a.years = b.years
	}
	if len(a.months) == 0 && len(a.days) == 0 {
		a.months, a.days = b.months, b.days
	}
	return a
}

func union[T comparable](a, b []T) []T {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
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

func (c *Case) numbers(x *exchange, s *sentence, add func(statement)) {
	all := c.l.quantities(s.list)
	for _, q := range all {
		if q.negated || c.l.has("part", s.list) {
			continue
		}
		if q.unit == "" && x.question.asks(HowMuch) && len(q.counts) == 0 {
			q.counts = x.question.counted
		}
		if q.unit == "" && len(q.counts) == 0 {
			continue
		}
		st := c.statement(Number, s, s.list[q.from:q.to], x, HowMuch)
		if len(all) > 1 {
			st.clause = c.part(st.clause, s.list[q.from:q.to])
			st.key = c.l.content(st.clause)
			if len(st.key) < fewest {
				st.key = union(st.key, s.stems)
			}
		}
		st.quantity = q
		st.key = union(st.key, q.counts)
		add(st)
	}
}

// part narrows a clause with several quantities to that of one: “120 men and 80 women”.
func (c *Case) part(clause, words []token) []token {
	from, to := 0, len(clause)
	for i, t := range clause {
		if c.l.classes["joined"].at(clause, i) == 0 {
			continue
		}
		if t.from < words[0].from {
			from = i + 1
		} else {
			to = i
			break
		}
	}
	if from >= to {
		return clause
	}
	return clause[from:to]
}

func (c *Case) dated(x *exchange, s *sentence, add func(statement)) {
	for _, d := range c.l.dates(s.list) {
		if d.role != "" || d.about {
			continue
		}
		st := c.statement(Date, s, s.list[d.from:d.to], x, When)
		st.date = d
		add(st)
	}
}

// named takes the names of a sentence whose question asks who, or that hold who has an office that one alone has.
func (c *Case) named(x *exchange, s *sentence, add func(statement)) {
	if c.l.has("also", s.list) {
		return
	}
	list := c.strange(&statement{names: s.names}, union(c.claim.names, x.question.names))
	if len(list) == 0 {
		list = c.strange(&statement{names: s.names}, x.question.names)
	}
	if len(list) != 1 {
		return
	}
	role := slices.ContainsFunc(s.list, func(t token) bool { return c.l.is("sole role", t.norm) })
	if !role && !x.question.asks(Who) && !c.l.has("by", s.list) {
		return
	}
	words := c.l.nameTokens(s.list, list[0])
	if words == nil {
		return
	}
	st := c.statement(Name, s, words, x, Who)
	st.name = list[0]
	own := c.l.content(words)
	st.key = slices.DeleteFunc(slices.Clone(st.key), func(k string) bool { return slices.Contains(own, k) })
	add(st)
}

func (l *language) nameTokens(list []token, name string) []token {
	for i := range list {
		if n, _ := l.nameAt(list, i); n > 0 && slices.Equal(l.names(list[i:i+n]), []string{name}) || n == 1 && list[i].norm == name {
			return list[i : i+n]
		}
	}
	return nil
}

// stated takes each clause by itself, for what it says or denies.
func (c *Case) stated(_ *exchange, s *sentence, add func(statement)) {
	for _, clause := range s.clauses {
		key := c.l.content(clause)
		universal := len(key) > 0 && len(key) <= fewest && c.l.has("nobody", clause)
		if len(key) < fewest && !universal || len(key) > 14 || c.l.has("no negation", clause) {
			continue
		}
		add(statement{kind: Negation, sentence: s, clause: clause, words: clause, key: key, names: s.names, marks: s.marks, when: s.when, hedged: s.hedged,
			idents: c.l.identifiers(clause), negative: c.l.negations(clause)%2 == 1, universal: universal})
	}
}

// affirmed makes a statement of a question that is answered with yes or no.
func (c *Case) affirmed(x *exchange, add func(statement)) {
	if !x.question.polar || x.question.negated || len(x.answer.sentences) == 0 || len(x.question.stems) < fewest {
		return
	}
	s := &x.answer.sentences[0]
	yes, no := c.l.yesOrNo(s)
	if yes == 0 && no == 0 || s.hedged || s.reported || c.l.has("no negation", s.list) {
		return
	}
	n := max(yes, no)
	add(statement{kind: Negation, sentence: s, clause: x.question.list, words: s.list[:n], key: x.question.stems, names: x.question.names, marks: x.question.marks,
		when: x.question.when.or(s.when), idents: c.l.identifiers(x.question.list), negative: no > yes, polar: true})
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
