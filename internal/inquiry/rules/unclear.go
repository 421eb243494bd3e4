package rules

import (
	"fmt"
	"slices"
	"strings"
)

// unclear opens a gap for the first word of an answer that may stand for two persons.
func (c *Case) unclear(x exchange, k int) {
	var before []string
	for i := range x.answer.sentences {
		s := &x.answer.sentences[i]
		for j, t := range s.list {
			gender := c.l.pronoun(s.list, j)
			if gender == "" {
				continue
			}
			candidates := c.l.persons(s.list[:j])
			if len(candidates) == 0 {
				candidates = before
			}
			fit := c.l.fitting(candidates, gender)
			if len(fit) != 2 {
				continue
			}
			word, said := span(s.text, []token{t}), span(s.text, s.list)
			c.note(openGap{Gap: Gap{Category: Ambiguity, Severity: Medium, Aspect: Who, Pair: k, Words: word,
				Description: fmt.Sprintf(c.l.say["gap unclear"], shorten(said, mostNamed), word, fit[0], fit[1])}, question: x.question, about: []int{k}, said: [2]string{said}})
			return
		}
		if found := c.l.persons(s.list); len(found) > 0 {
			before = found
		}
	}
}

// pronoun gives the gender of a word that stands for one person: "male", "female" or "".
func (l *language) pronoun(list []token, i int) string {
	switch {
	case l.is("he", list[i].norm):
		return "male"
	case l.is("she", list[i].norm):
		return "female"
	}
	return ""
}

// persons are the persons that a text names, as it names them.
func (l *language) persons(list []token) []string {
	var found []string
	for i := 0; i < len(list); {
		n, _ := l.nameAt(list, i)
		if n == 0 {
			i++
			continue
		}
		var words []string
		for _, t := range list[i : i+n] {
			words = append(words, t.norm)
		}
		found = append(found, strings.Join(words, " "))
		i += n
	}
	return slices.Compact(found)
}

// fitting leaves the persons that may be of a gender.
func (l *language) fitting(persons []string, gender string) []string {
	var fit []string
	for _, p := range persons {
		first, _, _ := strings.Cut(p, " ")
		male, female := l.is("male name", first) || l.is("male title", first), l.is("female name", first) || l.is("female title", first)
		if gender == "male" && female && !male || gender == "female" && male && !female {
			continue
		}
		fit = append(fit, p)
	}
	return fit
}
