package witness

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sibyl/internal/inquiry/record"
	"sibyl/internal/model"
	"sibyl/internal/schema"
	"sibyl/internal/text"
	"sibyl/internal/text/search"
)

// What documents say of the same thing is found by search, and a model is asked of two such statements whether both can
// be true: whoever reads for an answer is content with the first one.

// The bounds of comparing.
const (
	mostCompared = 6   // pairs of statements for an answer
	mostAlike    = 2   // others that a statement is compared with
	leastAlike   = 0.5 // of the score of a statement with all words that it shares with others
)

// PurposeCompare names the requests to a model that compares two statements.
const PurposeCompare = "inquiry.compare"

// Comparison is what a model read in two statements of documents.
type Comparison struct {
	Words  [2]string   `json:"words"` // the statements, letter by letter
	First  Stated      `json:"first"`
	Second Stated      `json:"second"`
	Kind   record.Kind `json:"kind"` // of the values
}

// Stated is what a statement says, in a model's words.
type Stated struct {
	Property string `json:"property" max:"120"` // “date the bridge was closed”
	Value    string `json:"value" max:"120"`    // “4 March 2021”
}

// modelComparison is a model's reply.
type modelComparison struct {
	First  Stated `json:"first"`
	Second Stated `json:"second"`
	Kind   string `json:"kind" enum:"number,date,name,negation,other"`
}

// Differs says whether the two statements give one thing two values. A model of 1.5B tells well what each of them
// states, and badly whether both can be true: so it is asked for the first, and the values are compared.
func (c *Comparison) Differs() bool {
	if !slices.Equal(search.Words(c.First.Property), search.Words(c.Second.Property)) {
		return false
	}
	first, second := search.Words(c.First.Value), search.Words(c.Second.Value)
	if figures := figuresOf(first); len(figures) > 0 && slices.Equal(figures, figuresOf(second)) {
		return false
	}
	return len(first) > 0 && len(second) > 0 && !containsAll(first, second) && !containsAll(second, first)
}

// Description says in what they differ: “date the bridge was closed: 4 March 2021, 5 March 2021”.
func (c *Comparison) Description() string {
	return fmt.Sprintf("%s: %s, %s", c.First.Property, c.First.Value, c.Second.Value)
}

// figuresOf are the words with digits.
func figuresOf(words []string) (figures []string) {
	for _, word := range words {
		if strings.ContainsFunc(word, unicode.IsDigit) {
			figures = append(figures, word)
		}
	}
	return figures
}

func containsAll(words, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !slices.Contains(words, part) })
}

// compare has the model compare the statements of the quotations with those that resemble them, and returns the
// quotations with the statements that differ. Statements of earlier answers were compared then. If the model fails, the
// answer says so, and what was compared stays.
func (w *documentWitness) compare(ctx context.Context, quotes []quote, earlier []Exchange, a *Answer) []quote {
	s := w.statements()
	isKnown := func(statement string) bool {
		return slices.ContainsFunc(earlier, func(e Exchange) bool { return strings.Contains(e.Answer, statement) })
	}
	instructions, examples := model.SplitExamples(w.Comparing)
	for _, p := range s.alike(quotes, isKnown) {
		c := Comparison{Words: [2]string{s.index.units[p.first].text, s.index.units[p.second].text}}
		message := model.Message{Role: model.User, Text: fmt.Sprintf("First: %s Second: %s", text.OneLine(c.Words[0]),
			text.OneLine(c.Words[1]))}
		req := model.Request{System: instructions, Purpose: PurposeCompare, MaxOutputTokens: model.BoundReading,
			Messages: append(slices.Clip(examples), message)}
		var said modelComparison
		err := w.ask(ctx, req, model.Schema{Name: "comparison", JSON: schema.Answer[modelComparison]()}, &said, a)
		if err != nil {
			a.Notes = append(a.Notes, notCompared.With(modelFailure(err)))
			break
		}
		c.First, c.Second, c.Kind = said.First, said.Second, record.Kind(said.Kind)
		a.Compared = append(a.Compared, c)
		if c.Differs() {
			quotes = withQuote(withQuote(quotes, s.quotes[p.first]), s.quotes[p.second])
		}
	}
	return quotes
}

// withQuote adds a quotation, unless it is a part of one.
func withQuote(quotes []quote, q quote) []quote {
	isIn := func(k quote) bool { return k.chunk == q.chunk && k.From <= q.From && q.To <= k.To }
	if slices.ContainsFunc(quotes, isIn) {
		return quotes
	}
	return append(quotes, q)
}

// statements are all sentences of the documents, which are searched for those that resemble each other.
type statements struct {
	quotes []quote
	index  *index
}

func (w *documentWitness) newStatements() *statements {
	all := make([]int, len(w.chunks))
	for i := range all {
		all[i] = i
	}
	quotes, units := w.sentences(all)
	return &statements{quotes, newIndex(units)}
}

// pair is two statements, as indices, with how alike they are.
type pair struct {
	first, second int
	alike         float64
}

// alike pairs statements of these quotations with others that share their words, the most alike first. Figures do not
// count: in them statements on the same thing may differ.
func (s *statements) alike(quotes []quote, isKnown func(statement string) bool) (pairs []pair) {
	units := s.index.units
	for i, q := range s.quotes {
		isQuoted := func(k quote) bool { return k.chunk == q.chunk && k.From < q.To && q.From < k.To }
		if !slices.ContainsFunc(quotes, isQuoted) || isKnown(units[i].text) {
			continue
		}
		terms := slices.DeleteFunc(s.index.terms(withoutFigures(units[i].text), units[i].language), func(t term) bool {
			return s.index.holding(t) < 2
		})
		scores := s.index.ownScores(terms)
		found := 0
		for _, k := range rankByScore(scores) {
			alike := scores[k] / scores[i]
			if alike < leastAlike || found == mostAlike {
				break
			}
			if k == i || text.Fold(units[k].text) == text.Fold(units[i].text) {
				continue
			}
			found++
			pairs = append(pairs, pair{min(i, k), max(i, k), alike})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.second, b.second), cmp.Compare(b.alike, a.alike))
	})
	pairs = slices.CompactFunc(pairs, func(a, b pair) bool { return a.first == b.first && a.second == b.second })
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.alike, a.alike) })
	return pairs[:min(len(pairs), mostCompared)]
}

// withoutFigures is a text without the words that have digits.
func withoutFigures(content string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(content), func(word string) bool {
		return strings.ContainsFunc(word, unicode.IsDigit)
	}), " ")
}
