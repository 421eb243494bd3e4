package rules

import (
	"slices"
	"strings"
)

// settle finds the gaps that a question asks about, and weighs the replies to those about two answers.
func (c *Case) settle(x exchange, k int) []*openGap {
	var inquired []*openGap
	for _, g := range slices.Clone(c.open) {
		if !c.asksAbout(g, x.question) {
			continue
		}
		g.tries++
		inquired = append(inquired, g)
		if g.Category != Inconsistency {
			continue
		}
		switch c.reply(g, x) {
		case explained:
			c.drop(g)
		case standing:
			c.stand(g, k)
		}
	}
	return inquired
}

// asksAbout says whether a question asks about a gap.
func (c *Case) asksAbout(g *openGap, q question) bool {
	text := oneLine(q.text)
	switch {
	case g.Category == Inconsistency:
		return strings.Contains(text, g.words[0]) && strings.Contains(text, g.words[1]) && (c.long(g) || c.names(text, g))
	case g.Words != "" && strings.Contains(text, "“"+g.Words+"”") || g.Words != "" && strings.Contains(text, "„"+g.Words+"“"):
		return true
	case g.Category == Ambiguity:
		return false
	}
	n := shared(q.stems, g.question.stems)
	return q.asks(g.Aspect) && n > 0 && 2*n >= min(len(q.stems), len(g.question.stems))
}

// long says whether what clashes tells by itself what it is about.
func (c *Case) long(g *openGap) bool {
	return len(g.words[0]) > 1 && len(g.words[1]) > 1 && g.words[0] != g.words[1]
}

// names says whether a question holds the sentences that clash.
func (c *Case) names(text string, g *openGap) bool {
	return strings.Contains(text, shorten(g.said[0], mostSaid)) && strings.Contains(text, shorten(g.said[1], mostSaid))
}

// outcome is what a reply to a question about two answers does.
type outcome int

const (
	open outcome = iota
	explained
	standing
)

// reply weighs one.
func (c *Case) reply(g *openGap, x exchange) outcome {
	if x.answer.notFound || len(x.answer.sentences) == 0 {
		return open
	}
	corrects, explains, stands := false, false, false
	for _, s := range x.answer.sentences {
		corrects = corrects || c.l.has("corrects", s.list)
		explains = explains || c.l.has("explains", s.list)
		stands = stands || c.l.has("stands", s.list)
	}
	first, second := c.repeats(g, 0, x), c.repeats(g, 1, x)
	switch {
	case corrects && !(stands && !first && !second && !c.l.retracts(x.answer)):
		return explained
	case first && second:
		if explains || c.toldApart(g, x) {
			return explained
		}
		return standing
	case explains && !c.affirms(x):
		return explained
	case c.l.withholds(x.answer):
		return open
	case stands:
		return standing
	case first != second:
		return explained // it chose one
	}
	return open
}

// affirms says whether a reply only holds on to both.
func (c *Case) affirms(x exchange) bool {
	for _, s := range x.answer.sentences {
		if c.l.has("stands", s.list) && len(s.stems) <= 4 && len(x.answer.sentences) == 1 {
			return true
		}
	}
	return false
}

// repeats says whether a reply gives what one of the two answers gave.
func (c *Case) repeats(g *openGap, side int, x exchange) bool {
	said := g.words[side]
	if strings.Contains(strings.ToLower(oneLine(x.answer.text)), strings.ToLower(said)) {
		return true
	}
	list := c.l.tokens(said)
	want := c.l.quantities(list)
	dates := c.l.dates(list)
	for _, s := range x.answer.sentences {
		for _, q := range c.l.quantities(s.list) {
			if len(want) > 0 && q.low == want[0].low && (q.unit == want[0].unit || q.unit == "") {
				return true
			}
		}
		for _, d := range c.l.dates(s.list) {
			if len(dates) > 0 && d.date == dates[0].date {
				return true
			}
		}
	}
	return false
}

// toldApart says whether a reply binds the two to different years, things or times.
func (c *Case) toldApart(g *openGap, x exchange) bool {
	if g.Aspect == When {
		return false
	}
	years := 0
	var marks []mark
	for _, s := range x.answer.sentences {
		years += len(s.when.years)
		marks = append(marks, s.marks...)
	}
	return years >= 2 || c.l.contrasted(marks)
}

// drop ends a suspicion that was explained.
func (c *Case) drop(g *openGap) {
	c.suspicions = slices.DeleteFunc(c.suspicions, func(s *suspicion) bool { return s.gap == g })
	c.close(g)
}

// stand makes a contradiction of a suspicion. Its gap is closed, so that it is charged once.
func (c *Case) stand(g *openGap, k int) {
	for _, s := range c.suspicions {
		if s.gap == g {
			s.Settled = k
			c.settled = append(c.settled, s.Clash)
		}
	}
	c.drop(g)
}

// record makes contradictions of the suspicions that are firm.
func (c *Case) record() {
	for _, s := range slices.Clone(c.suspicions) {
		if s.Firm {
			c.stand(s.gap, s.Pairs[1])
		}
	}
}
