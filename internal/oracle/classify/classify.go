// Package classify finds out where the answer to a question stands: in the code, in the notes, in the world outside, or nowhere
// because nothing is asked (FR-015 in docs/requirements.md).
//
// A question is tokenized. Its words, their neighbours and letters, how it is built and what was asked before are signs that a learned classifier weighs:
// it says how probable each type is. It is trained from the questions in the folder training, which explains how one is added.
//
// Guarantees: pure and deterministic, to the bit the same on every machine; any input, valid or not, gives a valid result, with probabilities
// that add up to 1; cost is bounded, because at most 5 KB of a question are read.
package classify

import (
	"math"
	"slices"
	"strconv"
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

// types lists them in the order of the columns of weights. On equal scores the earlier wins.
var types = [columns]Type{code: Code, docs: Documentation, web: Research, chat: Conversational, write: Action}

// Types returns every type.
func Types() []Type { return slices.Clone(types[:]) }

// Valid reports whether t is one of the five.
func (t Type) Valid() bool { return slices.Contains(types[:], t) }

// Query is a question and what came before it.
type Query struct {
	Text     string
	Previous []string // earlier questions of the session, oldest first

	// PreviousType is the type of the last question that was not conversational; empty if there is none.
	PreviousType Type
}

// Column of each type in weights.
const (
	code = iota
	docs
	web
	chat
	write
	columns
)

// Match is a word of a question, or what else counted, and how much.
type Match struct {
	Feature string   `json:"feature"` // word, name, path, link, number, sign, pasted; before: the question before it
	Words   []string `json:"words"`
	Weight  float64  `json:"weight"` // what it added to the chosen type's score, above what it added to others; below 0: it spoke for another
}

// Classification is what a question was found to be. Secondary is the runner-up among the types that read a source: where to
// look if the first source is empty. It has no value if no other came near, and is never a change.
type Classification struct {
	QueryType       Type     `json:"query_type"`
	NeedsCode       bool     `json:"needs_code"`
	NeedsVault      bool     `json:"needs_vault"`
	NeedsWeb        bool     `json:"needs_web"`
	Confidence      float64  `json:"confidence"`              // 0..0.99: the probability of QueryType
	Probabilities   Shares   `json:"probabilities,omitempty"` // of each type; they add up to 1
	KeywordsMatched []string `json:"keywords_matched,omitempty"`
	Secondary       Type     `json:"secondary,omitempty"`
	Matches         []Match  `json:"matches,omitempty"`
}

// Shares are the probabilities of types.
type Shares map[Type]float64

// byName are the types in the order of their names.
var byName = [columns]Type{Action, Code, Conversational, Documentation, Research}

// MarshalJSON writes them as a map is written, for a fraction of the work: a classification is kept with every run.
func (s Shares) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 112), '{')
	for _, t := range byName {
		if p, ok := s[t]; ok {
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), t...), '"', ':')
			b = strconv.AppendFloat(b, p, 'f', -1, 64)
		}
	}
	return append(b, '}'), nil
}

// Classify says what a question is about and which sources it needs.
func Classify(q Query) Classification {
	t := newText(q.Text)
	if len(t.tokens) == 0 {
		return concluded(Conversational, nothingSaid[:])
	}
	seen := signsOf(t, q)
	defer seen.free()
	switch met, without := meets(seen.all); {
	case without && !met:
		return concluded(Conversational, nothingSaid[:])
	case !met:
		return concluded(Research, nothingKnown[:])
	}
	p := weights().Probabilities(seen.all)
	switch {
	case t.isPasted():
		p = onlyPasted[:]
	case likeliest(p) == write && !t.wishes(q):
		p = without(p, write)
	}
	c := concluded(types[likeliest(p)], p)
	c.explain(t, q, seen)
	return c
}

// likeliest is the column of the greatest probability, the first of equals.
func likeliest(p []float64) int {
	best := 0
	for k := range p {
		if p[k] > p[best] {
			best = k
		}
	}
	return best
}

// probabilities are those of the types, by the words alone.
func (t *text) probabilities(q Query) []float64 {
	seen := signsOf(t, q)
	defer seen.free()
	return weights().Probabilities(seen.all)
}

