package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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
	length, numbers := 0, 0
	words := [2][]string{l.weighty(sides[0]), l.weighty(sides[1])}
	for n, s := range x.sentences {
		stems = union(stems, s.stems)
		length += len(s.list)
		numbers += len(l.quantities(s.list)) + len(l.moments(s.list))
		if n < 6 {
			l.sentenceEvidence(s, n, words, add)
		}
	}
	for side := range sides {
		shares[side] = covered(l.content(l.tokens(sides[side])), stems)
	}
	add("shares %d %d", min(shares[0], 2), min(shares[1], 2))
	add("sentences %d", min(len(x.sentences), 4))
	add("length %d", min(length/5, 6))
	add("numbers %d held %v", min(numbers, 3), held[0] && held[1])
	add("asks %v", strings.Contains(x.text, "?"))
	return list
}

// weighty are the words of a side that are more than grammar.
func (l *language) weighty(side string) (words []string) {
	for _, t := range l.tokens(side) {
		if t.word && !l.isFunction(t.norm) {
			words = append(words, t.norm)
		}
	}
	return words
}

// beginning is how many letters of a long word are seen by themselves, so that its forms have something in common.
const beginning = 5

// sentenceEvidence tells of a sentence by runs of up to three words, where a word of a side stands for that side.
func (l *language) sentenceEvidence(s sentence, n int, sides [2][]string, add func(string, ...any)) {
	before, previous := "", "^"
	for i, t := range s.list {
		word, side := t.norm, sideOf(t.norm, sides)
		switch {
		case side != "" && side == previous:
			continue
		case side != "":
			word = side
		case t.isFigure():
			word = "0"
		case t.upper && i > 0 && t.word && l.code == "en" && word != "i":
			word = "Name"
		case utf8.RuneCountInString(word) > beginning:
			add("%s begins with %s", l.code, string([]rune(word)[:beginning]))
		}
		add("%s %s", l.code, word)
		add("%s %s %s", l.code, previous, word)
		add("%s %s %s %s", l.code, before, previous, word)
		if n == 0 && i < 3 {
			add("%s begins %d %s", l.code, i, word)
		}
		before, previous = previous, word
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

// sideOf names the side that a word is of, or both; "" for none.
func sideOf(word string, sides [2][]string) string {
	first, second := slices.Contains(sides[0], word), slices.Contains(sides[1], word)
	switch {
	case first && second:
		return "Both"
	case first:
		return "First"
	case second:
		return "Second"
	}
	return ""
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
