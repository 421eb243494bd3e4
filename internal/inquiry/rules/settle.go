package rules

import (
	"cmp"
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
		if c.echoes(x) {
			g.tries = mostTries // there is no more to be had
		}
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
	for _, d := range c.doubts {
		if !c.asksAbout(d.gap, x.question) {
			continue
		}
		inquired = append(inquired, d.gap)
		if d.asked = true; c.stands(d.gap, x) {
			d.Settled = k
			c.settled = append(c.settled, d.Clash)
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

// Probabilities from which on a reply leaves a clash standing, and up to which it dissolves one. The first was chosen on replies by hands that the
// model had not seen, so that nine of ten that are said to leave one standing do.
const (
	leftStanding = 0.65
	leftOpen     = 0.4
)

// reply weighs one.
func (c *Case) reply(g *openGap, x exchange) outcome {
	if x.answer.notFound || len(x.answer.sentences) == 0 {
		return open
	}
	switch {
	case c.stands(g, x):
		return standing
	case c.echoes(x) && c.repeatsBoth(g, x):
		return open // who says both again explains nothing
	case c.toldApart(g, x) || c.standing(g, x) <= leftOpen || !c.firm(g):
		return explained
	}
	return open
}

// standing is how probable it is that a reply leaves a clash standing.
func (c *Case) standing(g *openGap, x exchange) float64 {
	m := replies()
	return m.Probabilities(c.l.replyEvidence(g.words, x.answer))[m.Class(stands)]
}

// stands says whether a reply leaves a clash standing. Who only says again what was said before has said nothing
// about both, unless it is both of what clashes firmly.
func (c *Case) stands(g *openGap, x exchange) bool {
	if x.answer.notFound || c.toldApart(g, x) {
		return false
	}
	if c.echoes(x) {
		return c.firm(g) && c.repeatsBoth(g, x)
	}
	return c.standing(g, x) >= leftStanding
}

// repeatsBoth says whether a reply says both once more, and hardly anything else.
func (c *Case) repeatsBoth(g *openGap, x exchange) bool {
	text := oneLine(x.answer.text)
	return strings.Contains(text, g.said[0]) && strings.Contains(text, g.said[1]) && len(text) <= len(g.said[0])+len(g.said[1])+mostBetween
}

// mostBetween is how many bytes stand at most around and between two sentences that are said once more.
const mostBetween = 20

// toldApart says whether a reply binds the two to different years, where they are no times themselves.
func (c *Case) toldApart(g *openGap, x exchange) bool {
	var years []int
	for _, s := range x.answer.sentences {
		years = union(years, s.when.years)
	}
	return g.Aspect != When && len(years) > 1
}

// firm says whether so much speaks for a clash that it is not dropped for want of a clear reply.
func (c *Case) firm(g *openGap) bool {
	return slices.ContainsFunc(c.suspicions, func(s *suspicion) bool { return s.gap == g && s.Firm })
}

// echoes says whether an answer holds nothing but sentences that were said before.
func (c *Case) echoes(x exchange) bool {
	return len(x.answer.sentences) > 0 && !slices.ContainsFunc(x.answer.sentences, func(s sentence) bool {
		_, known := c.said[span(s.text, s.list)]
		return !known
	})
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

// record makes contradictions of the suspicions that are firm, the most probable first; an answer that clashes with one clashes with no other by
// less. The others are told as suspicions if they are worth it, and are no gaps: nobody can be asked about them.
func (c *Case) record() {
	c.finished = true
	all := slices.Clone(c.suspicions)
	slices.SortStableFunc(all, func(a, b *suspicion) int { return cmp.Compare(b.probability, a.probability) })
	var taken []int
	for _, s := range all {
		free := !slices.Contains(taken, s.Pairs[0]) && !slices.Contains(taken, s.Pairs[1])
		if free && s.Firm {
			c.stand(s.gap, s.Pairs[1])
			taken = append(taken, s.Pairs[:]...)
			continue
		}
		c.open = slices.DeleteFunc(c.open, func(o *openGap) bool { return o == s.gap })
		if !free || s.probability < worthTelling {
			c.suspicions = slices.DeleteFunc(c.suspicions, func(o *suspicion) bool { return o == s })
		}
	}
}
