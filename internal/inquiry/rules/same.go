package rules

import (
	"slices"
	"strings"
)

// Same says whether two questions ask the same: the same aspects of the same, and no other words of meaning to speak of.
func Same(a, b string) bool {
	if strings.EqualFold(oneLine(a), oneLine(b)) {
		return true
	}
	l := languages()[Language(a+" "+b)]
	return same(l.question(a), l.question(b))
}

// alike is the share of the stems that the same question has in other words.
const alike = 0.75

func same(a, b question) bool {
	if a.polar != b.polar || !slices.Equal(a.asked, b.asked) || a.negated != b.negated {
		return false
	}
	if figures(a.text) != figures(b.text) {
		return false
	}
	n := shared(a.stems, b.stems)
	all := len(a.stems) + len(b.stems) - n
	return n > 0 && float64(n) >= alike*float64(all)
}

// figures are the numbers of a text, which make questions differ.
func figures(text string) string {
	var list []string
	for _, t := range tokens(text) {
		if t.isFigure() {
			list = append(list, t.norm)
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// shared counts the stems that two lists have in common.
func shared(a, b []string) int {
	n := 0
	for _, s := range a {
		if slices.Contains(b, s) {
			n++
		}
	}
	return n
}
