package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// suspicion is a clash that is not settled, with its gap.
type suspicion struct {
	Clash
	gap         *openGap
	probability float64
	asked       bool // a doubt is asked about once
}

// mostEarlier is how many mentions of a kind are kept: the work for a further answer must not grow with the interview.
const mostEarlier = 120

// compare holds what an answer says against what was said before, and what it quotes of one passage against what it quotes of those before.
func (c *Case) compare(x exchange, k int, inquired []*openGap) {
	settling := slices.ContainsFunc(inquired, func(g *openGap) bool { return g.Category == Inconsistency })
	silent := settling || c.l.retracts(x.answer)
	parts := c.parts(&c.exchanges[k])
	all := make([][]*mention, len(parts))
	for i, part := range parts {
		all[i] = c.mentions(part, k)
	}
	c.count(&c.exchanges[k])
	for _, found := range all {
		if !silent {
			for _, p := range c.clashing(found) {
				c.suspect(p)
			}
		}
		c.keep(found)
	}
}

// parts are the exchanges that an answer stands for: one for each passage that it quotes. Sentences that follow one another in one paragraph stay together.
// That nothing was found says nothing.
func (c *Case) parts(x *exchange) []*exchange {
	if x.answer.notFound {
		return nil
	}
	starts := []int{0}
	for i := 1; x.answer.around != "" && i < len(x.answer.sentences); i++ {
		if !x.answer.together(&x.answer.sentences[i-1], &x.answer.sentences[i]) {
			starts = append(starts, i)
		}
	}
	if len(starts) == 1 {
		return []*exchange{x}
	}
	var all []*exchange
	for n, from := range starts {
		part, to := *x, len(x.answer.sentences)
		if n+1 < len(starts) {
			to = starts[n+1]
		}
		part.answer.sentences = x.answer.sentences[from:to]
		part.facts = c.factsOf(&part)
		all = append(all, &part)
	}
	return all
}

// count notes the stems of an exchange, by which rare words are told from those of the whole interview.
func (c *Case) count(x *exchange) {
	all := x.question.own
	for _, s := range x.answer.sentences {
		all = union(all, s.stems)
	}
	for _, stem := range all {
		c.frequency[stem]++
	}
}

// keep adds mentions to those that later ones are held against.
func (c *Case) keep(found []*mention) {
	for _, m := range found {
		list := append(c.earlier[m.kind], m)
		c.earlier[m.kind] = list[max(0, len(list)-mostEarlier):]
	}
}

// pair is two mentions that may clash, and how probable that is.
type pair struct {
	a, b        *mention
	probability float64
}

// clashing gives the most probable clash of each earlier answer with those of mentions, if it is probable enough to be suspected.
func (c *Case) clashing(found []*mention) []pair {
	var best []pair
	c.pairs(found, func(a, b *mention) {
		p := pair{a, b, c.probability(a, b)}
		if p.probability < least(b) || toldTogether(a, b) {
			return
		}
		switch i := slices.IndexFunc(best, func(o pair) bool { return o.a.pair == a.pair }); {
		case i < 0:
			best = append(best, p)
		case p.probability > best[i].probability:
			best[i] = p
		}
	})
	slices.SortStableFunc(best, func(x, y pair) int { return x.a.pair - y.a.pair }) // the answer that said it first counts
	return best
}

// least is the probability from which on a mention is held against an earlier one. A document explains nothing, so that it is not asked about a doubt.
func least(m *mention) float64 {
	if m.x.answer.around != "" {
		return suspected
	}
	return doubtful
}

// toldTogether says whether one paragraph of what is quoted holds the sentences of both mentions: who wrote one after the other meant both, so that
// asking which of them holds would lead nowhere.
func toldTogether(a, b *mention) bool { return b.x.answer.together(a.s, b.s) }

// together says whether one paragraph of what an answer quotes holds two sentences, or one of them holds the other.
func (a *answer) together(s, t *sentence) bool {
	one, other := span(s.text, s.list), span(t.text, t.list)
	if a.around != "" && (strings.Contains(one, other) || strings.Contains(other, one)) {
		return true
	}
	for paragraph := range strings.SplitSeq(a.around, "\n\n") {
		if strings.Contains(paragraph, one) && strings.Contains(paragraph, other) {
			return true
		}
	}
	return false
}

