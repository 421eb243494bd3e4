// Package classify finds out where the answer to a question stands: in the code, in the notes, in the world outside, or
// nowhere because nothing is asked (FR-015 in docs/requirements.md).
//
// Words, pairs of neighbours and letters of a question are signs that a linear classifier weighs: it says how probable
// each type is. It learned from the questions in eval/training, which explains how one is added.
//
// Guarantees: pure and deterministic, rounded so that every machine gives the same; any input, valid or not, gives a
// valid result, with probabilities that add up to 1; cost is bounded, because at most 2 KB of a question are read.
package classify

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"sibyl/internal/text"
	"sibyl/internal/text/search"
)

// Type says what a question is about.
type Type string

const (
	Code           Type = "code"           // implementation
	Documentation  Type = "documentation"  // decisions, architecture, notes
	Research       Type = "research"       // the outside world
	Conversational Type = "conversational" // follow-ups, acknowledgements
	Action         Type = "action"         // write operations
)

// Places of the types among probabilities and weights. On equal probabilities the earlier wins.
const (
	code = iota
	docs
	web
	chat
	write
	columns
)

var types = [columns]Type{code: Code, docs: Documentation, web: Research, chat: Conversational, write: Action}

// Types returns every type.
func Types() []Type { return slices.Clone(types[:]) }

// Valid reports whether t is one of the five.
func (t Type) Valid() bool { return slices.Contains(types[:], t) }

// Needs returns the sources a type needs.
func (t Type) Needs() (code, vault, web bool) {
	return t == Code, t == Documentation || t == Action, t == Research
}

// Query is a question and what came before it.
type Query struct {
	Text     string
	Previous []string // earlier questions of the session, oldest first

	// PreviousType is the type of the last question that was not conversational; empty if there is none.
	PreviousType Type

	// Piped says that the text was handed over whole: whoever wrote it wishes for no change here.
	Piped bool
}

// Match is a word of a question, or what else counted, and how much.
type Match struct {
	Feature string   `json:"feature"` // word, name, quoted, pasted; before: the question before it
	Words   []string `json:"words"`
	// what it added to the chosen type's score, above what it added to others; below 0: it spoke for another
	Weight float64 `json:"weight"`
}

// Shares are the probabilities of types.
type Shares map[Type]float64

// Classification is what a question was found to be.
type Classification struct {
	QueryType       Type     `json:"query_type"`
	NeedsCode       bool     `json:"needs_code"`
	NeedsVault      bool     `json:"needs_vault"`
	NeedsWeb        bool     `json:"needs_web"`
	Confidence      float64  `json:"confidence"`              // 0..0.99: the probability of QueryType
	Probabilities   Shares   `json:"probabilities,omitempty"` // of each type; they add up to 1
	KeywordsMatched []string `json:"keywords_matched,omitempty"`
	Matches         []Match  `json:"matches,omitempty"`
}

// Probabilities where there is no word; where nearly none was ever met, so that it may be anything, and the world is
// larger than any project; and of a trace or a piece of a program without a word beside it, which is most often one's
// own.
var (
	nothingSaid  = []float64{code: 0.2, docs: 0.2, web: 0.2, chat: 0.2, write: 0.2}
	nothingKnown = []float64{code: 0.2, docs: 0.2, web: 0.3, chat: 0.2, write: 0.1}
	onlyPasted   = []float64{code: 0.78, docs: 0.02, web: 0.2, chat: 0, write: 0}
)

// Classify says what a question is about and which sources it needs.
func Classify(q Query) Classification {
	t := newText(q.Text)
	seen := t.signs(q)
	switch {
	case len(t.tokens) == 0:
		return concluded(Conversational, nothingSaid)
	case !slices.ContainsFunc(t.tokens, func(tok token) bool { return tok.kind != pasted }):
		return concluded(Code, onlyPasted)
	case !meets(seen):
		return concluded(Research, nothingKnown)
	}
	p := weights().Probabilities(seen)
	if q.Piped || likeliest(p) == write && !t.wishes(q) {
		p = without(p, write)
	}
	c := concluded(types[likeliest(p)], p)
	c.explain(t, q, seen)
	return c
}

