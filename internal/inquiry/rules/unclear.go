package rules

import (
	"fmt"
	"slices"
	"strings"
)

// unclear opens a gap for the first word of an answer that may stand for two persons, or for two things that were named side by side.
func (c *Case) unclear(x exchange, k int) {
	var persons, things []string
	for i := range x.answer.sentences {
		s := &x.answer.sentences[i]
		for j, t := range s.list {
			candidates, aspect := c.l.candidates(s.list, j, persons, things)
			if len(candidates) != 2 {
				continue
			}
			if x.question.asks(Who) {
				aspect = Who // things that are named there are persons
			}
			word, said := span(s.text, []token{t}), span(s.text, s.list)
			c.note(openGap{Gap: Gap{Category: Ambiguity, Severity: Medium, Aspect: aspect, Pair: k, Words: word,
				Description: fmt.Sprintf(c.l.say["gap unclear"], shorten(said, mostNamed), word, candidates[0], candidates[1])}, question: x.question, about: []int{k}, said: [2]string{said}})
			return
		}
		if found := c.l.persons(s.list); len(found) > 0 {
			persons = found
		}
		things = c.l.sideBySide(s.list)
	}
}

// readTwoWays opens a gap for a date whose day and month can be taken for each other.
func (c *Case) readTwoWays(x exchange, k int) {
	for i := range x.answer.sentences {
		s := &x.answer.sentences[i]
		for _, d := range c.l.dates(s.list) {
			words := span(s.text, s.list[d.from:d.to])
			if d.date.month > 0 || d.date.year == 0 || !strings.Contains(words, "/") {
				continue
			}
			said := span(s.text, s.list)
			c.note(openGap{Gap: Gap{Category: Ambiguity, Severity: Medium, Aspect: When, Pair: k, Words: words, Description: fmt.Sprintf(c.l.say["gap two ways"], words,
				shorten(said, mostNamed))}, question: x.question, about: []int{k}, said: [2]string{said}})
			return
		}
	}
}

// candidates are what a word may stand for: persons of the same sentence before it, else of the last one that names any; things of the last
// sentence alone.
func (l *language) candidates(list []token, i int, persons, things []string) (fit []string, aspect string) {
	if gender := l.pronoun(list, i); gender != "" {
		if own := l.persons(list[:i]); len(own) > 0 {
			persons = own
		}
		if fit = l.fitting(persons, gender); len(fit) == 2 {
			return fit, Who
		}
	}
	if i == 0 && l.isSingular(list) && len(things) == 2 && (len(persons) == 0 || l.pronoun(list, i) == "") {
		return things, What
	}
	return nil, ""
}

// isSingular says whether a sentence begins with a word for one thing.
func (l *language) isSingular(list []token) bool {
	return l.classes["it first"].at(list, 0) > 0
}

// sideBySide are two things that a sentence names as one part of it: “the pump and the valve”. Both are one thing each.
func (l *language) sideBySide(list []token) []string {
	for i := range list {
		if l.classes["joined"].at(list, i) != 1 {
			continue
		}
		left, right := l.thingBefore(list, i), l.thingAfter(list, i+1)
		if left != nil && right != nil && !l.isPerson(left) && !l.isPerson(right) {
			return []string{words(left), words(right)}
		}
	}
	return nil
}

func words(list []token) string {
	var all []string
	for _, t := range list {
		all = append(all, t.norm)
	}
	return strings.Join(all, " ")
}

// longestThing is how many words a thing has at most, without its article.
const longestThing = 3

func (l *language) thingBefore(list []token, end int) []token {
	for i := end - 1; i >= 0 && i >= end-longestThing-1 && list[i].word; i-- {
		if l.is("one thing", list[i].norm) && (l.code != "de" || list[end-1].upper) {
			return l.singular(list[i+1 : end])
		}
	}
	return nil
}

func (l *language) thingAfter(list []token, from int) []token {
	if !l.is("one thing", at(list, from).norm) {
		return nil
	}
	end := from + 1
	for end < len(list) && end <= from+longestThing && list[end].word && !l.isFunction(list[end].norm) && !l.is("state verbs", list[end].norm) && !l.isVerbLike(list[end]) {
		end++
		if l.code == "de" && list[end-1].upper {
			break
		}
	}
	return l.singular(list[from+1 : end])
}

