package rules

import (
	"fmt"
	"slices"
)

// verdict is what an answer is worth for an aspect of its question.
type verdict struct {
	given    bool   // it says something of the kind that was asked for
	category string // "" if nothing is open
	why      string // the sentence that describes it: "missing", "not found", "unknown", "evaded", "vague", "hedge"
	words    []token
	at       int // the sentence that holds the words
}

// ruled says by rules whether an answer gives what a question asks for by one of its aspects.
func (l *language) ruled(q question, aspect string, a answer) verdict {
	if a.notFound {
		return verdict{category: Missing, why: "not found"}
	}
	if len(a.sentences) == 0 {
		return verdict{category: Missing, why: "missing"}
	}
	best := verdict{}
	for i, s := range a.sentences {
		if !l.gives(q, aspect, s) || l.saysNothing(s) != nil || l.has("ignorance", s.list) || l.has("evasion", s.list) && aspect != HowMuch && aspect != When {
			continue
		}
		v := verdict{given: true, at: i}
		if l.dodges(q, a, aspect) || aspect == When && !l.datesIn(s) && slices.ContainsFunc(a.sentences, func(o sentence) bool { return l.vague(When, o) != nil }) {
			continue
		}
		if words := l.uncertain(q, aspect, s); words != nil {
			v.category, v.why, v.words = Vagueness, "hedge", words
		}
		if !best.given || v.category == "" {
			best = v
		}
		if v.category == "" {
			break
		}
	}
	if best.given {
		return best
	}
	return l.withheld(aspect, a)
}

// anybody says whether an answer to “was anybody …?” leaves open who it was.
func (l *language) anybody(q question, a answer) verdict {
	if !q.polar || a.notFound || !l.has("anybody", q.list) || len(a.sentences) == 0 || l.judge(q, Who, a).category == "" {
		return verdict{}
	}
	for i, s := range a.sentences {
		if words := l.vague(Who, s); words != nil && len(s.names) == 0 && s.asserts() {
			return verdict{category: Vagueness, why: "vague", words: words, at: i}
		}
	}
	return verdict{}
}

// dodges says whether an answer begins as those do that are about something else, and holds nothing firm.
func (l *language) dodges(q question, a answer, aspect string) bool {
	begins := l.classes["dodge"].at(a.sentences[0].list, 0)
	if begins == 0 {
		return false
	}
	general := l.has("dodge", a.sentences[0].list[begins:])
	for _, s := range a.sentences {
		general = general || l.has("everybody", s.list) || l.has("anybody", s.list) || l.vague(aspect, s) != nil || l.has("vague thing", s.list)
		yes, no := l.yesOrNo(&s)
		if yes+no > 0 || l.datesIn(s) || len(s.names) > 0 && aspect != Why || aspect == HowMuch && len(l.quantities(s.list)) > 0 || l.has("cause firm", s.list) {
			return false
		}
		if !l.has("vague thing", s.list) && !l.has("everybody", s.list) && covered(q.stems, s.stems) > 0 {
			return false
		}
	}
	return general // “well, the valve was stuck” is an answer
}

func (l *language) datesIn(s sentence) bool { return len(l.dates(s.list)) > 0 }

// withheld says how an answer fails to give what was asked.
func (l *language) withheld(aspect string, a answer) verdict {
	for i, s := range a.sentences {
		if words := l.saysNothing(s); words != nil {
			return verdict{category: Missing, why: "not found", words: words, at: i}
		}
	}
	for i, s := range a.sentences {
		if at, n := l.classes["ignorance"].in(s.list); n > 0 {
			return verdict{category: Missing, why: "unknown", words: s.list[at : at+n], at: i}
		}
	}
	for i, s := range a.sentences {
		if words := l.vague(aspect, s); words != nil {
			return verdict{category: Vagueness, why: "vague", words: words, at: i}
		}
	}
	for i, s := range a.sentences {
		if at, n := l.classes["evasion"].in(s.list); n > 0 {
			return verdict{category: Missing, why: "evaded", words: s.list[at : at+n], at: i}
		}
	}
	return verdict{category: Missing, why: "missing"}
}

// vagueClass is the class of words that stand where an aspect is kept open.
func vagueClass(aspect string) string {
	return map[string]string{Who: "vague person", What: "vague thing", When: "vague time", Where: "vague place", HowMuch: "vague amount", Why: "vague cause", How: "vague manner"}[aspect]
}

// vague finds the words of a sentence that keep an aspect open, or nothing.
func (l *language) vague(aspect string, s sentence) []token {
	if at, n := l.classes[vagueClass(aspect)].in(s.list); n > 0 {
		return s.list[at : at+n]
	}
	return nil
}

// uncertain finds what makes a statement that gives an aspect less than certain: a hedge, or “about” before the only number.
func (l *language) uncertain(q question, aspect string, s sentence) []token {
	if words := l.hedge(s.list); words != nil {
		return words
	}
	if aspect != HowMuch {
		return nil
	}
	all := l.quantities(s.list)
	if len(all) == 0 || !all[0].about || slices.ContainsFunc(all[1:], func(o quantity) bool { return !o.about && sameMeasure(o, all[0]) && agree(o, all[0]) }) {
		return nil
	}
	return s.list[max(0, all[0].from-1):all[0].to]
}

