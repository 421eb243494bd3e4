package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentence is a sentence of an answer, with what its words tell.
type sentence struct {
	text     string  // the whole answer
	list     []token // without the sign at its end
	clauses  [][]token
	stems    []string
	names    []string // proper names, in lower case, a whole name each
	when     anchors
	marks    []mark
	asked    bool // it ends in a question mark
	hedged   bool
	reported bool // it quotes an error, or says that something is none
	unreal   bool // it says what would be
}

// longest is how many tokens of a sentence are read together: a text with no full stop is read in parts.
const longest = 80

// sentences takes an answer apart.
func (l *language) sentences(text string) []sentence {
	list := l.tokens(text)
	var out []sentence
	start := 0
	add := func(end int) {
		part := list[start:end]
		start = end
		asked := false
		for len(part) > 0 && !part[len(part)-1].word && !isUnitSign(part[len(part)-1].norm) {
			asked = asked || part[len(part)-1].norm == "?"
			part = part[:len(part)-1]
		}
		for len(part) > 0 && !part[0].word && !isUnitSign(part[0].norm) {
			part = part[1:]
		}
		if len(part) > 0 {
			out = append(out, l.sentence(text, part, asked))
		}
	}
	for i := range list {
		if l.ends(text, list, i) || i-start >= longest {
			add(i + 1)
		}
	}
	add(len(list))
	l.refute(out)
	return out
}

func isUnitSign(s string) bool { return strings.Contains("€$£%°~≈<>", s) }

// ends says whether a sentence ends with token i.
func (l *language) ends(text string, list []token, i int) bool {
	t := list[i]
	if t.word || i+1 >= len(list) {
		return false
	}
	next := list[i+1]
	switch t.norm {
	case "!", "?", ";", "•":
		return true
	case "\n":
		return next.norm == "\n" || !startsLower(text, next) || next.norm == "-"
	case ".", "…":
		if next.from == t.to || i == 0 {
			return false
		}
		before := list[i-1]
		switch {
		case !before.word:
			return true
		case l.is("abbreviation", before.norm), utf8.RuneCountInString(before.norm) == 1 && !before.isFigure() && before.upper:
			return false
		case before.isFigure() && len(before.norm) <= 2 && l.code == "de":
			return next.word && !l.isDated(list, i+1) && l.startsSentence(next)
		}
		return !startsLower(text, next)
	}
	return false
}

// isDated says whether a month follows, so that a full stop belongs to the day.
func (l *language) isDated(list []token, i int) bool {
	return i < len(list) && (l.months[list[i].norm] > 0 || list[i].isFigure())
}

// startsSentence says whether a word in German begins a sentence by its kind: a noun may also follow an ordinal number.
func (l *language) startsSentence(t token) bool { return t.upper && l.isFunction(t.norm) }

func startsLower(text string, t token) bool {
	r, _ := utf8.DecodeRuneInString(text[t.from:])
	return unicode.IsLower(r)
}

func (l *language) sentence(text string, list []token, asked bool) sentence {
	s := sentence{text: text, list: list, asked: asked, stems: l.content(list), marks: l.told(list)}
	s.clauses = l.clauses(list)
	s.names = l.names(list)
	s.when = l.anchors(list)
	s.hedged = l.hedge(list) != nil
	s.reported = l.has("reported wrong", list)
	s.unreal = l.isUnreal(list)
	return s
}

// isUnreal says whether a sentence states a condition. A “should” or “could” that another clause holds is one too, for the rules rather miss.
func (l *language) isUnreal(list []token) bool { return l.has("unreal", list) }

// refute marks sentences that the next one calls wrong: “The report says 40. That is wrong.”
func (l *language) refute(all []sentence) {
	for i := 1; i < len(all); i++ {
		if all[i].reported && l.classes["pronoun start"].at(all[i].list, 0) > 0 {
			all[i-1].reported = true
		}
	}
}

// clauses takes a sentence apart at its inner signs and conjunctions.
func (l *language) clauses(list []token) [][]token {
	var out [][]token
	start := 0
	cut := func(end, next int) {
		if end > start {
			out = append(out, list[start:end])
		}
		start = next
	}
	for i := range list {
		switch {
		case strings.Contains(",;:()–—", list[i].norm) && !list[i].word:
			cut(i, i+1)
		case i > start && l.classes["clause"].at(list, i) > 0:
			cut(i, i)
		}
	}
	cut(len(list), len(list))
	return out
}

// hedge finds the words that make a statement uncertain, or nothing.
func (l *language) hedge(list []token) []token {
	for i := 0; i < len(list); i++ {
		if n := l.classes["no hedge"].at(list, i); n > 0 {
			i += n - 1
			continue
		}
		if n := l.classes["hedge"].at(list, i); n > 0 {
			if l.code == "en" && list[i].upper && l.months[list[i].norm] > 0 {
				continue // May is a month
			}
			return list[i : i+n]
		}
	}
	return nil
}

// asserts says whether a sentence states something as a fact.
func (s sentence) asserts() bool { return !s.asked && !s.reported && !s.unreal }