// singular gives a thing that is one, or nothing. In German its article tells.
func (l *language) singular(list []token) []token {
	if len(list) == 0 || l.code == "en" && strings.HasSuffix(list[len(list)-1].norm, "s") && !strings.HasSuffix(list[len(list)-1].norm, "ss") {
		return nil
	}
	for _, t := range list {
		if l.isFunction(t.norm) {
			return nil
		}
	}
	return list
}

func (l *language) isPerson(list []token) bool {
	return slices.ContainsFunc(list, func(t token) bool { return l.is("role", t.norm) || l.isFirstName(t.norm) })
}

// pronoun gives the gender of a word that stands for one person: "male", "female" or "".
func (l *language) pronoun(list []token, i int) string {
	switch {
	case l.is("object form", list[i].norm) && !(i == 0):
		return "" // an object most often stands for what its own clause names
	case l.is("he", list[i].norm):
		return "male"
	case l.is("she", list[i].norm):
		return "female"
	}
	return ""
}

// persons are the persons that a text names or calls by their office, as it calls them. An office beside a name is the same person.
func (l *language) persons(list []token) []string {
	var found []string
	last, was := -9, "" // where the last one ended, and how it was named
	for i := 0; i < len(list); {
		n, titles := l.nameAt(list, i)
		kind := "name"
		switch {
		case n == 0 && l.isRoleAt(list, i):
			n, kind = 1, "role"
		case n > 0 && l.isOrigin(list, i, n):
			if i-last <= 2 {
				last = i + n // it belongs to who was named before it
			}
			i += n
			continue
		case n > 0 && titles == 0 && l.code == "en" && i > 0 && l.is("one thing", list[i-1].norm):
			kind = "role" // “the CFO, Lorraine Tibbs”
		}
		if n == 0 {
			i++
			continue
		}
		said := words(list[i : i+n])
		apposed := kind == "name" && was == "role" && at(list, i-1).word && l.is("one thing", list[i-1].norm) && !at(list, i-2).word
		switch {
		case i-last <= 2 && kind != was || apposed && len(found) > 0:
			found[len(found)-1] += ", " + said
		case !slices.ContainsFunc(found, func(o string) bool { return sameName(o, said) }):
			found = append(found, said)
		}
		last, was = i+n, kind
		i += n
	}
	return found
}

// isOrigin says whether a name is that of a place: “a genealogist from Dayton”.
func (l *language) isOrigin(list []token, i, n int) bool {
	return n == 1 && i > 0 && !l.isFirstName(list[i].norm) && (l.classes["place"].at(list, i-1) == 1 || list[i-1].norm == "of")
}

// isRoleAt says whether a word calls a person by what he or she does: a known office behind an article, or by its ending the subject of a sentence
// and who stands beside it.
func (l *language) isRoleAt(list []token, i int) bool {
	article := i > 0 && l.is("one thing", list[i-1].norm)
	switch {
	case article && l.is("role", list[i].norm):
		return true
	case !l.isDoer(list[i]):
		return false
	case article:
		return i <= 2 || l.is("beside", at(list, i-2).norm)
	}
	return i > 1 && list[i-1].word && !l.isFunction(list[i-1].norm) && l.is("one thing", list[i-2].norm) && l.is("beside", at(list, i-3).norm)
}

// isDoer says whether a word has the ending of one who does something.
func (l *language) isDoer(t token) bool {
	if !t.word || len(t.norm) < 5 || l.code == "de" && !t.upper {
		return false
	}
	ends := []string{"er", "or", "ist", "man", "ian"}
	if l.code == "de" {
		ends = []string{"iker", "ikers", "ekt", "ekten", "arzt", "ent", "enten", "eur", "ist", "isten", "mann"}
	}
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(t.norm, end) })
}

// fitting leaves the persons that may be of a gender.
func (l *language) fitting(persons []string, gender string) []string {
	var fit []string
	for _, p := range persons {
		male, female := false, false
		for w := range strings.FieldsFuncSeq(p, func(r rune) bool { return r == ' ' || r == ',' }) {
			male = male || l.is("male name", w) || l.is("male title", w) || l.is("male role", w)
			female = female || l.is("female name", w) || l.is("female title", w) || l.is("female role", w) || l.code == "de" && strings.HasSuffix(w, "in") && l.is("role", w)
			male = male || l.code == "de" && l.is("role", w) && !strings.HasSuffix(w, "in") && !l.is("female role", w)
		}
		if gender == "male" && female && !male || gender == "female" && male && !female {
			continue
		}
		fit = append(fit, p)
	}
	return fit
}
