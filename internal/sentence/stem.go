package sentence

import (
	_ "embed"
	"strings"
	"sync"

	"sibyl/internal/text/search"
)

//go:embed forms.txt
var formsText string

// forms are the verbs of forms.txt by language and form.
var forms = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for line := range strings.Lines(formsText) {
		language, list, found := strings.Cut(line, ": ")
		words := strings.Fields(list)
		if !found || strings.HasPrefix(line, "#") || len(words) == 0 {
			continue
		}
		if all[language] == nil {
			all[language] = map[string]string{}
		}
		for _, w := range words {
			all[language][w] = words[0]
		}
	}
	return all
})

// stem cuts a word, as search.Words gives it, to what its forms share. What it gives is compared with other stems of the language only.
func stem(word, language string) string {
	if verb, is := forms()[language][word]; is {
		word = verb
	}
	if language == german {
		return stemGerman(word)
	}
	return stemEnglish(word)
}

// stemEnglish cuts endings off until none is left: employ as employs, fine as fined.
func stemEnglish(word string) string {
	s := search.Stem(search.Stem(word))
	if len(s) > 3 {
		s = strings.TrimSuffix(s, "e")
	}
	return s
}

const german = "de"

// stemGerman cuts endings off as long as enough stays, and the prefix of participles. Words have no accents any more: Häuser came as hauser.
func stemGerman(word string) string {
	word = strings.ReplaceAll(word, "ß", "ss")
	if strings.Trim(word, "0123456789") == "" {
		return word
	}
	if rest, found := strings.CutPrefix(word, "ge"); found && len(rest) >= 5 && (strings.HasSuffix(rest, "t") || strings.HasSuffix(rest, "en")) {
		word = rest
	}
	for range 3 {
		switch {
		case len(word) <= 3 || strings.HasSuffix(word, "ss"):
			return word
		case len(word) > 5 && (strings.HasSuffix(word, "em") || strings.HasSuffix(word, "er") || strings.HasSuffix(word, "nd")):
			word = word[:len(word)-2]
		case len(word) > 5 && strings.HasSuffix(word, "ung"):
			return word[:len(word)-3]
		case strings.HasSuffix(word, "t") || strings.HasSuffix(word, "e") || strings.HasSuffix(word, "s") || strings.HasSuffix(word, "n"):
			word = word[:len(word)-1]
		default:
			return word
		}
	}
	return word
}

// How well a word of a document stands for a word of a question.
const (
	sameStem = 1.0
	partOf   = 0.75 // the word of the question is a part of it: Intervall, Wartungsintervall
	partly   = 0.55 // it is a part of the word of the question
	akin     = 0.6  // both begin so alike that they are of one family: develop, development
)

const (
	leastPart   = 5 // letters of the part of a compound
	leastFamily = 6 // letters that words of a family share
)

// likeness says how well a word of a document stands for a word of a question, by their stems; 0: not at all.
func likeness(asked, said, language string) float64 {
	if asked == said {
		return sameStem
	}
	if language == german && len(asked) >= 3 && strings.HasSuffix(said, "ge"+asked) {
		return partOf // baute … auf, aufgebaut
	}
	if len(asked) < leastPart || len(said) < leastPart {
		return 0
	}
	if language == german {
		switch {
		case strings.HasSuffix(said, asked), strings.HasPrefix(said, asked) && len(said) >= len(asked)+4:
			return partOf
		case strings.HasSuffix(asked, said) && len(said) >= leastPart+1:
			return partly
		}
	}
	shared := 0
	for shared < min(len(asked), len(said)) && asked[shared] == said[shared] {
		shared++
	}
	if longer := max(len(asked), len(said)); shared >= leastFamily && 10*shared >= 6*longer {
		return akin
	}
	return 0
}
