package digest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/search"
)

// token is a word, a number or a sign of a text.
type token struct {
	from, to int    // bytes
	norm     string // in lower case and without accents; the sign itself, and "\n" for the end of a line
	word     bool
}

const (
	lineEnd      = "\n"
	paragraphEnd = "\n\n"
)

// tokens takes a text apart. White space is left out, but for the ends of lines.
func tokens(text string) []token {
	list := make([]token, 0, len(text)/5)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n':
			list = appendLineEnd(list, i)
			i++
		case inWord(r):
			end := wordEnd(text, i)
			if norm := fold(text[i:end]); norm != "" {
				list = append(list, token{i, end, norm, true})
			}
			i = end
		case unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError && size == 1 || unicode.Is(unicode.Cf, r):
			i += size
		default:
			list = append(list, token{i, i + size, text[i : i+size], false})
			i += size
		}
	}
	return list
}

func appendLineEnd(list []token, at int) []token {
	if n := len(list); n > 0 && !list[n-1].word && strings.HasPrefix(list[n-1].norm, lineEnd) {
		list[n-1].norm = paragraphEnd
		return list
	}
	return append(list, token{at, at + 1, lineEnd, false})
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// wordEnd finds the end of a word: an apostrophe between letters and the signs within a number belong to it.
func wordEnd(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !inWord(r) {
			break
		}
		at += size
		if at+1 >= len(text) {
			continue
		}
		sign, width := utf8.DecodeRuneInString(text[at:])
		next, _ := utf8.DecodeRuneInString(text[at+width:])
		if (sign == '\'' || sign == '’') && unicode.IsLetter(r) && unicode.IsLetter(next) ||
			strings.ContainsRune(".,:/", sign) && isDigit(r) && isDigit(next) {
			at += width
		}
	}
	return at
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// fold gives a word as it is compared.
func fold(word string) string {
	if strings.ContainsAny(word, "’'.,:/") {
		return strings.ToLower(strings.ReplaceAll(word, "’", "'"))
	}
	folded := ""
	search.EachWord(word, func(w []byte) { folded += string(w) })
	return strings.ReplaceAll(folded, "ß", "ss")
}

// phrases are words and groups of words, by their first word. In a group a word may be one of several (“the/a”), or an open one (“*est”, “premiss*”).
type phrases struct {
	byFirst map[string][]phrase
	open    []phrase // whose first word is open
}

type phrase [][]string

// parsePhrases reads a list that commas part.
func parsePhrases(list string) phrases {
	p := phrases{byFirst: map[string][]phrase{}}
	for item := range strings.SplitSeq(list, ",") {
		var ph phrase
		for w := range strings.FieldsSeq(item) {
			var other []string
			for a := range strings.SplitSeq(w, "/") {
				before, starred := strings.CutPrefix(a, "*")
				before, ends := strings.CutSuffix(before, "*")
				if folded := fold(before); folded != "" {
					before = folded // a sign has no other form
				}
				if starred {
					before = "*" + before
				}
				if ends {
					before += "*"
				}
				other = append(other, before)
			}
			ph = append(ph, other)
		}
		if len(ph) == 0 {
			continue
		}
		wild := false
		for _, w := range ph[0] {
			wild = wild || strings.Contains(w, "*")
		}
		if wild {
			p.open = append(p.open, ph)
			continue
		}
		for _, w := range ph[0] {
			p.byFirst[w] = append(p.byFirst[w], ph)
		}
	}
	return p
}

// at is how many tokens the longest phrase that begins at i has; 0 if none begins there.
func (p phrases) at(list []token, i int) int {
	if i < 0 || i >= len(list) || !list[i].word && len(p.byFirst[list[i].norm]) == 0 {
		return 0
	}
	longest := 0
	for _, ph := range p.byFirst[list[i].norm] {
		if len(ph) > longest && ph.isAt(list, i) {
			longest = len(ph)
		}
	}
	for _, ph := range p.open {
		if len(ph) > longest && ph.isAt(list, i) {
			longest = len(ph)
		}
	}
	return longest
}

// in finds the first phrase in a list: where it begins and how long it is, or a length of 0.
func (p phrases) in(list []token) (at, length int) {
	for i := range list {
		if n := p.at(list, i); n > 0 {
			return i, n
		}
	}
	return 0, 0
}

// has says whether a phrase stands in a list.
func (p phrases) has(list []token) bool {
	_, n := p.in(list)
	return n > 0
}

func (ph phrase) isAt(list []token, i int) bool {
	if i+len(ph) > len(list) {
		return false
	}
	for j, other := range ph {
		if !isOneOf(list[i+j].norm, other) {
			return false
		}
	}
	return true
}

func isOneOf(word string, other []string) bool {
	for _, o := range other {
		begins, opensEnd := strings.CutSuffix(o, "*")
		ends, opensStart := strings.CutPrefix(begins, "*")
		switch {
		case opensStart && strings.HasSuffix(word, ends) && len(word) > len(ends), opensEnd && !opensStart && strings.HasPrefix(word, begins), word == o:
			return true
		}
	}
	return false
}

// connects is how many tokens a connective of a list has that begins at i. The Portuguese “é” is no “e”.
func (l *language) connects(name string, list []token, i int) int {
	if i < len(list) && list[i].norm == "e" && list[i].to-list[i].from > 1 {
		return 0
	}
	return l.words[name].at(list, i)
}
