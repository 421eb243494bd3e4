package classify

import (
	"slices"
	"strings"
)

// text is a tokenized question with what several features want to know about it.
type text struct {
	tokens  []token
	words   []string // norms of the tokens
	clauses []clause
	seen    []occurrence
	covered []bool   // tokens that are part of a known phrase
	ours    []string // words that tie the question to the project
	asks    bool     // some clause asks, wants to be shown, or wants a change
}

func newText(raw string) *text {
	t := &text{tokens: tokenize(bounded(raw))}
	correct(t.tokens)
	t.clauses = clauses(t.tokens)
	t.seen = occurrences(t.tokens)
	t.covered, t.words = make([]bool, len(t.tokens)), make([]string, 0, len(t.tokens))
	for _, tok := range t.tokens {
		t.words = append(t.words, tok.norm)
	}
	for _, o := range t.seen {
		for i := o.start; i < o.end && o.end-o.start > 1; i++ {
			t.covered[i] = true
		}
	}
	for _, c := range t.clauses {
		t.asks = t.asks || c.act != telling
	}
	t.ours = ours(t)
	return t
}

// pairs returns the neighbouring words, by their positions, that are wanted.
func (t *text) pairs(wanted func(before, at int) bool) (found []string) {
	for i := 1; i < len(t.words); i++ {
		if wanted(i-1, i) {
			found = append(found, t.span(i-1, i+1))
		}
	}
	return found
}

// span joins the words of tokens start to end-1.
func (t *text) span(start, end int) string { return strings.Join(t.words[start:end], " ") }

// known says whether a token is part of the vocabulary.
func (t *text) known(i int) bool {
	return slices.ContainsFunc(t.seen, func(o occurrence) bool { return o.start <= i && i < o.end })
}

// frame is a feature that the build of the sentences shows: to a match on the whole text, which returns the words that show it, or to one on each
// clause, of which the first that is not "" counts, or to one on each token. It says nothing of a text for which unless holds.
type frame struct {
	name   string
	weight balance
	match  func(*text) []string
	clause func(*text, clause) string
	token  func(token) bool
	unless func(*text) bool
}

// words are those that show the feature in a text.
func (f frame) words(t *text) []string {
	switch {
	case f.unless != nil && f.unless(t):
		return nil
	case f.clause != nil:
		return t.first(f.clause)
	case f.token != nil:
		return unique(tokensLike(t, f.token), maxWords)
	}
	return unique(f.match(t), maxWords)
}

// when gives the words that show a feature, if it is there.
func when(is bool, words string) string {
	if is {
		return words
	}
	return ""
}

func (t *text) first(match func(*text, clause) string) []string {
	for _, c := range t.clauses {
		if words := match(t, c); words != "" {
			return []string{words}
		}
	}
	return nil
}

// opens finds a part of a clause that begins with one of the phrases.
func opens(t *text, starts phrases) []string {
	for _, c := range t.clauses {
		for at := range c.words {
			if at > 0 && !joins(c.words[at-1]) {
				continue
			}
			if start := starts.at(c.words[at:]); start != nil {
				return []string{strings.Join(start, " ")}
			}
		}
	}
	return nil
}

// tokensLike returns, as typed, the tokens that keep accepts.
func tokensLike(t *text, keep func(token) bool) (found []string) {
	for _, tok := range t.tokens {
		if keep(tok) {
			found = append(found, tok.raw)
		}
	}
	return found
}

// askedFor returns the noun phrase that a clause asks for, as a range of tokens: in "what is the decision on the log format" it is the decision
// that is wanted, and the log format only says which. Of "the key points of the discussion" it is the discussion. where
// tells the question for a place, which only documents answer by what they are.
func askedFor(t *text) (start, end int, where bool) {
	for _, c := range t.clauses {
		if c.act == writing || c.act == telling && lex().RemarkHeads[c.head] || lex().Manner[c.head] || lex().Copulas[c.head] && len(c.words) > 1 && !lex().Existential[c.words[1].norm] {
			continue
		}
		start, end := nounPhrase(c.words, 0)
		if start > 0 && containsAny(c.words[1:start], lex().CaseWords) {
			continue // it stands in the case that is asked about
		}
		for end > start && end < len(c.words) && c.words[end].norm == "of" && !t.known(c.first+end-1) {
			start, end = nounPhrase(c.words, end)
		}
		if end > start {
			return c.first + start, c.first + end, c.head == "where"
		}
	}
	return 0, 0, false
}

// verbLike says whether a word within a noun phrase is more likely the verb that ends it.
func verbLike(w string) bool {
	return lex().SpeechVerbs[w] || lex().EmptyVerbs[w] || slices.ContainsFunc(lex().of(w), func(f int) bool {
		return lex().features[f].name == "program-verb" || lex().features[f].name == "done-to-part"
	})
}

// nounPhrase returns the first run of up to four words that carry meaning, from position i on.
func nounPhrase(words []token, i int) (start, end int) {
	for i < len(words) && words[i].kind == word && (lex().StopWords[words[i].norm] || lex().ReadVerbs[words[i].norm]) {
		i++
	}
	end = i
	for end < len(words) && end < i+4 && words[end].kind == word && !lex().StopWords[words[end].norm] && (end == i || !verbLike(words[end].norm)) {
		end++
		if words[end-1].after > within {
			break
		}
	}
	return i, end
}
