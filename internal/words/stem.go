package words

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/text/search"
)

//go:embed endings.txt
var endingsText string

// Endings are what the forms of a word differ in, the longest first.
type Endings []string

// leastStem is how many bytes of a word stay at least.
const leastStem = 4

var endings = sync.OnceValue(func() map[string]Endings {
	all := map[string]Endings{}
	for line := range strings.Lines(endingsText) {
		if code, list, found := strings.Cut(line, ":"); found {
			all[code] = append(all[code], strings.Fields(list)...)
		}
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
	}
	return all
})

// EndingsOf are those of a language: "de" or "pt"; of others there are none, and stems are those of search.
func EndingsOf(code string) Endings { return endings()[code] }

// Stem gives what the forms of a word, folded, have in common.
func (e Endings) Stem(word string) string {
	if len(e) == 0 {
		return search.Stem(word)
	}
	for _, end := range e {
		if stem, ok := strings.CutSuffix(word, end); ok && len(stem) >= leastStem {
			return stem
		}
	}
	return word
}