// likeliest is the place of the greatest probability, the first of equals.
func likeliest(p []float64) int { return slices.Index(p, slices.Max(p)) }

// wishes says whether the first or the last sentence by itself wishes for a change: a question is no wish, whatever
// stands behind it.
func (t *said) wishes(q Query) bool {
	ends := [][2]int{t.sentences[0], t.sentences[len(t.sentences)-1]}
	return len(t.sentences) == 1 || slices.ContainsFunc(ends, func(in [2]int) bool {
		return likeliest(weights().Probabilities(newText(t.part(in[0], in[1])).signs(q))) == write
	})
}

// concluded is a classification by its type and the probabilities of all.
func concluded(t Type, probabilities []float64) Classification {
	c := Classification{QueryType: t, Probabilities: Shares{}}
	rest := 1.0
	for k, p := range probabilities {
		if types[k] != t {
			c.Probabilities[types[k]] = rounded(p, 4)
			rest -= rounded(p, 4)
		}
	}
	c.Probabilities[t] = rounded(rest, 4)
	c.Confidence = min(rounded(rest, 2), surest)
	c.NeedsCode, c.NeedsVault, c.NeedsWeb = t.Needs()
	return c
}

// surest bounds the confidence: words alone are never certain.
const surest = 0.99

func rounded(x float64, places int) float64 {
	by := math.Pow10(places)
	return math.Round(x*by) / by
}

// without gives probabilities among which one is 0; the others keep their proportions. Where nothing else is likely,
// nothing is to be looked up.
func without(p []float64, not int) []float64 {
	out, rest := make([]float64, columns), 1-p[not]
	if rest <= 0 {
		out[chat] = 1
		return out
	}
	for k := range out {
		if k != not {
			out[k] = p[k] / rest
		}
	}
	return out
}

// mostReasons bounds the words that an explanation names.
const mostReasons = 6

// explain names the words that speak most for or against the type: neighbours share what they add together.
func (c *Classification) explain(t *said, q Query, seen []Sign) {
	class := slices.Index(types[:], c.QueryType)
	gains, earlier := make([]float64, len(t.tokens)), 0.0
	for _, s := range seen {
		gain := weights().gain(s, class)
		for at := s.from[0]; at < s.from[1]; at++ {
			gains[at] += gain / float64(s.from[1]-s.from[0])
		}
		if s.is == before {
			earlier += gain
		}
	}
	if earlier = rounded(earlier, 2); earlier != 0 {
		c.Matches = append(c.Matches, Match{"before", []string{string(q.PreviousType)}, earlier})
	}
	for i, tok := range t.tokens {
		if gain := rounded(gains[i], 2); gain != 0 {
			c.Matches = append(c.Matches, Match{tok.kind.String(), []string{text.Brief(tok.raw, longestRead)}, gain})
		}
	}
	slices.SortStableFunc(c.Matches, func(a, b Match) int {
		return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight))
	})
	c.Matches = c.Matches[:min(len(c.Matches), mostReasons)]
	for _, m := range c.Matches {
		if m.Weight > 0 && m.Feature != "before" && !slices.Contains(c.KeywordsMatched, m.Words[0]) {
			c.KeywordsMatched = append(c.KeywordsMatched, m.Words[0])
		}
	}
	slices.SortStableFunc(c.KeywordsMatched, func(a, b string) int { return cmp.Compare(common(a), common(b)) })
}

// common is 1 for a word of which every question is made, and 0 for one that tells something to a person.
func common(keyword string) int {
	if w := strings.ToLower(keyword); search.IsStop(w) || search.IsAsking(w) || search.IsLight(w) {
		return 1
	}
	return 0
}
