package digest

import (
	_ "embed"
	"strings"
	"sync"

	"sibyl/internal/text/search"
	"sibyl/internal/words"
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
	words   map[string]words.Phrases
	say     map[string]string
	endings words.Endings
	numbers *words.Numbers
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
	l := &language{code: code, words: map[string]words.Phrases{}, say: map[string]string{}, endings: words.EndingsOf(code), numbers: words.NumbersOf(code)}
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
		l.words[name] = words.ParsePhrases(list, words.Fold)
	}
	return l
}

// isFunction says whether a word only holds a sentence together.
func (l *language) isFunction(word string) bool {
	return len(word) < 2 || search.IsStop(word) || l.words["function"].Is(word)
}

// content gives the stems of the words that carry meaning, each once, in their order. Numbers are left out.
func (l *language) content(list []token) []string {
	var stems []string
	seen := map[string]bool{}
	for _, t := range list {
		if !t.Word || t.IsFigure() || l.isFunction(t.Norm) {
			continue
		}
		if s := l.endings.Stem(t.Norm); !seen[s] {
			seen[s] = true
			stems = append(stems, s)
		}
	}
	return stems
}
