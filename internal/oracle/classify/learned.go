package classify

import (
	"cmp"
	_ "embed"
	"math"
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

// meets says whether the classifier has learned from more than a third of a text's words, names and shapes: of those that it never met, some share a place
// with one that it did. Without any of them the text is no more than signs of punctuation.
func meets(signs []learned.Feature) (met, without bool) {
	words, known := 0, 0
	for _, s := range signs {
		if strings.HasPrefix(s.Name, wordSign) {
			words++
			if _, learned := weights().Gain(s, 0); learned {
				known++
			}
		}
	}
	return 3*known > words, words == 0
}

// mostReasons bounds the words that an explanation names.
const mostReasons = 6

// kindNames are the kinds of tokens in words.
var kindNames = [...]string{word: "word", ident: "name", path: "path", link: "link", number: "number", block: "pasted", symbol: "sign"}

// explain names the words that speak most for or against the type, with all that they are a part of: neighbours share what they add together.
func (c *Classification) explain(t *text, q Query, seen *signs) {
	class := weights().Class(string(c.QueryType))
	gains, before := make([]float64, len(t.tokens)), 0.0
	for i, s := range seen.all {
		gain, _ := weights().Gain(s, class)
		from := seen.from[i]
		for at := from.start; at < from.end; at++ {
			gains[at] += gain / float64(from.end-from.start)
		}
		if from.end == 0 && (strings.HasPrefix(s.Name, "before") || strings.HasPrefix(s.Name, "follows")) {
			before += gain
		}
	}
	if before = rounded(before); before != 0 {
		c.Matches = append(c.Matches, Match{"before", []string{string(q.PreviousType)}, before})
	}
	for i, tok := range t.tokens {
		if gain := rounded(gains[i]); gain != 0 {
			c.Matches = append(c.Matches, Match{kindNames[tok.kind], []string{clip(strings.SplitN(tok.raw, "\n", 2)[0], longestRead)}, gain})
		}
	}
	slices.SortStableFunc(c.Matches, func(a, b Match) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
	c.Matches = c.Matches[:min(len(c.Matches), mostReasons):min(len(c.Matches), mostReasons)]
	var telling, other []string
	for _, m := range c.Matches {
		switch {
		case m.Weight <= 0 || m.Feature == "before":
		case m.Feature == kindNames[word] && isGrammar(fold(m.Words[0])):
			other = append(other, m.Words[0])
		default:
			telling = append(telling, m.Words[0])
		}
	}
	c.KeywordsMatched = unique(append(telling, other...), mostReasons)
}

// clip is the beginning of a text of more bytes than that.
func clip(s string, bytes int) string {
	for i := range s {
		if i >= bytes {
			return s[:i] + "…"
		}
	}
	return s
}
