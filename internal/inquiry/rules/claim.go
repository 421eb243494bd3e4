package rules

import (
	"slices"
	"strings"
)

// claim is what a hypothesis says or asks.
type claim struct {
	question
	kind    string
	asking  bool     // it is a question, or tells to find something out
	wanted  []string // aspects that it asks for itself
	implied []string // aspects that its kind needs
	told    string   // it, as questions name it
	topic   []string // stems of what it is about: those before its verb
}

// needs is what is wanted of each kind of claim, the kinds in the order in which they are tried.
func needs() []struct {
	kind    string
	implied []string
} {
	return []struct {
		kind    string
		implied []string
	}{
		{"comparison", []string{What, HowMuch, When, Why}},
		{"plan", []string{What, When, Who, HowMuch}},
		{"cause", []string{What, Why, When, Who, How}},
		{"quantity", []string{What, HowMuch, When, Why}},
		{"event", []string{What, When, Where, Who, Why}},
		{"property", []string{What, Why, How, HowMuch}},
	}
}

func (l *language) claim(text string) claim {
	c := claim{question: l.question(text)}
	first := at(c.list, 0).norm
	c.asking = strings.HasSuffix(oneLine(text), "?") || len(c.list) > 0 && (l.is("asking", first) || l.is("leading", first))
	if _, n := l.asking(c.list, 0); n > 0 || c.asking && !slices.Equal(c.asked, []string{What}) {
		c.wanted = c.asked
	}
	for _, n := range needs() {
		if l.isKind(n.kind, c) {
			c.kind = n.kind
			for _, a := range n.implied {
				if !slices.Contains(c.wanted, a) {
					c.implied = append(c.implied, a)
				}
			}
			break
		}
	}
	c.told = strings.TrimRight(shorten(text, mostNamed), ".!")
	c.topic = l.topic(c.list)
	return c
}

// mostNamed is how many characters of a hypothesis a question names.
const mostNamed = 160

func (l *language) isKind(kind string, c claim) bool {
	switch kind {
	case "comparison":
		return l.has("than", c.list) && l.has("compares", c.list)
	case "plan":
		return l.has("planned", c.list) && !l.has("once past", c.list)
	case "cause":
		return l.has("cause firm", c.list) || l.has("causes", c.list)
	case "quantity":
		return len(l.quantities(c.list)) > 0 || c.asks(HowMuch)
	case "event":
		return l.has("once", c.list) || l.has("past", c.list) || len(c.when.years) > 0
	}
	return true
}

// topic gives the stems of the first words of a hypothesis, up to its verb.
func (l *language) topic(list []token) []string {
	seen := false
	for i, t := range list {
		state := l.is("state verbs", t.norm)
		verb := state || l.code == "en" && l.isVerbLike(t) || l.code == "de" && t.word && !t.upper && !l.isFunction(t.norm) && !l.afterArticle(list, i)
		if verb && seen {
			return l.content(list[:i])
		}
		seen = seen || t.word && !l.isFunction(t.norm) && !state
	}
	return l.content(list)
}
