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
	maxTerms  = 24             // distinct words of one search; the weightiest count
	maxPhrase = search.MaxPart // bytes of one word

	fillerWeight = 0.3  // a word that says little
	lightWeight  = 0.2  // a word of a closed class
	partWeight   = 0.25 // a word inside an identifier that is itself a term, or inside a path that exists
	ownerWeight  = 0.6  // Server in Server.Shutdown
)

// term is a word to search for. Matching ignores case, word endings and the place in an identifier.
type term struct {
	word       string   // in lower case
	stem       string   // what all its forms begin with
	aliases    []string // other ways to write it, from the table of abbreviations
	isCompound bool     // an identifier of several words: underscores inside it don't matter, endings do
	weight     float64
	isForeign  bool // a word of another language: its beginning is not taken for an abbreviation of it
	isGuessed  bool // two words of the question that may be written as one
}

// queryWords is a parsed question.
type queryWords struct {
	terms       []term
	hints       []string          // words that look like a path or a package, in lower case
	definitions []namedDefinition // definitions that are asked for by name
	aboutTests  bool              // it asks about tests: they rank as other files do
	asksCallers bool              // it asks who uses what it names
	isForeign   bool              // it is not in English
	hasMore     bool              // terms beyond maxTerms were left out
	begun       bool              // its first word was read: a capital tells a name from here on
}

// namedDefinition is a definition as a question writes it: Server.Shutdown, http.Server, idleConnTimeout.
type namedDefinition struct{ owner, name string }

// callersAsked matches questions that ask who uses something.
var callersAsked = pattern(`(?i)\b(who|what|which [\pL]+|where) (calls?|uses?|invokes?)\b|` +
	`\bwhere (is|are|does|do) \S+ (get )?(called|used|invoked)\b|\b(callers|usages?|uses|users) of\b|` +
	`\b(wer|was|welche\w* \w+) (ruft|benutzt|verwendet|nutzt)\b|\bwo wird \S+ (aufgerufen|benutzt|verwendet)\b|` +
	`\bquem (chama|usa)\b|\bonde \S+ é (chamad|usad)[oa]\b`)

// parseQuery parses a question, or a list of words and identifiers.
func parseQuery(question string) queryWords {
	q := queryWords{isForeign: search.IsForeign(question), asksCallers: callersAsked().MatchString(question)}
	tokens := strings.Fields(question)
	for _, token := range tokens {
		q.addToken(token, false)
		q.begun = true
	}
	if len(q.terms) == 0 { // only stop words: then search for them
		for _, token := range tokens {
			q.addToken(token, true)
		}
	}
	if q.hasMore = len(q.terms) > maxTerms; q.hasMore {
		slices.SortStableFunc(q.terms, func(a, b term) int { return cmp.Compare(b.weight, a.weight) })
		q.terms = q.terms[:maxTerms]
	}
	q.addJoinedWords(tokens)
	return q
}

var (
	pathForm      = pattern(`^[\w.@+-]+(/[\w.@+-]+)+/?$`)                // src/main.go, net/http/
	qualifiedForm = pattern(`^[A-Za-z_]\w*((\.|::|->|#)[A-Za-z_]\w*)+$`) // names joined as code joins them
)

// splitSymbol splits a.b, a::b, a->b and a#b.
func splitSymbol(symbol string) []string {
	return strings.Split(strings.NewReplacer("::", ".", "->", ".", "#", ".").Replace(symbol), ".")
}

