// Package classify finds out where the answer to a question stands: in the code, in the notes, in the world outside, or nowhere
// because nothing is asked (FR-015 in docs/requirements.md).
//
// A question is tokenized, its sentences are read for what they do (ask, show, tell, change), and rules find named features in it, each with
// weights for and against the types. What they found, and the words and letters themselves, are signs that a learned classifier weighs: it says how
// probable each type is. It is trained from the questions in the folder training, which explains how one is added.
//
// Guarantees: pure and deterministic, to the bit the same on every machine; any input, valid or not, gives a valid result, with probabilities
// that add up to 1; cost is bounded, because at most 5 KB of a question are read.
package classify

import (
	"math"
	"slices"
	"strconv"
	"strings"
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

// balance says how much a feature speaks for (or against) each type. 1 is a hint, 2 decides if nothing contradicts,
// 4 overrules hints to the contrary.
type balance [columns]float64

// Match is one feature found in a question.
type Match struct {
	Feature string   `json:"feature"`
	Words   []string `json:"words"`
	Weight  float64  `json:"weight"` // what it added to the chosen type's score; 0 or less: it spoke for another
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
	found := append(find(t), findFollowUp(t, q)...)
	seen := signsOf(t, q, found)
	defer seen.free()
	signs := seen.all
	switch met, without := meets(signs, found); {
	case without && !met:
		return concluded(Conversational, nothingSaid[:])
	case !met:
		return concluded(Research, nothingKnown[:])
	}
	p := weights().Probabilities(signs)
	if len(t.clauses) == 0 {
		p = onlyPasted[:]
	}
	if asksFirst(t) && !wishes(found) {
		p = without(p, write)
	}
	best := 0
	for k := range p {
		if p[k] > p[best] {
			best = k
		}
	}
	c := concluded(types[best], p)
	c.explain(signs, found)
	if c.QueryType == Action {
		if own := ownWords(q.Text); own != "" && own != strings.TrimSpace(q.Text) {
			q.Text = own
			if said := Classify(q); said.QueryType != Action {
				return said
			}
		}
	}
	return c
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

// asksFirst says whether a text begins with a question, or with a wish to be shown something: what it is about wishes for nothing by itself.
func asksFirst(t *text) bool {
	return len(t.clauses) > 0 && (t.clauses[0].act == asking || t.clauses[0].act == reading)
}

// wishes says whether the rules found a wish for a change, and nothing that outweighs it.
func wishes(found []hit) bool {
	s := sum(found)
	return s[write] > 0 && s[write] >= slices.Max(s[:])
}

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
	best := chat // where none is likelier, nothing is looked up
	for k := range p {
		if p[k] > p[best] {
			best = k
		}
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

// hit is a feature found, with its weights and the words that show it.
type hit struct {
	name   string
	weight balance
	words  []string
}

// score is the hit's contribution to a type. Further words of the same feature add less and less; against a type it counts once.
func (h hit) score(column int) float64 {
	w := h.weight[column]
	if w <= 0 {
		return w
	}
	return w * (2 - math.Pow(0.5, float64(len(h.words)-1)))
}

func sum(hits []hit) (s balance) {
	for _, h := range hits {
		for i := range s {
			s[i] += h.score(i)
		}
	}
	return s
}

// find returns the features of a text in the order of their tables.
func find(t *text) []hit {
	out := make([]hit, 0, 16)
	for i, f := range lex().features {
		var words []string
		for _, o := range t.seen {
			if o.feature == i {
				words = append(words, t.span(o.start, o.end))
			}
		}
		if len(words) > 0 {
			out = append(out, hit{f.name, f.weight, unique(words, maxWords)})
		}
	}
	for _, group := range [...][]frame{orderFrames, projectFrames, talkFrames} {
		for _, f := range group {
			if words := f.words(t); len(words) > 0 {
				out = append(out, hit{f.name, f.weight, words})
			}
		}
	}
	return append(out, findAskedFor(t)...)
}

// findAskedFor strengthens the type that the thing asked for belongs to, by its last word that belongs to any.
func findAskedFor(t *text) []hit {
	start, end, where := askedFor(t)
	for i := len(t.seen) - 1; i >= 0; i-- {
		o := t.seen[i]
		if o.end <= start || o.start >= end || lex().TimeWords[t.words[o.end-1]] {
			continue
		}
		for column, w := range lex().features[o.feature].weight {
			if w > 0 && column != chat && (!where || column == docs) {
				h := hit{name: "asked-for", words: []string{t.span(o.start, o.end)}}
				h.weight[column] = 1.5
				return []hit{h}
			}
		}
	}
	return nil
}

// occurrence is a word or phrase of the vocabulary at tokens start to end-1.
type occurrence struct{ feature, start, end int }

// occurrences finds the vocabulary in a text, in its order. Words inside a phrase say nothing by themselves.
func occurrences(tokens []token) (out []occurrence) {
	covered := 0
	for i, tok := range tokens {
		if tok.kind != word || tok.quoted {
			continue
		}
		for _, p := range lex().vocabulary.phrases[tok.norm] {
			if p.matches(tokens[i:]) {
				out = append(out, occurrence{p.feature, i, i + len(p.words)})
				covered = max(covered, i+len(p.words))
			}
		}
		if i < covered {
			continue
		}
		for _, f := range lex().of(tok.norm) {
			out = append(out, occurrence{f, i, i + 1})
		}
	}
	return out
}

// matches says whether the phrase begins the tokens; its last word may be a plural.
func (p phrase) matches(ts []token) bool {
	last := len(p.words) - 1
	if len(ts) <= last || !hasPrefix(ts, p.words[:last]) || ts[last].quoted {
		return false
	}
	return ts[last].norm == p.words[last] || ts[last].norm == p.words[last]+"s"
}

func rounded(x float64) float64 { return math.Round(x*100) / 100 }

// exact is as much of a probability as is told.
func exact(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// maxWords bounds the words kept of one feature; further ones would add next to nothing.
const maxWords = 8

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