// pairs gives the mentions that may be held against earlier ones.
func (c *Case) pairs(found []*mention, yield func(a, b *mention)) {
	for _, b := range found {
		for _, a := range c.earlier[b.kind] {
			c.work++
			if c.comparable(a, b) {
				yield(a, b)
			}
		}
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

// suspect notes a clash, unless what clashes was suspected before: somebody who says it again is not asked again.
func (c *Case) suspect(p pair) {
	a, b := p.a, p.b
	if p.probability < suspected && !c.roomFor(p.probability) {
		return
	}
	if slices.ContainsFunc(c.noted, func(n pair) bool {
		said := repeats(n.a, a) && repeats(n.b, b) || repeats(n.b, a) && repeats(n.a, b)
		return said && (n.probability >= suspected || p.probability < suspected) // a doubt hides no suspicion
	}) {
		return
	}
	c.noted = append(c.noted, p)
	kind := c.kindOf(a, b)
	words := [2]string{a.said, b.said}
	said := [2]string{span(a.s.text, a.s.list), span(b.s.text, b.s.list)}
	subject := c.subject(a, b)
	about := ""
	if subject != "" {
		about = " (" + subject + ")"
	}
	clash := Clash{ID: fmt.Sprintf("%d-%d.%s", a.pair+1, b.pair+1, kind), Pairs: [2]int{a.pair, b.pair}, Kind: kind, Subject: subject, Words: words, Settled: -1,
		Firm: isFirm(a, b, p.probability), Reason: fmt.Sprintf(c.l.say[within("reason "+kind, a, b)], a.pair+1, words[0], b.pair+1, words[1], about)}
	gap := openGap{Gap: Gap{Category: Inconsistency, Severity: High, Aspect: aspectOf(kind), Pair: b.pair, Words: words[1],
		Description: fmt.Sprintf(c.l.say[within("gap both", a, b)], a.pair+1, shorten(said[0], mostNamed), b.pair+1, shorten(said[1], mostNamed))},
		about: slices.Compact([]int{a.pair, b.pair}), words: words, said: said}
	if p.probability < suspected {
		gap.ID = "doubt " + clash.ID
		c.doubts = append(c.doubts, &suspicion{Clash: clash, gap: &gap, probability: p.probability})
		return
	}
	c.suspicions = append(c.suspicions, &suspicion{Clash: clash, gap: c.note(gap), probability: p.probability})
}

// within gives the key of what is said of two mentions: one of its own where one answer holds both.
func within(key string, a, b *mention) string {
	if a.pair == b.pair {
		return key + " within"
	}
	return key
}

// mostDoubtful is how many doubts are kept.
const mostDoubtful = 8

// roomFor says whether a doubt is kept, in the place of the least probable one if there are many.
func (c *Case) roomFor(probability float64) bool {
	if len(c.doubts) < mostDoubtful {
		return true
	}
	least := slices.MinFunc(c.doubts, func(a, b *suspicion) int { return cmp.Compare(a.probability, b.probability) })
	if least.asked || probability <= least.probability {
		return false
	}
	c.doubts = slices.DeleteFunc(c.doubts, func(d *suspicion) bool { return d == least })
	return true
}

// kindOf says how two mentions clash: clauses may deny each other, or say different things of the same.
func (c *Case) kindOf(a, b *mention) string {
	if a.kind == Negation && a.negative == b.negative && c.opposed(a.stems, b.stems) == 0 {
		return Other
	}
	return a.kind
}

// subject gives the words for what both mentions are about, as the first has them.
func (c *Case) subject(a, b *mention) string {
	said := slices.Concat(a.clause, a.x.question.list)
	theirs := union(b.stems, b.x.question.own)
	var words, told []string
	for _, s := range union(a.stems, a.x.question.own) {
		at := slices.IndexFunc(said, func(t token) bool { return t.word && c.l.stemOf(t) == s })
		if at >= 0 && holdsAkin(theirs, s) && !holdsAkin(told, s) {
			words, told = append(words, said[at].said), append(told, s)
		}
	}
	return strings.Join(words, ", ")
}

// repeats says whether two mentions say the same of the same.
func repeats(a, b *mention) bool {
	if a == b {
		return true
	}
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case Number:
		return a.quantity.unit == b.quantity.unit && agree(a.quantity, b.quantity)
	case Date:
		return equalMoment(a.moment)(b.moment)
	case Name:
		return sameName(a.name, b.name)
	}
	n := shared(a.stems, b.stems)
	return a.negative == b.negative && n > 0 && 2*n >= min(len(a.stems), len(b.stems))
}

func aspectOf(kind string) string {
	switch kind {
	case Number:
		return HowMuch
	case Date:
		return When
	case Name:
		return Who
	}
	return What
}
