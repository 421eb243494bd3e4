package code

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	"sibyl/internal/text/search"
)

const (
	maxTerms  = 24             // distinct words of one search; the first ones count
	maxPhrase = search.MaxPart // bytes of one word

	fillerWeight = 0.3  // a word that says little
	lightWeight  = 0.2  // a word of a closed class
	partWeight   = 0.25 // a word inside an identifier that is itself a term, or inside a path that exists
	ownerWeight  = 0.6  // Server in Server.Shutdown
)

// term is one thing to look for. Matching ignores case, word endings and where in an identifier it stands.
type term struct {
	word     string   // in lower case
	stem     string   // what all its forms begin with
	aliases  []string // other ways to write it, from the table of abbreviations
	compound bool     // an identifier of several words: underscores inside it don't matter, endings do
	head     int      // how many bytes of it surely stand together: its first word
	weight   float64
	foreign  bool // a word of another language: what it merely begins with is no abbreviation of it
}

// queryWords is what a question asks for.
type queryWords struct {
	terms   []term
	hints   []string // words that look like a path or a package, in lower case
	named   []named  // definitions that are asked for by name
	tests   bool     // it asks about tests: they rank as other files do
	value   bool     // it asks for a number or a setting
	callers bool     // it asks who uses what it names
	foreign bool     // it is not in English
	more    bool     // terms beyond maxTerms were left out
}

// named is a definition as a question writes it: Server.Shutdown, http.Server, idleConnTimeout.
type named struct{ owner, name string }

// parseQuery takes a question, or a list of words and identifiers, apart.
func parseQuery(question string, extra []string) queryWords {
	q := queryWords{foreign: search.IsForeign(question), value: valueAsked().MatchString(question), callers: callersAsked().MatchString(question)}
	for _, chunk := range append([]string{question}, extra...) {
		for token := range strings.FieldsSeq(chunk) {
			q.token(token, false)
		}
	}
	q.bounds(question)
	if len(q.terms) == 0 { // nothing but stop words: then they are meant
		for _, chunk := range append([]string{question}, extra...) {
			for token := range strings.FieldsSeq(chunk) {
				q.token(token, true)
			}
		}
	}
	if len(q.terms) > maxTerms {
		// The heaviest stay, in their order.
		byWeight := slices.Clone(q.terms)
		slices.SortStableFunc(byWeight, func(a, b term) int { return cmp.Compare(b.weight, a.weight) })
		least := byWeight[maxTerms-1].weight
		kept := q.terms[:0]
		for _, t := range q.terms {
			if t.weight >= least && len(kept) < maxTerms {
				kept = append(kept, t)
			}
		}
		q.terms, q.more = kept, true
	}
	return q
}

// isPath reports names with slashes between them: src/main.go, net/http/.
func isPath(token string) bool {
	names := strings.Split(strings.TrimSuffix(token, "/"), "/")
	return len(names) > 1 && !slices.ContainsFunc(names, func(name string) bool {
		return name == "" || strings.ContainsFunc(name, func(r rune) bool { return !isNameRune(r) && !strings.ContainsRune(".-@+", r) })
	})
}

// isQualified reports names joined as code joins them.
func isQualified(names []string) bool {
	return len(names) > 1 && !slices.ContainsFunc(names, func(name string) bool {
		return name == "" || '0' <= name[0] && name[0] <= '9' || strings.ContainsFunc(name, func(r rune) bool { return !isNameRune(r) })
	})
}

func isNameRune(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// splitSymbol takes a.b, a::b, a->b and a#b apart.
func splitSymbol(symbol string) []string {
	return strings.Split(strings.NewReplacer("::", ".", "->", ".", "#", ".").Replace(symbol), ".")
}

func notInNames(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// token adds what one word of a question asks for.
func (q *queryWords) token(token string, stopToo bool) {
	token = strings.TrimFunc(token, notInNames)
	token = strings.TrimSuffix(strings.TrimSuffix(token, "'s"), "’s")
	parts := splitSymbol(token)
	switch {
	case token == "" || len(token) > maxPhrase:
	case isPath(token):
		hint := strings.ToLower(strings.TrimSuffix(token, "/"))
		q.hints = append(q.hints, hint)
		for part := range strings.SplitSeq(hint, "/") {
			q.identifier(strings.TrimSuffix(part, path.Ext(part)), 1)
		}
	case isQualified(parts):
		q.hints = append(q.hints, strings.ToLower(parts[0]))
		if isEnding(parts[len(parts)-1]) { // a file, such as transport.go
			q.hints = append(q.hints, strings.ToLower(token))
			parts = parts[:len(parts)-1]
		} else {
			q.named = append(q.named, named{owner: parts[len(parts)-2], name: parts[len(parts)-1]})
		}
		for i, part := range parts {
			weight := ownerWeight
			if i == len(parts)-1 {
				weight = 1
			}
			q.identifier(part, weight)
		}
	default:
		for word := range strings.FieldsFuncSeq(token, notInNames) {
			if stopToo || !q.isStop(word) && !isStop(token) {
				if search.CountParts(word) > 1 {
					q.named = append(q.named, named{name: word})
				}
				q.identifier(word, 1)
			}
		}
	}
}

// isStop is isStop in the language of the question.
func (q *queryWords) isStop(word string) bool {
	return isStop(word) || q.foreign && search.IsLight(folded(word))
}

// folded is a word in lower case, without its accents.
func folded(word string) string { return strings.Join(search.Words(word), "") }

func isStop(word string) bool {
	word = strings.ToLower(word)
	return search.IsStop(word) || search.IsAsking(word)
}

// identifier adds a name; one of several words is added as a whole and, with less weight, in parts.
func (q *queryWords) identifier(name string, weight float64) {
	parts := search.Parts(name)
	if len(parts) > 1 {
		whole := strings.Join(parts, "")
		q.add(term{word: whole, stem: whole, compound: true, head: len(parts[0]), weight: weight})
		weight *= partWeight
	}
	for _, part := range parts {
		q.word(part, weight)
	}
}

func (q *queryWords) word(word string, weight float64) {
	if word == "test" || word == "tests" {
		q.tests = true
	}
	if len(word) < 2 {
		return
	}
	if q.foreign {
		if parts := search.InEnglish(folded(word)); parts != nil {
			for _, ways := range parts {
				q.add(term{word: ways[0], aliases: slices.Concat(search.Abbreviations(ways[0]), ways[1:]), weight: weight})
			}
			return
		}
	}
	switch {
	case search.IsLight(word):
		weight *= lightWeight
	case search.IsWeak(word):
		weight *= fillerWeight
	}
	aliases := slices.Concat(search.Abbreviations(word), search.Forms(word))
	if q.foreign {
		aliases = append(aliases, search.Cognates(folded(word))...)
	}
	q.add(term{word: word, aliases: aliases, weight: weight, foreign: q.foreign})
}

// add adds a term, or its weight to what has the same stem.
func (q *queryWords) add(t term) {
	if !t.compound {
		t.stem = search.Stem(t.word)
		t.head = len(t.stem)
	}
	for i := range q.terms {
		if have := &q.terms[i]; have.stem == t.stem {
			have.weight = max(have.weight, t.weight)
			return
		}
	}
	q.terms = append(q.terms, t)
}
