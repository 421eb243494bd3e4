package code

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"sibyl/internal/text/search"
)

const (
	leastMended = 5   // letters of the stem of a word that is taken for another
	leastWrong  = 6   // of one with a wrong letter: short words are too many
	mendedShare = 0.8 // of the weight of a word, where it is read as another
)

// Mended is a word of a question that is in no file, and the word of some files that it is read as: one slip of the hand lies between them.
type Mended struct {
	Word string `json:"word"`
	As   string `json:"as"`
}

// countMended is count, once more where a word that is in no file may be misspelt. It gives the best files.
func (s *lookup) countMended(ctx context.Context) ([]tally, error) {
	if err := s.count(ctx); err != nil {
		return nil, err
	}
	files := s.bestFiles()
	if s.regex || len(s.missing) == 0 || !s.mend(files) {
		return files, ctx.Err()
	}
	again := &lookup{root: s.root, query: s.query, finder: newScanner(s.query.terms), scope: s.scope, limit: s.limit, mended: s.mended}
	if err := again.count(ctx); err != nil {
		return nil, err
	}
	*s = *again
	return s.bestFiles(), nil
}

// mend reads words that are in no file as words of the best files, and says whether there were any.
func (s *lookup) mend(files []tally) bool {
	var words map[string]int // of the best files: how often
	terms := slices.Clone(s.query.terms)
	for i, t := range terms {
		if !slices.Contains(s.missing, t.word) || t.compound || t.foreign || t.path != "" || len(t.stem) < leastMended || !isASCIIWord(t.word) {
			continue
		}
		if words == nil {
			words = s.wordsOf(files)
		}
		as := nearest(t.stem, words)
		if as == "" {
			continue
		}
		stem := search.Stem(as)
		terms[i] = term{word: as, stem: stem, aliases: search.Abbreviations(as), head: len(stem), weight: t.weight * mendedShare}
		s.mended = append(s.mended, Mended{Word: t.word, As: as})
	}
	s.query.terms = terms
	return len(s.mended) > 0
}

func isASCIIWord(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
}

// wordsOf counts the words of files, those of identifiers apart.
func (s *lookup) wordsOf(files []tally) map[string]int {
	count := map[string]int{}
	for i := range files {
		src, err := s.open(&files[i])
		if err != nil {
			continue // it went away since it was counted
		}
		eachWord(src.text, func(word []byte) {
			if len(word) < leastMended || bytes.ContainsAny(word, "0123456789") {
				return
			}
			for _, part := range search.Parts(string(word)) {
				if len(part) >= leastMended {
					count[part]++
				}
			}
		})
	}
	return count
}

// nearest is the commonest of some words whose stem begins as another does and is one slip away from it; "" if there is none.
func nearest(stem string, words map[string]int) string {
	best := ""
	for _, w := range slices.Sorted(maps.Keys(words)) {
		if w[0] == stem[0] && cmp.Compare(words[w], words[best]) > 0 && isSlip(stem, search.Stem(w)) {
			best = w
		}
	}
	return best
}

// isSlip says whether one letter too many, one too few, a wrong one, or two in the wrong order make one word of another.
func isSlip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || a == b {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	return len(a) >= leastWrong && a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
