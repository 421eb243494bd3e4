// Package language tells whether texts are in English, German, Portuguese, French or Spanish.
//
// Function words, which hold sentences together, weigh most: they stay in the speaker's language when nouns are
// borrowed. Other words count by their spelling, and none decides alone. A text in another language has few such words,
// and gets none of these languages.
package language

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	maxWords       = 4000 // words that are read
	maxWord        = 40   // characters of a word that are looked at
	functionWeight = 2.0  // weight of a function word; any other word has up to 1
	shortText      = 6    // words; a longer text must have function words
	leastShare     = 0.2  // of function words among all words
	leastLead      = 1.05 // over the second language
	leastSpelling  = 0.66 // of the words, by spelling, of a text without a function word
	leastEnglish   = 0.3  // of the words, by spelling, of a short text that may be English in spite of a function word
)

//go:embed words.txt
var wordsText string

//go:embed samples.txt
var samplesText string

const languages = 5

func codes() []string { return []string{"pt", "en", "de", "fr", "es"} }

// english is the place of English among them. It borrows and lends most words, so a short text is in another language
// only if its words say so.
const english = 1

// Name is the English name of a language; "" of one that this package does not know.
func Name(code string) string {
	return map[string]string{"pt": "Portuguese", "en": "English", "de": "German", "fr": "French", "es": "Spanish"}[code]
}

// scores has one score for each language, in the order of codes.
type scores [languages]float64

// model is what is known of the languages.
type model struct {
	function map[string]scores // 1 if it is a word of the language
	spelling map[string]scores // how often three letters follow each other in words of a sample, as a logarithm
	unseen   scores
}

var trained = sync.OnceValue(func() *model {
	m := &model{function: map[string]scores{}, spelling: map[string]scores{}}
	var total scores
	for line := range strings.Lines(wordsText + samplesText) {
		name, text, _ := strings.Cut(line, ": ")
		if i := slices.Index(codes(), name); i >= 0 {
			for _, w := range wordsOf(text, math.MaxInt) {
				eachTrigram(w, func(t string) {
					counts := m.spelling[t]
					counts[i]++
					total[i]++
					m.spelling[t] = counts
				})
			}
		}
	}
	for line := range strings.Lines(wordsText) {
		name, text, _ := strings.Cut(line, ": ")
		if i := slices.Index(codes(), name); i >= 0 {
			for _, w := range wordsOf(text, math.MaxInt) {
				in := m.function[w]
				in[i] = 1
				m.function[w] = in
			}
		}
	}
	const smoothing = 0.3
	kinds := float64(len(m.spelling))
	for t, counts := range m.spelling {
		for i := range counts {
			counts[i] = math.Log((counts[i] + smoothing) / (total[i] + smoothing*kinds))
		}
		m.spelling[t] = counts
	}
	for i := range m.unseen {
		m.unseen[i] = math.Log(smoothing / (total[i] + smoothing*kinds))
	}
	return m
})

// Of is the most likely language of the texts together: "en", "de", "pt", "fr" or "es"; "" if it is not clear.
func Of(texts ...string) string {
	m := trained()
	var sum, functionWords, spelled scores
	var foreign scores // function words that English has not
	words, spelledWords := 0, 0
	for _, text := range texts {
		for _, w := range wordsOf(text, maxWords-words) {
			words++
			in, is := m.function[w]
			if !is {
				in = m.spellingScores(w)
				sum.add(in, 1)
				spelled.add(in, 1)
				spelledWords++
				continue
			}
			functionWords.add(in, 1)
			foreign.add(in, 1-in[english])
			sum.add(in, functionWeight/in.total())
		}
	}
	best, second := sum.topTwo()
	switch {
	case sum[best] == 0, sum[best] < leastLead*sum[second]:
		return ""
	case words >= shortText && functionWords[best] < leastShare*float64(words):
		return ""
	case best != english && words < shortText && couldBeEnglish(foreign[best], functionWords[english]-
		(functionWords[best]-foreign[best]), spelled[best], spelled[english], spelledWords):
		return ""
	case functionWords[best] == 0 && (words == 1 || sum[best] < leastSpelling*float64(words)):
		return ""
	}
	return codes()[best]
}

// couldBeEnglish says whether the words of a short text may be English, too: by its function words that English has
// not, those that only English has, and the spelling of the other words in the language and in English.
func couldBeEnglish(foreign, own, spelled, asEnglish float64, others int) bool {
	switch {
	case foreign == 0:
		return own > 0 || others == 0 || spelled < leastSpelling*float64(others)
	case own > 0:
		return foreign <= 2*own
	}
	return foreign == 1 && asEnglish > 2*spelled && asEnglish > leastEnglish*float64(others)
}

func (s *scores) add(other scores, times float64) {
	for i := range s {
		s[i] += times * other[i]
	}
}

func (s *scores) total() (t float64) {
	for _, score := range s {
		t += score
	}
	return t
}

// topTwo are the languages of the two highest scores.
func (s *scores) topTwo() (best, second int) {
	order := []int{0, 1, 2, 3, 4}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s[b], s[a]) })
	return order[0], order[1]
}

// spellingScores says how likely a word is in each language, by its spelling alone.
func (m *model) spellingScores(word string) scores {
	var s scores
	known := false
	eachTrigram(word, func(t string) {
		if seen, is := m.spelling[t]; is {
			known = true
			s.add(seen, 1)
		} else {
			s.add(m.unseen, 1)
		}
	})
	if !known {
		return scores{}
	}
	top := slices.Max(s[:])
	for i := range s {
		s[i] = math.Exp(s[i] - top)
	}
	sum := s.total()
	for i := range s {
		s[i] /= sum
	}
	return s
}

func eachTrigram(word string, do func(string)) {
	runes := []rune(" " + word + " ")
	for i := 0; i+3 <= len(runes); i++ {
		do(string(runes[i : i+3]))
	}
}

// wordsOf gives the words of a text in lower case, at most so many.
func wordsOf(text string, most int) (words []string) {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
	}) {
		if len(words) >= most {
			break
		}
		w = strings.Trim(strings.ReplaceAll(strings.ToLower(norm.NFC.String(w)), "’", "'"), "'")
		if runes := []rune(w); len(runes) > maxWord {
			w = string(runes[:maxWord])
		}
		if w != "" {
			words = append(words, w)
		}
	}
	return words
}

// Common says whether a word in lower case, without its accents, is a function word of a language: "the", "wann", "où"
// as "ou". The language "" is any of them.
func Common(word, code string) bool { return common()[code][word] }

var common = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{"": {}}
	for w, in := range trained().function {
		plain := strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, norm.NFD.String(w))
		for i, code := range codes() {
			if all[code] == nil {
				all[code] = map[string]bool{}
			}
			all[code][plain] = all[code][plain] || in[i] > 0
		}
		all[""][plain] = true
	}
	return all
})
