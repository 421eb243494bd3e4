package rules

import (
	"fmt"
	"slices"
	"strings"
)

// index finds statements that may be about the same, by kind and stem.
type index map[string][]*statement

func newIndex() index { return index{} }

// mostKept is how many statements are kept of a stem and kind: the work for a further answer must not grow with the interview.
const mostKept = 24

func (x index) add(s *statement) {
	for _, stem := range s.key {
		x.put(s.kind+" "+stem, s)
	}
	for _, stem := range s.reach() {
		x.put(s.kind+" ~"+root(stem), s)
	}
}

func (x index) put(k string, s *statement) {
	list := x[k]
	if len(list) > 0 && list[len(list)-1] == s {
		return
	}
	if list = append(list, s); len(list) > mostKept {
		list = list[1:]
	}
	x[k] = list
}

// suspicion is a clash that is not settled, with its gap.
type suspicion struct {
	Clash
	gap *openGap
}

// compare holds what an answer says against what was said before.
func (c *Case) compare(x exchange, k int, inquired []*openGap) {
	settling := slices.ContainsFunc(inquired, func(g *openGap) bool { return g.Category == Inconsistency })
	own := &c.exchanges[k]
	all := c.statements(own, k)
	if !settling && !c.l.retracts(x.answer) {
		for i := range all {
			c.against(&all[i], all)
		}
	}
	for i := range all {
		c.index.add(&all[i])
	}
}

// retracts says whether an answer takes something back that was said before.
func (l *language) retracts(a answer) bool {
	for _, s := range a.sentences {
		if l.has("takes back", s.list) {
			return true
		}
	}
	return false
}

func (c *Case) against(s *statement, all []statement) {
	count := map[*statement]int{}
	var order []*statement
	for _, stem := range s.key {
		for _, o := range c.index[s.kind+" "+stem] {
			if count[o] == 0 {
				order = append(order, o)
			}
			count[o]++
			c.work++
		}
	}
	for _, stem := range s.reach() {
		for _, o := range c.index[s.kind+" ~"+root(stem)] {
			if _, ok := count[o]; !ok {
				count[o] = 0
				order = append(order, o)
			}
			c.work++
		}
	}
	slices.SortStableFunc(order, func(a, b *statement) int { return a.pair - b.pair }) // the answer that said it first counts
	for _, o := range order {
		if o.pair == s.pair || !c.clash(o, s, count[o]) {
			continue
		}
		if s.kind == Number && c.isPartOf(o, s, all) {
			continue
		}
		c.suspect(o, s)
	}
}

// enoughShared says whether two statements share two stems, or all there are where both answer when the same thing happened.
func enoughShared(a, b *statement, n int) bool {
	return n >= fewest || a.kind == Date && n > 0 && n == len(a.key) && n == len(b.key) && a.question.asks(When) && b.question.asks(When)
}

// clash says whether two statements cannot both be true.
func (c *Case) clash(a, b *statement, n int) bool {
	switch a.kind {
	case Number:
		if !sameMeasure(a.quantity, b.quantity) || agree(a.quantity, b.quantity) {
			return false
		}
	case Date:
		if !a.date.date.excludes(b.date.date) {
			return false
		}
	case Name:
		if sameName(a.name, b.name) {
			return false
		}
	}
	if a.kind == Negation && c.onlyNames(a, b) {
		return false
	}
	if !enoughShared(a, b, n) || !c.bound(a, b, n) {
		return a.kind != Negation && c.akin(a, b) || a.kind == Negation && c.refutes(a, b)
	}
	switch a.kind {
	case Number:
		one, _ := c.oneSubject(a, b)
		return one && !c.ofAnother(a, b) && !c.ofAnother(b, a)
	case Date:
		return c.once(a, b) || c.akin(a, b)
	case Name:
		return c.sole(a, b) || c.akin(a, b)
	}
	return c.denies(a, b, n) || c.refutes(a, b)
}

// bound says whether two statements are about the same, as far as words tell.
func (c *Case) bound(a, b *statement, n int) bool {
	small := min(len(a.key), len(b.key))
	if 2*n < small || a.kind == Date && 10*n < 4*small {
		return false
	}
	own := 0 // stems that are not merely the subject of the whole interview
	for _, stem := range a.key {
		if slices.Contains(b.key, stem) && !slices.Contains(c.claim.topic, stem) {
			own++
		}
	}
	counted := a.kind == Number && a.quantity.unit == ""
	if own == 0 && n < 3 && !counted && a.kind != Date && a.kind != Name {
		return false
	}
	if c.l.apart(c.marks(a), c.marks(b), a.kind != Number) || c.identified(a, b) || c.namesApart(a, b) || c.modified(a, b) {
		return false
	}
	when := a.when
	if a.kind == Date {
		return true
	}
	if a.kind == Number && when.unbound(b.when) && !c.oneYear(a, b) && c.tensesDiffer(a, b) {
		return false
	}
	return !when.apart(b.when)
}

