package search

import (
	_ "embed"
	"slices"
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

// InEnglish gives the English for a word of programming in German or Portuguese, in lower case and without its accents:
// for each part of a compound the ways in which it is called. Nothing is given for a word that is not in the glossary.
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

// inflected finds a word as it stands, or with the ending of a verb or a plural in the place of its own, as a
// participle too: aufgeräumt is aufräumen.
func inflected(word string) []string {
	if english := ended(word); english != nil {
		return english
	}
	for at := 0; at+leastInCompound < len(word); at++ {
		rest, found := strings.CutPrefix(word[at:], "ge")
		if !found || at > 0 && !slices.Contains(separable, word[:at]) {
			continue
		}
		if english := ended(word[:at] + rest); english != nil {
			return english
		}
	}
	return nil
}

// cognates are endings of Latin words in German, and what English may have there.
var cognates = []struct {
	is      string
	english []string
}{
	{"ierungen", verbal}, {"ierung", verbal}, {"ierten", verbal}, {"ierte", verbal}, {"ieren", verbal},
	{"iert", verbal},
	{"ischen", []string{"ic"}}, {"ische", []string{"ic"}}, {"isch", []string{"ic"}}, {"taten", []string{"ty"}},
	{"tat", []string{"ty"}},
	{"iven", []string{"ive"}}, {"ive", []string{"ive"}}, {"iv", []string{"ive"}},
}

// verbal are the endings of verbs that are -ieren in German.
var verbal = []string{"", "e", "ate"}

// latin spells German words of Latin as English does.
var latin = strings.NewReplacer("ka", "ca", "ko", "co", "ku", "cu", "kl", "cl", "kr", "cr", "kt", "ct", "zi", "ci",
	"ze", "ce")

// Cognates gives how English may spell a word of German, in lower case and without its accents, if both have it of
// Latin: rekursiv is recursive, ignorieren is ignore. Nothing is given for what both spell alike.
func Cognates(word string) (english []string) {
	for _, c := range cognates {
		if stem, found := strings.CutSuffix(word, c.is); found && len(stem) >= leastInCompound {
			for _, ending := range c.english {
				english = append(english, latin.Replace(stem)+ending)
			}
			return english
		}
	}
	if spelt := latin.Replace(word); spelt != word {
		return []string{spelt}
	}
	return nil
}

// separable are what German verbs begin with, before the mark of the participle.
var separable = []string{
	"ab", "an", "auf", "aus", "bei", "durch", "ein", "fest", "her", "herunter", "hervor", "hin", "hinzu", "hoch", "los",
	"mit", "nach", "um", "unter", "vor", "weg", "weiter", "wieder",
	"zu", "zuruck", "zusammen", "zwischen",
}

// ended finds a word as it stands, or with another ending.
func ended(word string) []string {
	table := glossary()
	if english := table[word]; english != nil {
		return english
	}
	for _, ending := range []struct{ is, was string }{
		{"t", "en"}, {"et", "en"}, {"te", "en"}, {"e", "en"}, {"ns", "n"}, {"ado", "ar"}, {"ada", "ar"}, {"ados", "ar"},
		{"adas", "ar"}, {"a", "ar"}, {"am", "ar"},
		{"e", "er"}, {"ido", "er"}, {"ida", "er"}, {"idos", "er"}, {"oes", "ao"}, {"ais", "al"}, {"ens", "em"},
		{"es", ""}, {"s", ""},
	} {
		if stem, found := strings.CutSuffix(word, ending.is); found {
			if english := table[stem+ending.was]; english != nil {
				return english
			}
		}
	}
	return nil
}

// IsForeign says whether a text is in German or Portuguese rather than in English, by the words that hold its sentences
// together.
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

// IsLight says whether a word, in lower case and without its accents, is of a closed class: it says nothing about where
// to look, however rare it is.
func IsLight(word string) bool {
	return lists()["light-en"][word] || lists()["light-de"][word] || lists()["light-pt"][word]
}