func isNameRune(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

func notInNames(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// addToken adds one word of a question: as a path, a name of code, or plain words. Stop words only count with stopToo.
func (q *queryWords) addToken(token string, stopToo bool) {
	token = strings.TrimFunc(token, notInNames)
	token = strings.TrimSuffix(strings.TrimSuffix(token, "'s"), "’s")
	switch {
	case token == "" || len(token) > maxPhrase:
	case pathForm().MatchString(token):
		hint := strings.ToLower(strings.TrimSuffix(token, "/"))
		q.hints = append(q.hints, hint)
		for part := range strings.SplitSeq(hint, "/") {
			q.addIdentifier(strings.TrimSuffix(part, path.Ext(part)), 1)
		}
	case qualifiedForm().MatchString(token):
		parts := splitSymbol(token)
		q.hints = append(q.hints, strings.ToLower(parts[0]))
		if languages().byEnding["."+parts[len(parts)-1]] != nil { // a file, such as transport.go
			q.hints = append(q.hints, strings.ToLower(token))
			parts = parts[:len(parts)-1]
		} else {
			owner, name := parts[len(parts)-2], parts[len(parts)-1]
			q.definitions = append(q.definitions, namedDefinition{owner: owner, name: name})
		}
		for i, part := range parts {
			weight := ownerWeight
			if i == len(parts)-1 {
				weight = 1
			}
			q.addIdentifier(part, weight)
		}
	default:
		for word := range strings.FieldsFuncSeq(token, notInNames) {
			if stopToo || !q.isStop(word) && !isStop(token) {
				if search.CountParts(word) > 1 {
					q.definitions = append(q.definitions, namedDefinition{name: word})
				}
				q.addIdentifier(word, 1)
			}
		}
	}
}

// isStop says whether a word is a stop word in English, or a light word in the question's language.
func (q *queryWords) isStop(word string) bool {
	return isStop(word) || q.isForeign && search.IsLight(foldWord(word))
}

// foldWord returns a word in lower case, without accents.
func foldWord(word string) string { return strings.Join(search.Words(word), "") }

func isStop(word string) bool {
	word = strings.ToLower(word)
	return search.IsStop(word) || search.IsAsking(word)
}

// addJoinedWords adds pairs of neighbouring words as one, until there are maxTerms: a question with "back up" finds
// "backup" and "BackUp".
func (q *queryWords) addJoinedWords(words []string) {
	for i := 1; i < len(words) && len(q.terms) < maxTerms; i++ {
		first, second := strings.ToLower(words[i-1]), strings.ToLower(strings.TrimRight(words[i], ".,;:!?"))
		if isWord(first) && isWord(second) && !q.isStop(first) && !q.isStop(second) {
			weight := partWeight
			if search.IsLight(second) {
				weight = 1
			}
			both := first + second
			q.addTerm(term{word: both, stem: both, isCompound: true, weight: weight, isGuessed: true})
		}
	}
}

func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || 'z' < r })
}

// addIdentifier adds a name. A name of several words is added as a whole and, with less weight, in parts.
func (q *queryWords) addIdentifier(name string, weight float64) {
	isName := q.begun && unicode.IsUpper(rune(name[0]))
	parts := search.Parts(name)
	if len(parts) > 1 {
		whole := strings.Join(parts, "")
		q.addTerm(term{word: whole, stem: whole, isCompound: true, weight: weight})
		weight *= partWeight
	}
	for _, part := range parts {
		q.addWord(part, weight, isName)
	}
}

// addWord adds a word. A name is one also if it is spelt as a word that says little.
func (q *queryWords) addWord(word string, weight float64, isName bool) {
	if word == "test" || word == "tests" {
		q.aboutTests = true
	}
	if len(word) < 2 {
		return
	}
	if q.isForeign {
		if parts := search.InEnglish(foldWord(word)); parts != nil {
			for _, ways := range parts {
				q.addTerm(term{word: ways[0], aliases: slices.Concat(search.Abbreviations(ways[0]), ways[1:]),
					weight: weight})
			}
			return
		}
	}
	switch {
	case isName:
	case search.IsLight(word):
		weight *= lightWeight
	case search.IsWeak(word):
		weight *= fillerWeight
	}
	aliases := slices.Concat(search.Abbreviations(word), search.Forms(word))
	if q.isForeign {
		aliases = append(aliases, search.Cognates(foldWord(word))...)
	}
	q.addTerm(term{word: word, aliases: aliases, weight: weight, isForeign: q.isForeign})
}

// addTerm adds a term. If there is one with the same stem, that gets the larger weight of the two.
func (q *queryWords) addTerm(t term) {
	if !t.isCompound {
		t.stem = search.Stem(t.word)
	}
	for i := range q.terms {
		if have := &q.terms[i]; have.stem == t.stem {
			have.weight = max(have.weight, t.weight)
			return
		}
	}
	q.terms = append(q.terms, t)
}