// marks are what a statement says within contrasts; a date stands for its own event, so its clause counts alone.
func (c *Case) marks(s *statement) []mark {
	if s.kind == Negation || s.kind == Date {
		return c.l.told(s.clause)
	}
	return s.marks
}

// identified says whether two statements are about different things of one kind: pump A and pump B.
func (c *Case) identified(a, b *statement) bool {
	for _, left := range a.idents {
		kind, _, _ := strings.Cut(left, " ")
		for _, right := range b.idents {
			if of, _, _ := strings.Cut(right, " "); of == kind && !slices.Contains(b.idents, left) {
				return true
			}
		}
	}
	return (len(a.idents) == 0) != (len(b.idents) == 0) && !c.inClaim(a.idents) && !c.inClaim(b.idents)
}

// inClaim says whether the hypothesis itself is about a thing of these.
func (c *Case) inClaim(idents []string) bool {
	own := c.l.identifiers(c.claim.list)
	return len(idents) > 0 && slices.ContainsFunc(idents, func(i string) bool { return slices.Contains(own, i) })
}

// namesApart says whether a name in one statement alone makes it one about something else.
func (c *Case) namesApart(a, b *statement) bool {
	if a.kind == Name {
		return false
	}
	known := union(c.claim.names, union(a.question.names, b.question.names))
	left, right := c.strange(a, known), c.strange(b, known)
	if len(left) == 0 && len(right) == 0 || a.kind != Number && (len(left) == 0 || len(right) == 0) {
		return false
	}
	return !slices.ContainsFunc(left, func(n string) bool {
		return slices.ContainsFunc(right, func(o string) bool { return sameName(n, o) })
	})
}

func (c *Case) strange(s *statement, known []string) []string {
	var list []string
	for _, n := range s.names {
		if !slices.ContainsFunc(known, func(o string) bool { return sameName(n, o) }) {
			list = append(list, n)
		}
	}
	return list
}

// modified says whether a shared word has another word before it on either side: the fuel tank and the water tank.
func (c *Case) modified(a, b *statement) bool {
	for _, stem := range a.key {
		if !slices.Contains(b.key, stem) {
			continue
		}
		left, right := c.before(a, stem), c.before(b, stem)
		if left != "" && right != "" && left != right && !slices.Contains(b.key, left) && !slices.Contains(a.key, right) {
			return true
		}
	}
	return false
}

// before gives the stem of the word that stands before another one in a clause, or "".
func (c *Case) before(s *statement, stem string) string {
	for i := 1; i < len(s.clause); i++ {
		t, p := s.clause[i], s.clause[i-1]
		if t.word && p.word && c.l.stemOf(t) == stem && !p.isFigure() && !c.l.isFunction(p.norm) && !c.l.isVerbLike(p) && !c.l.isUnit(p.norm) &&
			!slices.ContainsFunc(s.names, func(n string) bool { return slices.Contains(strings.Fields(n), p.norm) }) {
			return c.l.stemOf(p)
		}
	}
	return ""
}

// isPartOf says whether two numbers go together: one of the exchanges holds the other's number too, or the parts of a sum.
func (c *Case) isPartOf(a, b *statement, all []statement) bool {
	var left, right []quantity
	for _, s := range c.exchanges[a.pair].answer.sentences {
		left = append(left, c.l.quantities(s.list)...)
	}
	for i := range all {
		if all[i].kind == Number {
			right = append(right, all[i].quantity)
		}
	}
	alike := func(q quantity) func(quantity) bool {
		return func(o quantity) bool { return o.unit == q.unit && o.rate == q.rate && !o.negated && agree(o, q) }
	}
	return slices.ContainsFunc(left, alike(b.quantity)) || slices.ContainsFunc(right, alike(a.quantity)) || isSum(a.quantity, right) || isSum(b.quantity, left)
}

// once says whether two dates are of something that happened once.
func (c *Case) once(a, b *statement) bool {
	if c.l.has("not ordinary", c.part(a.clause, a.words)) || c.l.has("not ordinary", c.part(b.clause, b.words)) {
		return false
	}
	if a.question.asks(When) && b.question.asks(When) {
		return true
	}
	one := func(s *statement) bool { return c.l.has("once", s.clause) || s.question.asks(When) && s.question.once }
	return one(a) && one(b)
}

// sole says whether two names are of what one alone can be.
func (c *Case) sole(a, b *statement) bool {
	role := func(s *statement) bool {
		return slices.ContainsFunc(s.sentence.list, func(t token) bool { return c.l.is("sole role", t.norm) }) ||
			slices.ContainsFunc(s.question.list, func(t token) bool { return c.l.is("sole role", t.norm) })
	}
	return role(a) && role(b) || a.question.asks(Who) && b.question.asks(Who) || c.l.has("by", a.clause) && c.l.has("by", b.clause)
}

