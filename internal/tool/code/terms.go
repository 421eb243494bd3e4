package code

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	maxTerms  = 24  // distinct words of one search; the first ones count
	maxPhrase = 100 // bytes of one word

	fillerWeight = 0.3  // a word that says little
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
	path     string // the path hint that it came from, "" if it is a word of its own
}

// queryWords is what a question asks for.
type queryWords struct {
	terms []term
	hints []string // words that look like a path or a package, in lower case
	named []named  // definitions that are asked for by name
	tests bool     // it asks about tests: they rank as other files do
	more  bool     // terms beyond maxTerms were left out
}

// named is a definition as a question writes it: Server.Shutdown, http.Server, idleConnTimeout.
type named struct{ owner, name string }

// parseQuery takes a question, or a list of words and identifiers, apart.
func parseQuery(question string, extra []string) queryWords {
	var q queryWords
	for _, chunk := range append([]string{question}, extra...) {
		for token := range strings.FieldsSeq(chunk) {
			q.token(token, false)
		}
	}
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

var (
	pathLike  = regexp.MustCompile(`^[\w.\-@+]+(/[\w.\-@+]+)+/?$`)
	qualified = regexp.MustCompile(`^[A-Za-z_]\w*((\.|::|->|#)[A-Za-z_]\w*)+$`)
	joints    = regexp.MustCompile(`\.|::|->|#`)
)

func notInNames(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// token adds what one word of a question asks for.
func (q *queryWords) token(token string, stopToo bool) {
	token = strings.TrimFunc(token, notInNames)
	token = strings.TrimSuffix(strings.TrimSuffix(token, "'s"), "’s")
	switch {
	case token == "" || len(token) > maxPhrase:
	case pathLike.MatchString(token):
		hint := strings.ToLower(strings.TrimSuffix(token, "/"))
		q.hints = append(q.hints, hint)
		for part := range strings.SplitSeq(hint, "/") {
			q.identifier(strings.TrimSuffix(part, path.Ext(part)), 1, hint)
		}
	case qualified.MatchString(token):
		parts := joints.Split(token, -1)
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
			q.identifier(part, weight, "")
		}
	default:
		for word := range strings.FieldsFuncSeq(token, notInNames) {
			if low := strings.ToLower(word); stopToo || !stopWords[low] && !stopWords[strings.ToLower(token)] {
				q.identifier(word, 1, "")
			}
		}
	}
}

// identifier adds a name; one of several words is added as a whole and, with less weight, in parts.
func (q *queryWords) identifier(name string, weight float64, hint string) {
	parts := splitName(name)
	switch len(parts) {
	case 0:
	case 1:
		q.word(parts[0], weight, hint)
	default:
		if hint == "" {
			q.named = append(q.named, named{name: name})
		}
		whole := strings.Join(parts, "")
		q.add(term{word: whole, stem: whole, compound: true, head: len(parts[0]), weight: weight, path: hint})
		for _, part := range parts {
			q.word(part, weight*partWeight, hint)
		}
	}
}

func (q *queryWords) word(word string, weight float64, hint string) {
	if word == "test" || word == "tests" {
		q.tests = true
	}
	if fillerWords[word] {
		weight *= fillerWeight
	}
	if len(word) < 2 {
		return
	}
	stem := stemOf(word)
	aliases := abbreviations[word]
	if aliases == nil {
		aliases = abbreviations[singular(word)]
	}
	q.add(term{word: word, stem: stem, aliases: aliases, head: len(stem), weight: weight, path: hint})
}

func (q *queryWords) add(t term) {
	for i := range q.terms {
		if have := &q.terms[i]; have.stem == t.stem {
			have.weight = max(have.weight, t.weight)
			if t.path == "" {
				have.path = ""
			}
			return
		}
	}
	q.terms = append(q.terms, t)
}

// splitName takes an identifier apart into its words, in lower case.
func splitName(name string) []string {
	var parts []string
	src := append([]byte(name), make([]byte, padding)...)
	for start := 0; start < len(name); {
		if !isWord(src[start]) {
			start++
			continue
		}
		end := partEnd(src, start)
		parts = append(parts, strings.ToLower(name[start:end]))
		start = end
	}
	return parts
}

// endings that the forms of one English word differ in, the longest first.
var endings = []string{
	"ations", "ation", "ingly", "ings", "ions", "ing", "ers", "ies", "ied", "ion", "ors",
	"ed", "es", "er", "or", "ly", "th", "s", "e", "y",
}

// stemOf cuts the ending off a word when enough of it stays.
func stemOf(word string) string {
	for _, end := range endings {
		stem, ok := strings.CutSuffix(word, end)
		if !ok || len(stem) < 4 && !(len(stem) == 3 && (end == "ing" || end == "s" || end == "ed")) || !hasVowel(stem) {
			continue
		}
		if strings.HasSuffix(word, "ss") {
			return word // process is no plural
		}
		if end[0] != 's' && end != "e" && end != "y" && isDoubled(stem) {
			stem = stem[:len(stem)-1]
		}
		return stem
	}
	return word
}

// isDoubled reports a consonant doubled for the ending: mapp-ing, stopp-ed, but call-ed, pass-ed, agree-ing.
func isDoubled(stem string) bool {
	n := len(stem)
	return n > 3 && stem[n-1] == stem[n-2] && !strings.ContainsRune("lsfzaeiou", rune(stem[n-1]))
}

// singular is enough for the table of abbreviations.
func singular(word string) string {
	if strings.HasSuffix(word, "ies") {
		return strings.TrimSuffix(word, "ies") + "y"
	}
	return strings.TrimSuffix(word, "s")
}

func hasVowel(s string) bool { return strings.ContainsAny(s, "aeiouy") }

// isForm reports whether what follows a stem makes it another form of the same word: an ending, perhaps after a
// doubled consonant (stop-p-ing).
func isForm(stem string, rest []byte) bool {
	if len(rest) == 0 {
		return true
	}
	if len(rest) > 8 {
		return false
	}
	low := make([]byte, 0, 8)
	for _, c := range rest {
		low = append(low, lower(c))
	}
	if slices.Contains(endings, string(low)) {
		return true
	}
	return len(low) > 2 && low[0] == stem[len(stem)-1] && slices.Contains(endings, string(low[1:]))
}
