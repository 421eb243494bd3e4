// Package classify decides where to look for the answer to a question: in the code, in the notes, in the outside world,
// or nowhere because nothing is asked (docs/requirements.md, FR-015).
//
// Words, pairs of neighbouring words and letters of a question are signs. A linear classifier weighs them and says how
// probable each type is. It was trained on the questions in eval/training, which explains how to add one.
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

// Indices of the types in probabilities and weights. Of equal probabilities, the earlier one wins.
const (
	code = iota
	docs
	web
	chat
	write
	typeCount
)

var types = [typeCount]Type{code: Code, docs: Documentation, web: Research, chat: Conversational, write: Action}

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

	// Piped says that the text was piped in: whoever wrote it does not request a change here.
	Piped bool

	// Handed says that a text was handed over with the question, which is then about it.
	Handed bool
}

// Match is a word of a question, or another feature, with its weight.
type Match struct {
	Feature string   `json:"feature"` // word, name, quoted, pasted; before: the question before it
	Words   []string `json:"words"`
	// what it added to the score of the chosen type, minus what it added to others; negative: against that type
	Weight float64 `json:"weight"`
}

// Shares are the probabilities of types.
type Shares map[Type]float64

// Classification is the result for a question.
type Classification struct {
	QueryType       Type     `json:"query_type"`
	NeedsCode       bool     `json:"needs_code"`
	NeedsVault      bool     `json:"needs_vault"`
	NeedsWeb        bool     `json:"needs_web"`
	Confidence      float64  `json:"confidence"`              // 0..0.99: the probability of QueryType
	Probabilities   Shares   `json:"probabilities,omitempty"` // of each type; they add up to 1
	Saves           bool     `json:"saves,omitempty"`         // an Action whose words ask for something to be kept
	KeywordsMatched []string `json:"keywords_matched,omitempty"`
	Matches         []Match  `json:"matches,omitempty"`
}

// Probabilities for a text without words; for one whose words were hardly met in training, which may be about anything,
// most likely the outside world; and for a trace or a piece of a program without any words, which is mostly the user's
// own.
var (
	nothingSaid  = []float64{code: 0.2, docs: 0.2, web: 0.2, chat: 0.2, write: 0.2}
	nothingKnown = []float64{code: 0.2, docs: 0.2, web: 0.3, chat: 0.2, write: 0.1}
	onlyPasted   = []float64{code: 0.78, docs: 0.02, web: 0.2, chat: 0, write: 0}
)

// Classify says what a question is about and which sources it needs.
func Classify(q Query) Classification {
	parsed := parseText(q.Text)
	seen := parsed.signs(q)
	switch {
	case len(parsed.tokens) == 0:
		return newClassification(Conversational, nothingSaid)
	case !slices.ContainsFunc(parsed.tokens, func(tok token) bool { return tok.kind != pasted }):
		return newClassification(Code, onlyPasted)
	case !isFamiliar(seen):
		return newClassification(Research, nothingKnown)
	}
	p := weights().Probabilities(seen)
	if q.Piped || likeliest(p) == write && !parsed.wishesChange(q) {
		p = withoutType(p, write)
	}
	c := newClassification(types[likeliest(p)], p)
	c.Saves = c.QueryType == Action && !q.Handed && asksToSave(q.Text)
	c.explain(parsed, q, seen)
	return c
}

// likeliest is the index of the greatest probability, the first one of equals.
func likeliest(p []float64) int { return slices.Index(p, slices.Max(p)) }

// wishesChange says whether the first or the last sentence, by itself, requests a change rather than asks a question.
func (t *parsedText) wishesChange(q Query) bool {
	ends := [][2]int{t.sentences[0], t.sentences[len(t.sentences)-1]}
	return len(t.sentences) == 1 || slices.ContainsFunc(ends, func(in [2]int) bool {
		return likeliest(weights().Probabilities(parseText(t.joinTokens(in[0], in[1])).signs(q))) == write
	})
}

// newClassification makes a classification from its type and the probabilities of all types.
func newClassification(t Type, probabilities []float64) Classification {
	c := Classification{QueryType: t, Probabilities: Shares{}}
	rest := 1.0
	for k, p := range probabilities {
		if types[k] != t {
			c.Probabilities[types[k]] = rounded(p, 4)
			rest -= rounded(p, 4)
		}
	}
	c.Probabilities[t] = rounded(rest, 4)
	c.Confidence = min(rounded(rest, 2), maxConfidence)
	c.NeedsCode, c.NeedsVault, c.NeedsWeb = t.Needs()
	return c
}

// maxConfidence bounds the confidence: words alone are never certain.
const maxConfidence = 0.99

func rounded(x float64, places int) float64 {
	by := math.Pow10(places)
	return math.Round(x*by) / by
}

// withoutType sets the probability of one type to 0; the others keep their proportions. If nothing is left, it is chat.
func withoutType(p []float64, not int) []float64 {
	out, rest := make([]float64, typeCount), 1-p[not]
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

// maxMatches bounds the words that an explanation names.
const maxMatches = 6

// explain lists the words with the greatest weight for or against the type. Neighbours share what they add together.
func (c *Classification) explain(t *parsedText, q Query, seen []Sign) {
	class := slices.Index(types[:], c.QueryType)
	gains, earlier := make([]float64, len(t.tokens)), 0.0
	for _, s := range seen {
		gain := weights().gain(s, class)
		for at := s.from[0]; at < s.from[1]; at++ {
			gains[at] += gain / float64(s.from[1]-s.from[0])
		}
		if s.role == before {
			earlier += gain
		}
	}
	if earlier = rounded(earlier, 2); earlier != 0 {
		c.Matches = append(c.Matches, Match{"before", []string{string(q.PreviousType)}, earlier})
	}
	for i, tok := range t.tokens {
		if gain := rounded(gains[i], 2); gain != 0 {
			c.Matches = append(c.Matches, Match{tok.kind.String(), []string{text.Brief(tok.raw, maxWordLetters)}, gain})
		}
	}
	slices.SortStableFunc(c.Matches, func(a, b Match) int {
		return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight))
	})
	c.Matches = c.Matches[:min(len(c.Matches), maxMatches)]
	for _, m := range c.Matches {
		if m.Weight > 0 && m.Feature != "before" && !slices.Contains(c.KeywordsMatched, m.Words[0]) {
			c.KeywordsMatched = append(c.KeywordsMatched, m.Words[0])
		}
	}
	slices.SortStableFunc(c.KeywordsMatched, func(a, b string) int { return cmp.Compare(commonRank(a), commonRank(b)) })
}

// commonRank is 1 for a word that occurs in all kinds of questions, and 0 for one that tells a person something.
func commonRank(keyword string) int {
	if w := strings.ToLower(keyword); search.IsStop(w) || search.IsAsking(w) || search.IsLight(w) {
		return 1
	}
	return 0
}
