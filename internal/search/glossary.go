package search

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed glossary.txt
var glossaryText string

var glossary = sync.OnceValue(func() map[string][]string {
	table := map[string][]string{}
	for line := range strings.Lines(glossaryText) {
		if words := strings.Fields(line); len(words) > 1 && words[0] != "#" {
			table[words[0]] = words[1:]
		}
	}
	return table
})

const (
	longestInflection = 3 // bytes that an ending may have
	leastInCompound   = 4 // bytes of a part of a German compound
)

// InEnglish gives the English for a word of programming in German or Portuguese, in lower case and without its accents: for each part of a compound
// the ways in which it is called. Nothing is given for a word that is not in the glossary.
func InEnglish(word string) [][]string {
	for end := len(word); end >= leastInCompound || end == len(word); end-- {
		english := inflected(word[:end])
		if english == nil {
			continue
		}
		rest := word[end:]
		if len(rest) <= longestInflection {
			return [][]string{english}
		}
		for _, joint := range []string{"", "s", "n", "en", "er"} {
			if more, found := strings.CutPrefix(rest, joint); found {
				if others := InEnglish(more); others != nil {
					return append([][]string{english}, others...)
				}
			}
		}
	}
	return nil
}

// inflected finds a word as it stands, or with the ending of a verb or a plural in the place of its own.
func inflected(word string) []string {
	table := glossary()
	if english := table[word]; english != nil {
		return english
	}
	for _, ending := range []struct{ is, was string }{
		{"t", "en"}, {"et", "en"}, {"te", "en"}, {"e", "en"}, {"ns", "n"}, {"ado", "ar"}, {"ada", "ar"}, {"ados", "ar"}, {"adas", "ar"}, {"a", "ar"}, {"am", "ar"},
		{"e", "er"}, {"ido", "er"}, {"ida", "er"}, {"idos", "er"}, {"oes", "ao"}, {"ais", "al"}, {"ens", "em"}, {"es", ""}, {"s", ""},
	} {
		if stem, found := strings.CutSuffix(word, ending.is); found {
			if english := table[stem+ending.was]; english != nil {
				return english
			}
		}
	}
	return nil
}

// IsForeign says whether a text is in German or Portuguese rather than in English, by the words that hold its sentences together.
func IsForeign(text string) bool {
	lists, english, other := lists(), 0, 0
	for _, w := range Words(text) {
		in := lists["en"][w] || lists["light-en"][w]
		out := lists["de"][w] || lists["pt"][w] || lists["light-de"][w] || lists["light-pt"][w]
		switch {
		case in && !out:
			english++
		case out && !in:
			other++
		}
	}
	return other > english
}

// IsLight says whether a word, in lower case and without its accents, is of a closed class: it says nothing about where to look, however rare it is.
func IsLight(word string) bool {
	return lists()["light-en"][word] || lists()["light-de"][word] || lists()["light-pt"][word]
}
