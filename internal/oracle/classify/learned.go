package classify

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/learned"
)

//go:generate go test -count=1 -v -run "^(TestWeightsAreThoseOfTheQuestions|TestHandsAreJudgedByTheOthers)$" -update

//go:embed classify.weights
var weightsFile []byte

// weights are the learned classifier. Its classes are the types, in their order.
var weights = sync.OnceValue(func() *learned.Model {
	m, err := learned.Load(weightsFile)
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return m
})

// meets says whether the rules found something in a text, or the classifier has learned from more than a third of its words, names and shapes: of those that
// it never met, some share a place with one that it did. Without any of them the text is no more than signs of punctuation.
func meets(signs []learned.Feature, found []hit) (met, without bool) {
	words, known := 0, 0
	for _, s := range signs {
		if strings.HasPrefix(s.Name, wordSign) {
			words++
			if _, learned := weights().Gain(s, 0); learned {
				known++
			}
		}
	}
	met = 3*known > words || slices.ContainsFunc(found, func(h hit) bool { return !strings.HasPrefix(h.name, unplaced) })
	return met, words == 0
}

// mostReasons bounds the words that an explanation names beside what the rules found.
const mostReasons = 2

// explain adds what the rules found, with what it counts, and the words that speak most for or against the type.
func (c *Classification) explain(signs []learned.Feature, found []hit) {
	class := weights().Class(string(c.QueryType))
	c.Matches, c.KeywordsMatched = make([]Match, 0, len(found)+mostReasons), make([]string, 0, 2*len(found)+mostReasons)
	for _, h := range found {
		gain, _ := weights().Gain(learned.Feature{Name: ruleSign + h.name, Value: 1}, class)
		c.match(h.name, h.words, gain, true)
	}
	words := make([]learned.Feature, 0, len(signs)/4)
	for _, s := range signs {
		if strings.HasPrefix(s.Name, wordSign) || strings.HasPrefix(s.Name, pairSign) {
			words = append(words, s)
		}
	}
	for _, r := range weights().Reasons(words, string(c.QueryType), mostReasons) {
		name, said := "word", strings.TrimPrefix(r.Name, wordSign)
		if pair, ok := strings.CutPrefix(r.Name, pairSign); ok {
			name, said = "words", strings.TrimPrefix(pair, atStart+" ")
		}
		if !strings.HasPrefix(said, kindSign) {
			said = strings.Clone(said) // all names are one text
			c.match(name, []string{said}, r.Weight, name == "word" && !lex().StopWords[said])
		}
	}
	c.KeywordsMatched = unique(c.KeywordsMatched, len(c.KeywordsMatched))
}

// match adds what was found, and what it adds to the score of the type, unless that is nothing. Telling says that its words are worth naming.
func (c *Classification) match(name string, words []string, gain float64, telling bool) {
	if gain = rounded(gain); gain == 0 {
		return
	}
	if slices.Contains(words, "") {
		words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	}
	c.Matches = append(c.Matches, Match{name, words, gain})
	if telling && gain > 0 {
		c.KeywordsMatched = append(c.KeywordsMatched, words...)
	}
}
