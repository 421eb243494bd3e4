package search

import (
	"slices"
	"strings"
)

const maxTerms = 16

// How well a word of a text answers a term.
const (
	exactly  = 1.0
	byStem   = 0.8
	byPrefix = 0.6
)

// word is a word of a text or a query.
type word struct{ text, stem string }

// Query is the words to search texts for. The zero Query finds nothing.
type Query struct {
	terms   []word
	weights []float64 // what a question gives each term; nil: all the same
}

// What a question gives a word that says little about where to look.
const (
	lightWord = 0.15
	weakWord  = 0.5
)

// NewQuestion is NewQuery for a question in whole sentences: words that say little count less, and a section's own text
// counts more than the title of its document. Up to two terms are treated as NewQuery does.
func NewQuestion(text string) Query {
	q := NewQuery(text)
	if len(q.terms) <= 2 {
		return q
	}
	q.weights = make([]float64, len(q.terms))
	for i, t := range q.terms {
		switch {
		case IsLight(t.text):
			q.weights[i] = lightWord
		case IsWeak(t.text), IsAsking(t.text):
			q.weights[i] = weakWord
		default:
			q.weights[i] = 1
		}
	}
	return q
}

// NewQuery takes the words of a text that carry meaning, at most 16; all of them if none does. Of words with the same
// stem one is kept.
func NewQuery(text string) Query {
	var all []string
	EachWord(text, func(w []byte) {
		// Beside the pair that it ends, the last character of an unspaced run would only find too much.
		if len(all) == 0 || !endsPair(all[len(all)-1], string(w)) {
			all = append(all, string(w))
		}
	})
	content := slices.DeleteFunc(slices.Clone(all), IsStop)
	if len(content) == 0 {
		content = all
	}
	var q Query
	for _, w := range content {
		term := word{w, Stem(w)}
		if len(q.terms) < maxTerms && !slices.ContainsFunc(q.terms, func(t word) bool { return t.stem == term.stem }) {
			q.terms = append(q.terms, term)
		}
	}
	return q
}

// Empty says whether there is no word to look for.
func (q Query) Empty() bool { return len(q.terms) == 0 }

func endsPair(pair, word string) bool {
	runes := []rune(pair)
	return len(runes) == 2 && IsUnspaced(runes[0]) && string(runes[1]) == word
}

// bestTerm returns the term that a word fits best, and how well; quality is 0 if it fits none.
func (q Query) bestTerm(w word) (term int, quality float64) {
	for i, t := range q.terms {
		found := 0.0
		switch {
		case w.text == t.text:
			found = exactly
		case w.stem == t.stem:
			found = byStem
		case len(t.text) >= 4 && strings.HasPrefix(w.text, t.text):
			found = byPrefix
		}
		if found > quality {
			term, quality = i, found
		}
	}
	return term, quality
}

// AnsweredBy counts the terms with a word in text.
func (q Query) AnsweredBy(text string) int {
	var has [maxTerms]bool
	count := 0
	EachWord(text, func(w []byte) {
		term, quality := q.bestTerm(word{string(w), Stem(string(w))})
		if quality > 0 && !has[term] {
			has[term] = true
			count++
		}
	})
	return count
}