// severity is how much a gap weighs: what the hypothesis asks for itself weighs most.
func (c *Case) severity(aspect string, v verdict) string {
	wanted := slices.Contains(c.claim.wanted, aspect)
	switch {
	case v.given:
		return Low
	case v.category == Vagueness:
		return Medium
	case wanted && v.why != "not found":
		return High
	case wanted || v.why == "missing" || v.why == "evaded":
		return Medium
	}
	return Low // what only the kind of the claim needs may be known to nobody
}

// look opens the gaps that an answer leaves.
func (c *Case) look(x exchange, k int, inquired []*openGap) {
	for _, g := range inquired {
		if g.Category == Inconsistency {
			return // the reply was weighed by settle
		}
	}
	if c.isProbe(x.question) {
		return // who has no more to say has left nothing open
	}
	for _, aspect := range x.question.asked {
		v := c.l.judge(x.question, x.question.kindOf(aspect), x.answer)
		if v.category == "" && len(x.question.asked) > 1 && slices.Contains(c.claim.wanted, aspect) {
			v = c.l.ruled(x.question, aspect, x.answer) // the hypothesis hangs on it
		}
		if v.category == "" || v.why == "hedge" && c.knownExactly(x, aspect, v) || slices.ContainsFunc(inquired, func(g *openGap) bool { return g.Aspect == aspect }) {
			continue
		}
		c.note(c.gap(x, k, aspect, v))
	}
	if v := c.l.anybody(x.question, x.answer); v.category != "" {
		c.note(c.gap(x, k, Who, v))
	}
	c.unclear(x, k)
	c.readTwoWays(x, k)
}

// knownExactly says whether a number that is only about right was given exactly before.
func (c *Case) knownExactly(x exchange, aspect string, v verdict) bool {
	s := &x.answer.sentences[v.at]
	if aspect != HowMuch || c.l.hedge(s.list) != nil {
		return false
	}
	for _, q := range c.l.quantities(s.list) {
		for _, o := range c.earlier[Number] {
			if q.about && !o.quantity.about && o.quantity.unit == q.unit && agree(o.quantity, q) && covered(union(s.stems, x.question.stems), o.topic) > 0 {
				return true
			}
		}
	}
	return false
}

func (c *Case) gap(x exchange, k int, aspect string, v verdict) openGap {
	words, said := span(x.answer.text, v.words), ""
	if v.words != nil {
		said = span(x.answer.text, x.answer.sentences[v.at].list)
	}
	wanted := c.l.say["wanted "+aspect]
	about := shorten(x.question.text, mostNamed)
	var description string
	switch v.why {
	case "vague":
		description = fmt.Sprintf(c.l.say["gap vague"], words, wanted)
	case "hedge":
		description = fmt.Sprintf(c.l.say["gap hedge"], words, shorten(said, mostNamed))
	default:
		description = fmt.Sprintf(c.l.say["gap "+v.why], about, wanted)
	}
	return openGap{Gap: Gap{Category: v.category, Severity: c.severity(aspect, v), Aspect: aspect, Description: description, Pair: k, Words: words},
		question: x.question, about: []int{k}, said: [2]string{said}}
}

// fill closes the gaps that an answer fills, asked for or not.
func (c *Case) fill(x exchange, inquired []*openGap) {
	for _, g := range slices.Clone(c.open) {
		if g.Category == Inconsistency {
			continue
		}
		if slices.Contains(inquired, g) {
			if c.replies(g, x) {
				c.close(g)
			}
			continue
		}
		if g.Category != Ambiguity && c.fillsUnasked(g, x) {
			c.close(g)
		}
	}
}

// replies says whether the answer to a question about a gap fills it.
func (c *Case) replies(g *openGap, x exchange) bool {
	if g.Category == Ambiguity {
		return !x.answer.notFound && !c.l.withholds(x.answer) && c.l.namesSomething(x.answer)
	}
	q := g.question
	v := c.l.filled(q, q.kindOf(g.Aspect), x.answer)
	return v.given && v.category == ""
}

func (l *language) withholds(a answer) bool {
	for _, s := range a.sentences {
		if l.saysNothing(s) != nil || l.has("ignorance", s.list) || l.has("evasion", s.list) {
			return true
		}
	}
	return len(a.sentences) == 0
}

func (l *language) namesSomething(a answer) bool {
	for _, s := range a.sentences {
		if len(s.stems) > 0 || len(s.names) > 0 {
			return true
		}
	}
	return false
}

func (c *Case) fillsUnasked(g *openGap, x exchange) bool {
	if x.answer.notFound {
		return false
	}
	for _, s := range x.answer.sentences {
		n := covered(g.question.stems, union(s.stems, x.question.stems))
		if s.asserts() && !s.hedged && n >= 2 && 2*n >= len(g.question.stems) && c.l.plainly(s, g.Aspect) && c.l.gives(g.question, g.Aspect, s) {
			return true
		}
	}
	return false
}
