package witness

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"sibyl/internal/text"
	"sibyl/internal/text/language"
	"sibyl/internal/text/search"
)

// How much a word counts outside the text of a unit; inside it counts 1.
const (
	above  = 0.5  // in its heading
	nearby = 0.25 // in the unit before or after
)

// How much other forms of a word count.
const (
	alike     = 0.6 // one begins or ends with the other, as in compounds
	leastRoot = 4   // bytes that they share then
	strict    = 0.5 // how much more often a long unit must hold a word
)

// unit is what a search finds: a chunk, or a sentence.
type unit struct {
	text, heading string
	language      string
	within        string // the document, or the chunk: units that follow each other in it are neighbours
}

// index finds units by the words of a question.
type index struct {
	units   []unit
	words   map[string][]place // by stem
	lengths []float64          // of the units, in units of the usual one
}

// place is a unit that contains a word, and how much the word counts there.
type place struct {
	unit   int32
	counts float32
}

// term is a word of a question: its weight, and its forms in the documents with how well each matches.
type term struct {
	worth float64
	forms map[string]float64
}

func newIndex(units []unit) *index {
	x := &index{units: units, words: map[string][]place{}}
	total := 0.0
	for i, u := range units {
		counts := map[string]float64{}
		add := func(content string, weight float64) {
			for _, w := range wordsAndPairs(content) {
				counts[stem(w, u.language)] += weight
			}
		}
		add(u.text, 1)
		x.lengths = append(x.lengths, float64(len(counts)))
		total += float64(len(counts))
		add(u.heading, above)
		for w, n := range counts {
			x.words[w] = append(x.words[w], place{int32(i), float32(n)})
		}
	}
	for i := range x.lengths {
		x.lengths[i] *= float64(len(units)) / max(total, 1)
	}
	return x
}

// wordsAndPairs are the words of a text. A single character, as in “pump A”, is also paired with the word before it.
func wordsAndPairs(content string) (list []string) {
	before := ""
	for _, w := range search.Words(content) {
		list = append(list, w)
		if len(w) == 1 && before != "" {
			list = append(list, before+" "+w)
		}
		before = w
	}
	return list
}

func stem(word, code string) string {
	if strings.Contains(word, " ") {
		return word
	}
	return text.Stem(word, code)
}

// terms are the distinctive words of a text in a language, each once.
func (x *index) terms(content, code string) (list []term) {
	known, codes := map[string]bool{}, map[string]bool{}
	for _, u := range x.units {
		codes[u.language] = true
	}
	for _, w := range wordsAndPairs(content) {
		first, _, _ := strings.Cut(w, " ")
		if known[w] || language.Common(first, code) || search.IsAsking(first) {
			continue
		}
		known[w] = true
		t := term{forms: map[string]float64{}}
		for code := range codes {
			root := stem(w, code)
			for form := range x.words {
				if n := likeness(root, form); n > t.forms[form] {
					t.forms[form] = n
				}
			}
		}
		t.worth = x.rarity(t)
		list = append(list, t)
	}
	return list
}

// rarity is the weight of a term: the fewer units contain it, the higher.
func (x *index) rarity(t term) float64 {
	return search.Rarity(float64(len(x.units)), float64(x.holding(t)))
}

// holding counts the units that contain a term.
func (x *index) holding(t term) int {
	units := map[int32]bool{}
	for form := range t.forms {
		for _, p := range x.words[form] {
			units[p.unit] = true
		}
	}
	return len(units)
}

// likeness says how well one stem matches another, from 0 to 1.
func likeness(a, b string) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	switch {
	case a == b:
		return 1
	case len(a) >= leastRoot && !strings.Contains(b, " ") && (strings.HasPrefix(b, a) || strings.HasSuffix(b, a)):
		return alike
	}
	return 0
}

// scores rates how well each unit matches the terms. An answer may be next to the words of the question, so neighbours
// count, too.
func (x *index) scores(terms []term) []float64 {
	own := x.ownScores(terms)
	all := slices.Clone(own)
	for i := 1; i < len(own); i++ {
		if x.units[i-1].within == x.units[i].within {
			all[i-1] += nearby * own[i]
			all[i] += nearby * own[i-1]
		}
	}
	return all
}

// ownScores rates how well each unit itself matches the terms, by BM25.
func (x *index) ownScores(terms []term) []float64 {
	own := make([]float64, len(x.units))
	for _, t := range terms {
		counts := make([]float64, len(x.units))
		for _, form := range slices.Sorted(maps.Keys(t.forms)) {
			for _, p := range x.words[form] {
				counts[p.unit] += t.forms[form] * float64(p.counts)
			}
		}
		for i, n := range counts {
			own[i] += t.worth * search.Saturated(n, x.lengths[i], strict)
		}
	}
	return own
}

// rankByScore returns the indices of scores above 0, the highest first.
func rankByScore(scores []float64) (list []int) {
	for i, s := range scores {
		if s > 0 {
			list = append(list, i)
		}
	}
	rounded := func(i int) float64 { return math.Round(scores[i] * 1e6) }
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(rounded(b), rounded(a)) })
	return list
}
