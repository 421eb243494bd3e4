package rules

import (
	"slices"
	"strings"
)

// gives says whether a sentence holds something of the kind that a question asks for. It is lenient: what it does not know is taken for an answer.
func (l *language) gives(q question, aspect string, s sentence) bool {
	if s.asked {
		return false
	}
	if l.deniesAsked(q, s) {
		return true
	}
	switch aspect {
	case When:
		return l.givesTime(q, s)
	case HowMuch:
		return l.givesAmount(q, s)
	case Who:
		return l.givesPerson(q, s)
	case Where:
		return l.givesPlace(q, s)
	case Why:
		return l.givesCause(q, s)
	case How:
		return l.givesManner(q, s)
	}
	return l.givesThing(q, s)
}

// deniesAsked says whether a sentence denies what a question takes for granted, which leaves nothing to tell: “it was not tested at all”.
func (l *language) deniesAsked(q question, s sentence) bool {
	return !q.negated && l.negations(s.list)%2 == 1 && !l.has("first person", s.list) && len(q.stems) >= fewest && shared(q.stems, s.stems) >= len(q.stems)
}

// fresh counts the stems of a sentence that its question does not hold, without those of a class.
func (l *language) fresh(q question, s sentence, without string) int {
	n := 0
	skip := 0
	for i, t := range s.list {
		if w := l.classes[without].at(s.list, i); w > skip {
			skip = w
		}
		if skip > 0 {
			skip--
			continue
		}
		if !t.word || t.isFigure() || l.isFunction(t.norm) || l.isNumberWord(t.norm) || l.months[t.norm] > 0 && t.upper {
			continue
		}
		if !slices.Contains(q.stems, l.stemOf(t)) && !l.is("hedge", t.norm) {
			n++
		}
	}
	return n
}

// courseApart says whether a sentence is about another step of what a question asks about: its building, not its closing.
func (l *language) courseApart(q question, s sentence) bool {
	for n, c := range l.contrasts {
		if c.name == "course" && apartSets(c.groups(q.marks, n), c.groups(s.marks, n)) {
			return true
		}
	}
	return false
}

func (l *language) givesTime(q question, s sentence) bool {
	if len(l.dates(s.list)) > 0 || len(s.when.others) > 0 || l.has("hour", s.list) {
		return !l.courseApart(q, s)
	}
	if l.vague(When, s) != nil {
		return false
	}
	return l.has("relative time", s.list) && !l.courseApart(q, s)
}

func (l *language) givesAmount(q question, s sentence) bool {
	money := l.has("asks money", q.list)
	for _, found := range l.quantities(s.list) {
		if found.negated {
			continue
		}
		isMoney := strings.HasPrefix(found.unit, "money")
		switch {
		case money && !isMoney && found.unit != "" && found.unit != "percent":
		case len(q.counted) > 0 && !money && isMoney:
		default:
			return true
		}
	}
	if l.vague(HowMuch, s) != nil {
		return false
	}
	if l.has("asks duration", q.list) && len(l.dates(s.list)) > 0 {
		return true
	}
	if l.has("asks often", q.list) && l.has("relative time", s.list) {
		return true
	}
	for i := range s.list {
		if l.classes["amount"].at(s.list, i) > 0 && (i == 0 || len(s.list) <= 4 || !l.is("article", s.list[i].norm)) {
			return true
		}
	}
	for _, t := range s.list { // a number that measures nothing is one all the same
		if v, n, _ := l.number([]token{t}, 0); n > 0 && v != 1 && !isYear(t.norm) {
			return !money || len(s.list) <= 4
		}
	}
	return false
}

func (l *language) givesPerson(q question, s sentence) bool {
	for _, n := range s.names {
		if !slices.ContainsFunc(q.names, func(o string) bool { return sameName(n, o) }) {
			return true
		}
	}
	if l.vague(Who, s) != nil {
		return false
	}
	for i, t := range s.list {
		if !t.word {
			continue
		}
		switch {
		case l.is("first person", t.norm) && (i < 3 || l.is("by", at(s.list, i-1).norm)):
			return true
		case slices.Contains(q.stems, l.stemOf(t)) || l.isFunction(t.norm):
		case l.is("organisation", t.norm) || l.is("role", t.norm), l.isAgent(t), t.upper && i > 0 && l.code == "en" && !l.isNumberLike(t) && !l.is("weekday", t.norm):
			return true
		case (l.is("by", at(s.list, i-1).norm) || l.is("by", at(s.list, i-2).norm) && at(s.list, i-1).word) && !l.isNumberLike(t):
			return true
		}
	}
	first := at(s.list, 0)
	if l.is("article", first.norm) && !l.is("pronoun start", first.norm) || l.code == "de" && l.is("article", first.norm) && at(s.list, 1).upper {
		if at(s.list, 1).word && !slices.Contains(q.stems, l.stemOf(s.list[1])) && !l.isFunction(s.list[1].norm) {
			return true // “the verger was showing it”
		}
	}
	return !l.has("passive", s.list) && l.fresh(q, s, "vague person") > 0 && l.classes["pronoun start"].at(s.list, 0) == 0
}

