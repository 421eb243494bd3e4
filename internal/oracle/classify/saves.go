package classify

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/text/search"
)

//go:embed saves.txt
var savesFile string

// savingWords are the words of a language by which a person asks for something to be kept, and those that make another
// thing of a place that follows them, each maybe with a * at its end.
type savingWords struct{ verbs, places, others []string }

var savingLanguages = sync.OnceValue(func() (all []savingWords) {
	var lines [][]string
	for line := range strings.Lines(savesFile) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		for i, word := range words { // without accents, as the words of a text come
			stem, open := strings.CutSuffix(word, "*")
			if words[i] = strings.Join(search.Words(stem), ""); open {
				words[i] += "*"
			}
		}
		lines = append(lines, words)
	}
	for part := range slices.Chunk(lines, 3) {
		all = append(all, savingWords{part[0], part[1], part[2]})
	}
	return all
})

// asksToSave says whether words ask, in one language, for something to be written to a place that Sibyl keeps.
func asksToSave(text string) bool {
	words := search.Words(strings.ToLower(text))
	return slices.ContainsFunc(savingLanguages(), func(in savingWords) bool {
		return in.namePlace(words) && anyMatches(words, in.verbs)
	})
}

// namePlace says whether a word is a place, and no other beside it makes another thing of it: “thank-you note”, “nota
// de agradecimento”.
func (in savingWords) namePlace(words []string) bool {
	for i := range words {
		if anyMatches(words[i:i+1], in.places) && (i == 0 || !anyMatches(words[i-1:i], in.others)) &&
			(i+2 >= len(words) || !anyMatches(words[i+1:i+2], in.others) || !anyMatches(words[i+2:i+3], in.others)) {
			return true
		}
	}
	return false
}

// NamesPlaceToSave says whether a text names a place that Sibyl keeps, in any language, or a file of notes. A word that
// one language takes for another thing, such as “release notes”, is none in any.
func NamesPlaceToSave(text string) bool {
	if strings.Contains(text, ".md") {
		return true
	}
	words, named := search.Words(strings.ToLower(text)), false
	for _, in := range savingLanguages() {
		if anyMatches(words, in.places) && !in.namePlace(words) {
			return false
		}
		named = named || in.namePlace(words)
	}
	return named
}

func anyMatches(words, patterns []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			stem, open := strings.CutSuffix(pattern, "*")
			return word == stem || open && strings.HasPrefix(word, stem)
		})
	})
}
