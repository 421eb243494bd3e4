// Package search finds words in texts: source files, notes and documents are searched by the same rules.
//
// Guarantees:
//   - One tokenizer. EachWord takes a text apart, PartEnd and Parts an identifier. Case and accents never matter.
//   - One stemmer and one list of stop words for each language. The lists are data, read when they are first asked for.
//   - One ranking, BM25F (Robertson, Zaragoza, Taylor 2004): a term counts by its rarity, by the field it stands in,
//     and in running text less with each repetition and the longer the text.
//   - Equal texts and queries give equal results in equal order.
package search

import (
	_ "embed"
	"math"
	"strings"
	"sync"
)

// saturation is BM25's k1: the smaller, the sooner more of the same term stops counting.
const saturation = 1.2

// Rarity is the weight of a term that is in so many of the documents: BM25's inverse document frequency, in the form
// that is never negative.
func Rarity(documents, holding float64) float64 {
	return math.Log(1 + (documents-holding+0.5)/(holding+0.5))
}

// Saturated is how much a term counts that occurs this often in a running text, 0 to 1. length is the length of the
// text divided by the usual one; strictness, 0 to 1, is how much more often a long text must repeat the term.
func Saturated(frequency, length, strictness float64) float64 {
	return frequency / (frequency + saturation*(1-strictness+strictness*length))
}

// Weights say what each term of a query is worth.
type Weights []float64

// Sum adds up values of the terms by their weights.
func (w Weights) Sum(values []float64) float64 {
	sum := 0.0
	for t, weight := range w {
		sum += weight * values[t]
	}
	return sum
}

// Total is the weight of all terms.
func (w Weights) Total() float64 {
	total := 0.0
	for _, weight := range w {
		total += weight
	}
	return total
}

//go:embed words.txt
var wordsText string

// lists are the word lists of words.txt by name.
var lists = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for line := range strings.Lines(wordsText) {
		name, words, found := strings.Cut(line, ":")
		if !found {
			continue
		}
		if all[name] == nil {
			all[name] = map[string]bool{}
		}
		for w := range strings.FieldsSeq(words) {
			all[name][w] = true
		}
	}
	return all
})

// IsStop says whether a word, in lower case, with or without accents, is an English, Portuguese or German stop word.
func IsStop(word string) bool {
	return lists()["en"][word] || lists()["pt"][word] || lists()["de"][word]
}

// IsAsking says whether a word belongs to the form of a question rather than to its subject.
func IsAsking(word string) bool { return lists()["asking"][word] }

// IsWeak says whether a word says little about where to look, though it may be part of what is looked for.
func IsWeak(word string) bool { return lists()["weak"][word] }

// IsGeneric says whether a word is so common in questions that a passage without it may still answer.
func IsGeneric(word string) bool { return lists()["generic"][word] }

// IsPointing says whether a word in lower case points at something without naming it, as “this” does.
func IsPointing(word string) bool { return lists()["pointing"][word] }

// AsksNumber says whether a word in lower case asks how much of something there is, or for its default.
func AsksNumber(word string) bool { return lists()["number"][word] }

// AsksDate says whether a word in lower case asks when.
func AsksDate(word string) bool { return lists()["date"][word] }

//go:embed abbreviations.txt
var abbreviationsText string

var abbreviations = sync.OnceValue(func() map[string][]string {
	table := map[string][]string{}
	for line := range strings.Lines(abbreviationsText) {
		words := strings.Fields(line)
		for i, w := range words {
			for j, other := range words {
				if i != j {
					table[w] = append(table[w], other)
				}
			}
		}
	}
	return table
})

// Abbreviations gives the common other spellings of a word among programmers, which count as much as the word.
func Abbreviations(word string) []string {
	if other := abbreviations()[word]; other != nil {
		return other
	}
	singular := strings.TrimSuffix(word, "s")
	if stem, found := strings.CutSuffix(word, "ies"); found {
		singular = stem + "y"
	}
	return abbreviations()[singular]
}
