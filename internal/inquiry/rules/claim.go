package rules

import "slices"

// claim is what a hypothesis says or asks.
type claim struct {
	question
	kind    string
	asking  bool     // it is a question, or tells to find something out
	wanted  []string // aspects that it asks for itself
	implied []string // aspects that its kind needs
	told    string   // it, as questions name it
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
		{"comparison", []string{What, HowMuch, When}},
		{"plan", []string{What, When, Who, HowMuch}},
		{"cause", []string{What, Why, When}},
		{"quantity", []string{HowMuch, What, When}},
		{"event", []string{What, When, Where, Who, Why}},
		{"property", []string{What, Why}},
	}
}

func (l *language) claim(text string) claim {
	c := claim{question: l.question(text)}
	first := at(c.list, 0).norm
	c.asking = len(c.list) > 0 && (l.classes["polar"].at(c.list, 0) > 0 && l.code == "en" || slices.Contains(c.asked, What) == false || l.is("asking", first) || l.is("leading", first)) ||
		len(text) > 0 && oneLine(text)[max(0, len(oneLine(text))-1):] == "?"
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
	c.told = shorten(text, mostNamed)
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
