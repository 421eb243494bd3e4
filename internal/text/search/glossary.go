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

// InEnglish translates a German or Portuguese word of programming, given in lower case and without accents: for each
// part of a compound it gives the possible translations. It returns nil for a word that is not in the glossary.
func InEnglish(word string) [][]string {
	for end := len(word); end >= leastInCompound || end == len(word); end-- {
		english := lookUpInflected(word[:end])
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

// lookUpInflected looks a word up as it stands, with the ending of the dictionary's form, or as a participle:
// aufgeräumt is aufräumen.
func lookUpInflected(word string) []string {
	if english := withOtherEnding(word); english != nil {
		return english
	}
	for at := 0; at+leastInCompound < len(word); at++ {
		rest, found := strings.CutPrefix(word[at:], "ge")
		if !found || at > 0 && !slices.Contains(separable, word[:at]) {
			continue
		}
		if english := withOtherEnding(word[:at] + rest); english != nil {
			return english
		}
	}
	return nil
}

// cognates are German endings of words of Latin origin, and the English endings that may correspond.
var cognates = []struct {
	ending  string
	english []string
}{
	{"ierungen", verbal}, {"ierung", verbal}, {"ierten", verbal}, {"ierte", verbal}, {"ieren", verbal},
	{"iert", verbal},
	{"ischen", []string{"ic"}}, {"ische", []string{"ic"}}, {"isch", []string{"ic"}}, {"taten", []string{"ty"}},
	{"tat", []string{"ty"}},
	{"iven", []string{"ive"}}, {"ive", []string{"ive"}}, {"iv", []string{"ive"}},
}

// verbal are the English endings of verbs in -ieren.
var verbal = []string{"", "e", "ate"}

// asEnglishSpells spells German words of Latin origin the English way.
var asEnglishSpells = strings.NewReplacer("ka", "ca", "ko", "co", "ku", "cu", "kl", "cl", "kr", "cr", "kt", "ct",
	"zi", "ci", "ze", "ce")

// Cognates gives possible English spellings of a German word of Latin origin, given in lower case and without accents:
// rekursiv is recursive, ignorieren is ignore. It returns nil for a word that both spell alike.
func Cognates(word string) (english []string) {
	for _, c := range cognates {
		if stem, found := strings.CutSuffix(word, c.ending); found && len(stem) >= leastInCompound {
			for _, ending := range c.english {
				english = append(english, asEnglishSpells.Replace(stem)+ending)
			}
			return english
		}
	}
	if spelt := asEnglishSpells.Replace(word); spelt != word {
		return []string{spelt}
	}
	return nil
}

// separable are the prefixes of German verbs that stand before the “ge” of the participle.
var separable = []string{
	"ab", "an", "auf", "aus", "bei", "durch", "ein", "fest", "her", "herunter", "hervor", "hin", "hinzu", "hoch", "los",
	"mit", "nach", "um", "unter", "vor", "weg", "weiter", "wieder",
	"zu", "zuruck", "zusammen", "zwischen",
}

// withOtherEnding looks a word up as it stands, or with the ending that the dictionary has for it.
func withOtherEnding(word string) []string {
	table := glossary()
	if english := table[word]; english != nil {
		return english
	}
	for _, form := range []struct{ ending, dictionary string }{
		{"t", "en"}, {"et", "en"}, {"te", "en"}, {"e", "en"}, {"ns", "n"}, {"ado", "ar"}, {"ada", "ar"}, {"ados", "ar"},
		{"adas", "ar"}, {"a", "ar"}, {"am", "ar"},
		{"e", "er"}, {"ido", "er"}, {"ida", "er"}, {"idos", "er"}, {"oes", "ao"}, {"ais", "al"}, {"ens", "em"},
		{"es", ""}, {"s", ""},
	} {
		if stem, found := strings.CutSuffix(word, form.ending); found {
			if english := table[stem+form.dictionary]; english != nil {
				return english
			}
		}
	}
	return nil
}

// IsForeign says whether a text is in German or Portuguese rather than in English, judged by its stop words and words
// of closed classes.
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

// IsLight says whether a word, in lower case and without accents, belongs to a closed class: it does not help to find
// a place, however rare it is.
func IsLight(word string) bool {
	return lists()["light-en"][word] || lists()["light-de"][word] || lists()["light-pt"][word]
}
