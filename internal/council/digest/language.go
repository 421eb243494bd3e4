package digest

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sibyl/internal/search"
)

//go:embed pt.txt
var portuguese string

//go:embed en.txt
var english string

//go:embed de.txt
var german string

// language holds the closed classes of words of a language, and what is said in it.
type language struct {
	code    string
	words   map[string]phrases
	say     map[string]string
	endings []string // that forms of a word differ in, the longest first; none: those of search are used
	numbers map[string]float64
}

// other is the language of sessions that none of the files is for.
const other = "pt"

var languages = sync.OnceValue(func() map[string]*language {
	return map[string]*language{"pt": parseLanguage("pt", portuguese), "en": parseLanguage("en", english), "de": parseLanguage("de", german)}
})

// languageOf finds a language by its code, perhaps with a region.
func languageOf(code string) *language {
	code, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(code, "_", "-")), "-")
	if l := languages()[code]; l != nil {
		return l
	}
	return languages()[other]
}

// parseLanguage reads a file of lines “name: list” and “say name: words”. A name that comes again goes on with its list.
func parseLanguage(code, text string) *language {
	l := &language{code: code, words: map[string]phrases{}, say: map[string]string{}, numbers: map[string]float64{}}
	lists := map[string]string{}
	for line := range strings.Lines(text) {
		name, rest, found := strings.Cut(line, ":")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		rest = strings.TrimSpace(rest)
		if key, ok := strings.CutPrefix(name, "say "); ok {
			l.say[key] = rest
			continue
		}
		lists[name] += rest + ","
	}
	for name, list := range lists {
		switch name {
		case "endings":
			l.endings = strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
			slices.SortStableFunc(l.endings, func(a, b string) int { return len(b) - len(a) })
		case "numbers":
			for pair := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }) {
				word, value, _ := strings.Cut(pair, "=")
				l.numbers[fold(word)], _ = strconv.ParseFloat(value, 64)
			}
		default:
			l.words[name] = parsePhrases(list)
		}
	}
	return l
}

// shortestStem is how many bytes of a word are left at least.
const shortestStem = 4

// stem gives what the forms of a word have in common.
func (l *language) stem(word string) string {
	if len(l.endings) == 0 {
		return search.Stem(word)
	}
	for _, end := range l.endings {
		if stem, ok := strings.CutSuffix(word, end); ok && len(stem) >= shortestStem {
			return stem
		}
	}
	return word
}

// isFunction says whether a word only holds a sentence together.
func (l *language) isFunction(word string) bool {
	return len(word) < 2 || search.IsStop(word) || l.words["function"].at([]token{{norm: word, word: true}}, 0) > 0
}

// content gives the stems of the words that carry meaning, each once, in their order. Numbers are left out.
func (l *language) content(list []token) []string {
	var stems []string
	seen := map[string]bool{}
	for _, t := range list {
		if !t.word || isDigit(rune(t.norm[0])) || l.isFunction(t.norm) {
			continue
		}
		if s := l.stem(t.norm); !seen[s] {
			seen[s] = true
			stems = append(stems, s)
		}
	}
	return stems
}
