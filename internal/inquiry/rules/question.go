package rules

import (
	"slices"
	"strings"
)

// question is what a question asks.
type question struct {
	text    string
	list    []token // without what it quotes
	stems   []string
	names   []string
	when    anchors
	marks   []mark
	asked   []string // aspects, in their order
	polar   bool     // yes or no
	negated bool
	once    bool
	counted []string // stems of what “how many” counts
	own     []string // stems outside of quotation marks
}

var aspects = [...]string{HowMuch, When, Where, Who, Why, How, What}

// question reads one.
func (l *language) question(text string) question {
	all := l.tokens(text)
	list := withoutQuotes(all)
	q := question{text: text, list: list, when: l.anchors(list), marks: l.told(list), once: l.has("once", list)}
	q.stems, q.own = l.content(all), l.content(list)
	q.names = l.names(all)
	q.negated = l.negations(list)%2 == 1
	start := true
	for i := 0; i < len(list); i++ {
		t := list[i]
		if !t.word {
			start = true
			continue
		}
		if !start && i > 0 && l.classes["before asking"].at(list, i-1) == 0 {
			continue
		}
		if start && l.classes["polar"].at(list, i) > 0 && len(q.asked) == 0 {
			q.polar = true
		}
		aspect, n := l.asking(list, i)
		if n == 0 || n == 1 && aspect == When && i > 1 && l.is("place", list[i-1].norm) && list[i-2].word && !l.is("joined", list[i-2].norm) { // “was it on when he came?”
			start = start && l.classes["before asking"].at(list, i) > 0
			continue
		}
		start = false
		if aspect == What && l.measures(list[i+n:]) {
			aspect = HowMuch
		}
		if !slices.Contains(q.asked, aspect) {
			q.asked = append(q.asked, aspect)
		}
		if aspect == HowMuch && q.counted == nil && (list[i].norm == "how" || list[i].norm == "wie") {
			q.counted = l.countedBy(list[i+n:])
		}
		i += n - 1
	}
	if len(q.asked) == 0 {
		q.asked = []string{What}
		q.polar = q.polar || strings.HasSuffix(oneLine(text), "?")
	} else {
		q.polar = false
	}
	return q
}

// asking gives the aspect that words ask for, the longest phrase first.
func (l *language) asking(list []token, i int) (aspect string, length int) {
	for _, a := range aspects {
		if n := l.classes["ask "+a].at(list, i); n > length {
			aspect, length = a, n
		}
	}
	how, verb := at(list, i+1).norm, at(list, i+2).norm
	if aspect == How && length == 1 && l.is("polar", verb) && !l.is("polar", how) && !l.is("before asking", how) {
		return HowMuch, 2 // “how warm was it”
	}
	return aspect, length
}

// measures says whether a question after “what” is about something that has a measure: “what did it cost”.
func (l *language) measures(rest []token) bool {
	for i, t := range rest {
		if !t.word {
			return false
		}
		if l.is("measured", t.norm) {
			// “what increased the cost” asks for no figure.
			return i <= 2 || l.classes["polar"].at(rest, 0) > 0 || i+1 >= len(rest)
		}
	}
	return false
}

// countedBy gives the stems of what follows “how many”, up to the verb.
func (l *language) countedBy(rest []token) []string {
	var stems []string
	for i, t := range rest {
		if !t.word || len(stems) == 2 || i > 3 || l.isFunction(t.norm) {
			break
		}
		stems = append(stems, l.stemOf(t))
	}
	return stems
}

// closing marks of what a quotation mark opens.
var closing = map[string]string{"„": "“”\"", "“": "”\"", "\"": "\"", "«": "»", "»": "«"}

// withoutQuotes leaves out what stands in quotation marks, however deep.
func withoutQuotes(list []token) []token {
	var out []token
	var quotes []string // by what each that is open is closed
	for i, t := range list {
		depth := len(quotes)
		switch opened, opens := closing[t.norm]; {
		case depth > 0 && !t.word && strings.Contains(quotes[depth-1], t.norm):
			quotes = quotes[:depth-1]
		case opens && (t.norm != "\"" || i+1 < len(list)):
			quotes = append(quotes, opened)
		case depth == 0:
			out = append(out, t)
		}
	}
	return out
}

// asks says whether a question asks for an aspect.
func (q question) asks(aspect string) bool { return slices.Contains(q.asked, aspect) }

// kindOf is an aspect as answers to a question are judged: where yes or no is asked for, What is “whether”.
func (q question) kindOf(aspect string) string {
	if aspect == What && q.polar {
		return whether
	}
	return aspect
}