// overlap is the share of the words that a statement and its denial have in common.
const overlap = 0.6

// denies says whether one statement denies the other.
func (c *Case) denies(a, b *statement, n int) bool {
	opposite := a.negative != b.negative
	opposed := 0
	for _, stem := range a.key {
		p, ok := c.l.antonyms[stem]
		if !ok {
			continue
		}
		for _, other := range b.key {
			if o, ok := c.l.antonyms[other]; ok && o.pair == p.pair && o.side != p.side {
				opposed++
			}
		}
	}
	if opposed > 0 {
		opposite = !opposite
	}
	if !opposite {
		return false
	}
	n += opposed
	small, large := min(len(a.key), len(b.key)), max(len(a.key), len(b.key))
	whole := a.negative && len(a.key) == small || b.negative && len(b.key) == small || a.polar || b.polar
	return float64(n) >= overlap*float64(large) || whole && n == small && n >= fewest && 10*n >= 4*large
}

// suspect notes a clash, unless these exchanges are suspected of it already.
func (c *Case) suspect(a, b *statement) {
	if slices.ContainsFunc(c.noted, func(n [2]*statement) bool {
		return n[0].kind == a.kind && (repeats(n[0], a) && repeats(n[1], b) || repeats(n[1], a) && repeats(n[0], b)) ||
			[2]int{n[0].pair, n[1].pair} == [2]int{a.pair, b.pair} && (n[0].kind == a.kind || a.kind == Negation)
	}) {
		return
	}
	c.noted = append(c.noted, [2]*statement{a, b})
	pairs := [2]int{a.pair, b.pair}
	words := [2]string{span(a.sentence.text, a.words), span(b.sentence.text, b.words)}
	subject := strings.Join(sharedStems(a.key, b.key), ", ")
	clash := Clash{ID: fmt.Sprintf("%d-%d.%s", a.pair+1, b.pair+1, a.kind), Pairs: pairs, Kind: a.kind, Subject: subject, Words: words, Settled: -1, Firm: c.firm(a, b),
		Reason: fmt.Sprintf(c.l.say["reason "+a.kind], a.pair+1, words[0], b.pair+1, words[1], subject)}
	said := [2]string{span(a.sentence.text, a.sentence.list), span(b.sentence.text, b.sentence.list)}
	g := c.note(openGap{Gap: Gap{Category: Inconsistency, Severity: High, Aspect: aspectOf(a.kind), Pair: b.pair, Words: words[1],
		Description: fmt.Sprintf(c.l.say["gap both"], a.pair+1, shorten(said[0], mostNamed), b.pair+1, shorten(said[1], mostNamed))},
		about: []int{a.pair, b.pair}, words: words, said: said})
	c.suspicions = append(c.suspicions, &suspicion{clash, g})
}

// repeats says whether two statements say the same of the same.
func repeats(a, b *statement) bool {
	if a == b {
		return true
	}
	if shared(a.key, b.key) == 0 {
		return false
	}
	switch a.kind {
	case Number:
		return sameMeasure(a.quantity, b.quantity) && agree(a.quantity, b.quantity)
	case Date:
		return !a.date.date.excludes(b.date.date)
	case Name:
		return sameName(a.name, b.name)
	}
	return a.negative == b.negative && 2*shared(a.key, b.key) >= min(len(a.key), len(b.key))
}

func sharedStems(a, b []string) []string {
	var list []string
	for _, s := range a {
		if slices.Contains(b, s) {
			list = append(list, s)
		}
	}
	return list
}

func aspectOf(kind string) string {
	return map[string]string{Number: HowMuch, Date: When, Name: Who, Negation: What}[kind]
}

// firm says whether a clash may be recorded with nobody to ask.
func (c *Case) firm(a, b *statement) bool {
	if a.hedged || b.hedged || a.quantity.about || b.quantity.about {
		return false
	}
	if a.kind != Number {
		return true
	}
	if c.akin(a, b) && !a.when.or(a.question.when).unbound(b.when.or(b.question.when)) {
		return true
	}
	if a.when.unbound(b.when) && !c.oneYear(a, b) {
		return false
	}
	_, firm := c.oneSubject(a, b)
	return firm
}

// oneYear says whether the year that one of two statements names is that of the whole interview.
func (c *Case) oneYear(a, b *statement) bool {
	years := union(a.when.years, b.when.years)
	return len(years) == 1 && slices.Contains(c.claim.when.years, years[0]) && len(union(a.when.months, b.when.months)) == 0
}

// tensesDiffer says whether one statement is of the present and the other of the past.
func (c *Case) tensesDiffer(a, b *statement) bool {
	past := func(s *statement) bool { return c.l.has("was", s.sentence.list) }
	present := func(s *statement) bool { return c.l.has("is", s.sentence.list) && !past(s) }
	return present(a) && past(b) || past(a) && present(b)
}
