package rules

import (
	"fmt"
	"slices"
	"strings"
)

// mostProbes is how often the detective asks for more about something, of its own accord: what is told twice, from two sides, can be compared.
const mostProbes = 2

// probes asks for more about things that the hypothesis or the witness named, and for what is written.
func (c *Case) probes() []Question {
	if c.finished || c.probed() >= mostProbes || len(c.exchanges) == 0 || c.searching() {
		return nil
	}
	var list []Question
	add := func(text string) { list = append(list, Question{Text: text, Aspect: What}) }
	for i, thing := range c.things() {
		if i == 1 {
			add(c.l.say["written"])
		}
		add(fmt.Sprintf(c.l.say["more"], thing))
	}
	add(c.l.say["written"])
	return slices.DeleteFunc(list, func(q Question) bool { return !c.isNew(q) })
}

// mostSearching is how many questions in a row nothing but the detective's own curiosity asks for: who says no more than before is believed then.
const mostSearching = 2

// searching says whether the last questions were all of that sort.
func (c *Case) searching() bool {
	n := 0
	for k := len(c.exchanges) - 1; k >= 0 && n < mostSearching; k, n = k-1, n+1 {
		q := c.exchanges[k].question
		if !c.isProbe(q) && !slices.ContainsFunc(c.doubts, func(d *suspicion) bool { return d.asked && c.asksAbout(d.gap, q) }) {
			return false
		}
	}
	return n == mostSearching
}

// isProbe says whether a question is one of those.
func (c *Case) isProbe(q question) bool {
	_, end, _ := strings.Cut(c.l.say["more"], "%s")
	return q.text == c.l.say["written"] || strings.HasSuffix(q.text, end)
}

// probed counts those that were asked.
func (c *Case) probed() (n int) {
	for i := range c.exchanges {
		if c.isProbe(c.exchanges[i].question) {
			n++
		}
	}
	return n
}

// things are what can be asked about: of the hypothesis first, then of the answers, the latest first; none of them was asked about.
func (c *Case) things() []string {
	var things []string
	var stems []string
	take := func(list []token) {
		for _, t := range c.l.things(list) {
			own := c.l.content(t)
			if len(own) > 0 && !slices.Contains(stems, own[len(own)-1]) {
				stems = append(stems, own[len(own)-1])
				things = append(things, joined(t))
			}
		}
	}
	take(c.claim.list)
	for k := len(c.exchanges) - 1; k >= 0 && k >= len(c.exchanges)-mostKnown; k-- {
		if x := &c.exchanges[k]; !x.answer.notFound && !c.l.withholds(x.answer) {
			for _, s := range x.answer.sentences {
				take(s.list)
			}
		}
	}
	return things
}

// joined writes words one after the other.
func joined(list []token) string {
	var words []string
	for _, t := range list {
		words = append(words, t.said)
	}
	return strings.Join(words, " ")
}

// things finds nouns: what follows an article, or has a capital letter in German.
func (l *language) things(list []token) (found [][]token) {
	for i := 0; i < len(list); i++ {
		if !list[i].word || l.code == "en" && (!l.is("article", list[i].norm) && !l.is("definite", list[i].norm)) {
			continue
		}
		from := i
		if l.code == "en" {
			from++
		}
		to := from
		for to < len(list) && to < from+3 && l.isThing(list, to) {
			to++
		}
		if to > from && to-from <= 2 {
			found = append(found, list[from:to])
		}
		i = max(i, to-1)
	}
	return found
}

func (l *language) isThing(list []token, i int) bool {
	t := list[i]
	plain := t.word && !t.isFigure() && len(t.norm) > 3 && !l.isFunction(t.norm) && !l.isUnit(t.norm) && !l.isNumberWord(t.norm) && l.months[t.norm] == 0 && l.weekdays[t.norm] == 0
	if l.code == "de" {
		return plain && t.upper && i > 0 && list[i-1].word && !l.isFirstName(t.norm)
	}
	return plain
}