// isAgent says whether a word has the ending of those who do something.
func (l *language) isAgent(t token) bool {
	if len(t.norm) < 6 || l.code == "de" && !t.upper {
		return false
	}
	ends := []string{"ers", "ors", "ists", "ians", "ants", "ees", "men", "women", "ist", "ian", "children"}
	if l.code == "de" {
		ends = []string{"innen", "leute", "kinder", "männer", "maenner", "isten"}
	}
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(t.norm, end) })
}

func (l *language) isNumberLike(t token) bool {
	return t.isFigure() || l.isNumberWord(t.norm) || l.months[t.norm] > 0
}

// isVerbLike says whether a word may be the verb behind a subject.
func (l *language) isVerbLike(t token) bool {
	return t.word && !t.upper && (strings.HasSuffix(t.norm, "ed") || l.irregular[t.norm] != "" || l.is("state verbs", t.norm))
}

func (l *language) givesPlace(q question, s sentence) bool {
	for i := range s.list {
		if l.classes["place"].at(s.list, i) == 0 {
			continue
		}
		for j := i + 1; j < len(s.list) && j <= i+5 && s.list[j].word; j++ {
			t := s.list[j]
			if l.isNumberLike(t) || l.isUnit(t.norm) || l.is("weekday", t.norm) || l.is("season", t.norm) || l.is("day part", t.norm) {
				break
			}
			if l.isFunction(t.norm) || slices.Contains(q.stems, l.stemOf(t)) {
				continue
			}
			if l.code == "de" && !t.upper {
				continue
			}
			if l.vague(Where, s) == nil {
				return true
			}
		}
	}
	if l.vague(Where, s) != nil {
		return false
	}
	for _, n := range s.names {
		if !slices.Contains(q.names, n) {
			return true
		}
	}
	return len(s.list) <= 4 && l.fresh(q, s, "vague place") > 0
}

func (l *language) givesCause(q question, s sentence) bool {
	bare := l.fresh(q, s, "vague cause")
	if l.vague(Why, s) != nil && bare < 3 {
		return false
	}
	if l.has("cause firm", s.list) && bare > 0 {
		return true
	}
	if l.has("cause", s.list) && bare >= 2 {
		return true
	}
	return (bare >= 3 || bare >= fewest && l.negations(s.list) == 0 || bare > 0 && len(s.list) <= 3) && len(l.dates(s.list)) == 0 && !l.courseApart(q, s)
}

func (l *language) givesManner(q question, s sentence) bool {
	bare := l.fresh(q, s, "vague manner")
	if l.vague(How, s) != nil && bare < 3 {
		return false
	}
	return (l.has("manner", s.list) || l.has("asks state", q.list)) && bare > 0 || bare >= 2 || len(l.quantities(s.list)) > 0 || len(s.names) > 0
}

func (l *language) givesThing(q question, s sentence) bool {
	if q.polar {
		return l.classes["yes"].at(s.list, 0) > 0 || l.classes["no"].at(s.list, 0) > 0 || covered(q.stems, s.stems) > 0 || len(s.stems) >= fewest || len(l.quantities(s.list)) > 0 || l.has("echo", s.list)
	}
	bare := l.fresh(q, s, "vague thing")
	if l.vague(What, s) != nil && bare < 3 {
		return false
	}
	return bare > 0 || len(l.quantities(s.list)) > 0 || len(s.names) > 0 || len(l.dates(s.list)) > 0
}

// plainly says whether a sentence gives an aspect that nobody has asked for: it is strict.
func (l *language) plainly(s sentence, aspect string) bool {
	switch aspect {
	case When:
		return len(s.when.years) > 0 || len(s.when.days) > 0
	case HowMuch:
		return slices.ContainsFunc(l.quantities(s.list), func(q quantity) bool { return q.unit != "" && !q.about || len(q.counts) > 0 && !q.about })
	case Who:
		return len(s.names) > 0 && l.has("by", s.list) || slices.ContainsFunc(s.list, func(t token) bool { return l.is("sole role", t.norm) }) && len(s.names) > 0
	case Where:
		for i := range s.list {
			if l.classes["place"].at(s.list, i) > 0 && at(s.list, i+1).upper && !l.isNumberLike(at(s.list, i+1)) && l.code == "en" {
				return true
			}
		}
		return false
	case Why:
		return l.has("cause firm", s.list)
	case How:
		return l.has("manner firm", s.list)
	}
	return len(s.stems) >= 3
}

// saysNothing says whether a sentence is about what the documents do not hold.
func (l *language) saysNothing(s sentence) []token {
	if at, n := l.classes["not found"].in(s.list); n > 0 {
		return s.list[at : at+n]
	}
	if l.negations(s.list) > 0 && l.has("documents", s.list) && l.has("saying", s.list) {
		return s.list
	}
	return nil
}
