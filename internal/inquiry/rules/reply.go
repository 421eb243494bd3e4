package rules

import (
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/learned"
)

// classes of replies.
const (
	dissolves = "dissolves" // one side is taken back, or both are explained
	stands    = "stands"
)

// replyEvidence tells what a reply does with two sides that were put to it.
func (l *language) replyEvidence(sides [2]string, x answer) []learned.Feature {
	var list []learned.Feature
	add := func(format string, args ...any) {
		list = append(list, learned.Feature{Name: fmt.Sprintf(format, args...), Value: 1})
	}
	held := [2]bool{l.holdsSide(sides[0], x), l.holdsSide(sides[1], x)}
	add("held %v %v", held[0], held[1])
	shares := [2]int{}
	var stems []string
	words, numbers := 0, 0
	for n, s := range x.sentences {
		stems = union(stems, s.stems)
		words += len(s.list)
		numbers += len(l.quantities(s.list)) + len(l.moments(s.list))
		if n < 6 {
			l.sentenceEvidence(s, n, add)
		}
	}
	for side := range sides {
		shares[side] = covered(l.content(l.tokens(sides[side])), stems)
	}
	add("shares %d %d", min(shares[0], 2), min(shares[1], 2))
	add("sentences %d", min(len(x.sentences), 4))
	add("length %d", min(words/5, 6))
	add("numbers %d held %v", min(numbers, 3), held[0] && held[1])
	add("asks %v", strings.Contains(x.text, "?"))
	return list
}

func (l *language) sentenceEvidence(s sentence, n int, add func(string, ...any)) {
	previous := "^"
	for i, t := range s.list {
		word := t.norm
		if t.isFigure() {
			word = "0"
		}
		if t.upper && i > 0 && t.word && l.code == "en" && word != "i" {
			word = "Name"
		}
		add("%s %s", l.code, word)
		add("%s %s %s", l.code, previous, word)
		if n == 0 && i < 3 {
			add("%s begins %d %s", l.code, i, word)
		}
		previous = word
	}
	for _, class := range []string{"corrects", "explains", "stands", "ignorance", "evasion", "hedge", "negation", "other time", "portion", "claimed", "ought", "earlier said", "concession", "only", "dodge"} {
		if l.has(class, s.list) {
			add("class %s", class)
			if n == 0 {
				add("class first %s", class)
			}
		}
	}
	if l.contrasted(s.marks) {
		add("contrasted")
	}
}

// holdsSide says whether a reply gives what one side gave.
func (l *language) holdsSide(said string, x answer) bool {
	if strings.Contains(strings.ToLower(oneLine(x.text)), strings.ToLower(said)) {
		return true
	}
	list := l.tokens(said)
	want, times := l.quantities(list), l.moments(list)
	for _, s := range x.sentences {
		if slices.ContainsFunc(l.quantities(s.list), func(q quantity) bool {
			return len(want) > 0 && q.low == want[0].low && (q.unit == want[0].unit || q.unit == "")
		}) ||
			slices.ContainsFunc(l.moments(s.list), func(m moment) bool { return len(times) > 0 && equalMoment(times[0])(m) }) {
			return true
		}
	}
	stems := l.content(list)
	if len(stems) == 0 {
		return false
	}
	n := 0
	for _, s := range x.sentences {
		n = max(n, covered(stems, s.stems))
	}
	return 2*n >= len(stems) && n >= min(2, len(stems))
}
