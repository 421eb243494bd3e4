package rules

import (
	"cmp"
	"fmt"
	"slices"
)

// mostSaid is how many characters of an answer a question names.
const mostSaid = 200

// Next gives the next question by a strategy: "breadth" asks for an aspect that nothing has touched, "depth" about the most severe gap,
// "contradiction" names two answers that clash, "timeline" asks when. A strategy that has nothing to ask gives way to the others. It never asks
// what was asked, nor a third time about a gap; false says that nothing is left. A must be the analysis of the same exchanges.
func Next(hypothesis, language, strategy string, all []Exchange, a Analysis) (Question, bool) {
	return caseOf(hypothesis, language, all).Next(strategy)
}

// Next is the function Next without reading the interview again.
func (c *Case) Next(strategy string) (Question, bool) {
	for _, s := range order(strategy) {
		list := c.candidates(s)
		if s == Timeline && strategy == Timeline && len(c.exchanges) > 1 {
			list = append(list, Question{Text: fmt.Sprintf(c.l.say["order"], c.told()), Aspect: When})
		}
		for _, q := range list {
			if q.Strategy = s; c.isNew(q) {
				return q, true
			}
		}
	}
	return Question{}, false
}

// order gives the strategies in the order in which they are tried.
func order(strategy string) []string {
	list := []string{Contradiction, Depth, Breadth, Timeline}
	if strategy == Breadth || strategy == Timeline {
		list = []string{strategy, Breadth, Contradiction, Depth}
	}
	if strategy == Depth {
		list = []string{Depth, Contradiction, Breadth, Timeline}
	}
	return slices.Compact(list)
}

// isNew says whether a question has not been asked.
func (c *Case) isNew(q Question) bool {
	read := c.l.question(q.Text)
	return !slices.ContainsFunc(c.exchanges, func(x exchange) bool {
		return oneLine(x.question.text) == oneLine(q.Text) || len(q.Gaps) == 0 && same(x.question, read)
	})
}

func (c *Case) candidates(strategy string) []Question {
	switch strategy {
	case Contradiction:
		return c.aboutGaps(func(g *openGap) bool { return g.Category == Inconsistency })
	case Depth:
		return c.aboutGaps(func(*openGap) bool { return true })
	case Timeline:
		return c.untold(func(aspect string) bool { return aspect == When })
	}
	list, more := c.untold(func(string) bool { return true }), slices.Concat(c.doubted(), c.probes())
	if len(c.exchanges)%2 == 0 {
		return slices.Concat(more, list) // in turns, so that neither waits for the other
	}
	return slices.Concat(list, more)
}

// mostDoubts is how often the detective asks about two answers of which little says that they clash.
const mostDoubts = 3

// doubted asks about such answers, those first that clash most probably.
func (c *Case) doubted() []Question {
	left, asked := []*suspicion{}, 0
	for _, d := range c.doubts {
		if d.asked {
			asked++
		} else {
			left = append(left, d)
		}
	}
	if c.finished || asked >= mostDoubts || c.searching() {
		return nil
	}
	slices.SortStableFunc(left, func(a, b *suspicion) int { return cmp.Compare(b.probability, a.probability) })
	var list []Question
	for _, d := range left {
		list = append(list, Question{Text: c.askAbout(d.gap)[0], Aspect: d.gap.Aspect, About: slices.Clone(d.gap.about)})
	}
	return list
}

// untold asks for the aspects of the hypothesis that nothing has touched.
func (c *Case) untold(wanted func(string) bool) []Question {
	var list []Question
	if len(c.exchanges) == 0 && c.claim.asking && c.claim.text != "" && len(c.claim.wanted) > 0 && wanted(c.claim.wanted[0]) {
		list = append(list, Question{Text: oneLine(c.claim.text), Aspect: c.claim.wanted[0]})
	}
	for _, aspect := range c.needed() {
		if c.aspects[aspect] == untouched && wanted(aspect) {
			way := "ask "
			if c.claim.asking {
				way = "asking "
			}
			list = append(list, Question{Text: fmt.Sprintf(c.l.say[way+aspect], c.told()), Aspect: aspect})
		}
	}
	return list
}

func (c *Case) told() string { return fmt.Sprintf(c.l.say["claim"], c.claim.told) }

// aboutGaps asks about gaps, the most severe first.
func (c *Case) aboutGaps(wanted func(*openGap) bool) []Question {
	gaps := slices.Clone(c.open)
	weight := map[string]int{High: 0, Medium: 1, Low: 2}
	slices.SortStableFunc(gaps, func(a, b *openGap) int { return weight[a.Severity] - weight[b.Severity] })
	var list []Question
	for _, g := range gaps {
		if g.Severity == Low || g.tries >= mostTries || !wanted(g) {
			continue
		}
		for _, text := range c.askAbout(g) {
			list = append(list, Question{Text: text, Aspect: g.Aspect, Gaps: []string{g.ID}, About: slices.Clone(g.about)})
		}
	}
	return list
}

// askAbout gives questions about a gap, in the order in which they are asked.
func (c *Case) askAbout(g *openGap) []string {
	say := c.l.say
	about := shorten(g.question.text, mostSaid)
	switch {
	case g.Category == Inconsistency:
		first, second := c.quote(g, 0), c.quote(g, 1)
		return []string{fmt.Sprintf(say["both"], first, second), fmt.Sprintf(say["both again"], first, second)}
	case g.Category == Ambiguity:
		return []string{fmt.Sprintf(say["unclear"], shorten(g.said[0], mostSaid), g.Words), fmt.Sprintf(say["unclear again"], shorten(g.said[0], mostSaid), g.Words)}
	case g.Words != "" && g.Category == Vagueness:
		return []string{fmt.Sprintf(say["vague"], g.Words, about, say["vague "+g.Aspect]), fmt.Sprintf(say["open"], about, say["open "+g.Aspect])}
	}
	return []string{fmt.Sprintf(say["open"], about, say["open "+g.Aspect]), fmt.Sprintf(say["again "+g.Aspect], c.told())}
}

// quote gives a sentence that clashes, shortened so that what clashes stays in it.
func (c *Case) quote(g *openGap, side int) string {
	said := shorten(g.said[side], mostSaid)
	if len(g.said[side]) > len(said) {
		return shorten(g.words[side], mostSaid)
	}
	return said
}
