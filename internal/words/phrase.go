package words

import (
	"slices"
	"strings"
)

// Phrases are words and groups of words, by their first word. In a group a word may be one of several (“the/a”), or an open one (“*est”, “premiss*”).
type Phrases struct {
	byFirst map[string][]phrase
	open    []phrase // whose first word is open
}

type phrase [][]string

// ParsePhrases reads a list that commas part. Words are folded as those of the tokens are that they will be looked for in.
func ParsePhrases(list string, fold func(string) string) Phrases {
	p := Phrases{byFirst: map[string][]phrase{}}
	for item := range strings.SplitSeq(list, ",") {
		var ph phrase
		for w := range strings.FieldsSeq(item) {
			ph = append(ph, alternatives(w, fold))
		}
		switch {
		case len(ph) == 0:
		case slices.ContainsFunc(ph[0], func(w string) bool { return strings.Contains(w, "*") }):
			p.open = append(p.open, ph)
		default:
			for _, w := range ph[0] {
				p.byFirst[w] = append(p.byFirst[w], ph)
			}
		}
	}
	return p
}

// alternatives are the words that may stand in one place.
func alternatives(word string, fold func(string) string) (all []string) {
	if word == "/" {
		return []string{word}
	}
	for a := range strings.SplitSeq(word, "/") {
		core, starts := strings.CutPrefix(a, "*")
		core, ends := strings.CutSuffix(core, "*")
		if folded := fold(core); folded != "" {
			core = folded // a sign has no other form
		}
		if starts {
			core = "*" + core
		}
		if ends {
			core += "*"
		}
		all = append(all, core)
	}
	return all
}

// At is how many tokens the longest phrase that begins at i has; 0 if none begins there.
func (p Phrases) At(list []Token, i int) (longest int) {
	if i < 0 || i >= len(list) {
		return 0
	}
	try := func(all []phrase) {
		for _, ph := range all {
			if len(ph) > longest && ph.isAt(list, i) {
				longest = len(ph)
			}
		}
	}
	if try(p.byFirst[list[i].Norm]); list[i].Word {
		try(p.open)
	}
	return longest
}

// Is says whether a word by itself, folded, is one of them.
func (p Phrases) Is(word string) bool { return p.At([]Token{{Norm: word, Word: true}}, 0) > 0 }

// In finds the first phrase in a list: where it begins and how long it is, or a length of 0.
func (p Phrases) In(list []Token) (at, length int) {
	for i := range list {
		if n := p.At(list, i); n > 0 {
			return i, n
		}
	}
	return 0, 0
}

// Has says whether a phrase stands in a list.
func (p Phrases) Has(list []Token) bool {
	_, n := p.In(list)
	return n > 0
}

func (ph phrase) isAt(list []Token, i int) bool {
	if i+len(ph) > len(list) {
		return false
	}
	for j, other := range ph {
		if !isOneOf(list[i+j].Norm, other) {
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