// isPasted says that nothing stands beside a trace or a piece of a program.
func (t *text) isPasted() bool {
	return !slices.ContainsFunc(t.tokens, func(tok token) bool { return tok.kind != block })
}

// wishes says whether somebody wishes for a change in their own words, with which they begin or end: what stands in a quotation is somebody else's, and what
// a question is about wishes for nothing by itself.
func (t *text) wishes(q Query) bool {
	own := ownWords(t.raw)
	if own == "" {
		own = t.raw
	}
	said := newText(own)
	if len(said.sentences) == 0 {
		return false
	}
	if len(said.sentences) == 1 {
		return own == t.raw || likeliest(said.probabilities(q)) == write
	}
	for _, s := range []span{said.sentences[0], said.sentences[len(said.sentences)-1]} {
		if likeliest(newText(said.part(s)).probabilities(q)) == write {
			return true
		}
	}
	return false
}

// nothingSaid are the probabilities where there is no word, and nothingKnown those where none was ever met: it may be anything, and the world is larger
// than any project.
var (
	nothingSaid  = [columns]float64{code: 0.2, docs: 0.2, web: 0.2, chat: 0.2, write: 0.2}
	nothingKnown = [columns]float64{code: 0.2, docs: 0.2, web: 0.3, chat: 0.2, write: 0.1}
)

// onlyPasted are the probabilities of a trace or a piece of a program without a word beside it, of which nothing inside is read: it is most often one's own.
var onlyPasted = [columns]float64{code: 0.78, docs: 0.02, web: 0.2}

// concluded is a classification by its type and the probabilities of all, in the order of types.
func concluded(t Type, probabilities []float64) Classification {
	c := Classification{QueryType: t, Probabilities: make(Shares, columns)}
	rest := 1.0
	for k, p := range probabilities {
		if types[k] != t {
			c.Probabilities[types[k]] = exact(p)
			rest -= exact(p)
		}
	}
	c.Probabilities[t] = exact(rest)
	c.Confidence = min(rounded(c.Probabilities[t]), surest)
	c.NeedsCode, c.NeedsVault, c.NeedsWeb = t.Needs()
	for _, next := range []Type{Code, Documentation, Research} {
		if p := c.Probabilities[next]; next != t && p >= leastSecondary && (c.Secondary == "" || p > c.Probabilities[c.Secondary]) {
			c.Secondary = next
		}
	}
	return c
}

// surest bounds the confidence: words alone are never certain.
const surest = 0.99

// leastSecondary is the probability under which a runner-up is no better than any other guess.
const leastSecondary = 0.1

// without gives probabilities among which one is 0; the others keep their proportions.
func without(p []float64, not int) []float64 {
	out, rest := make([]float64, columns), 1-p[not]
	for k := range out {
		switch {
		case k == not:
		case rest > 0:
			out[k] = p[k] / rest
		default:
			out[k] = 1.0 / (columns - 1)
		}
	}
	return out
}

// Without is the classification if the question can't be of a type.
func (c Classification) Without(not Type) Classification {
	p := make([]float64, columns)
	for k, t := range types {
		p[k] = c.Probabilities[t]
	}
	p = without(p, slices.Index(types[:], not))
	best := likeliest(p)
	if p[best] == p[chat] { // nothing is looked up where nothing else is likelier
		best = chat
	}
	out := concluded(types[best], p)
	out.KeywordsMatched, out.Matches = c.KeywordsMatched, c.Matches
	return out
}

// Needs returns the sources a type needs.
func (t Type) Needs() (code, vault, web bool) {
	switch t {
	case Code:
		return true, false, false
	case Documentation, Action:
		return false, true, false
	case Research:
		return false, false, true
	}
	return false, false, false
}

func rounded(x float64) float64 { return math.Round(x*100) / 100 }

// exact is as much of a probability as is told.
func exact(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// unique returns the first limit different words, in their order. Words of which none comes twice are not copied.
func unique(words []string, limit int) []string {
	out := words[:0:0]
	for i, w := range words {
		switch {
		case len(out) == limit:
			return out
		case slices.Contains(out, w):
		case len(out) == i:
			out = words[: i+1 : i+1]
		default:
			out = append(out, w)
		}
	}
	return out
}
