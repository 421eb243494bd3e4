package classify

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/text/language"
	"sibyl/internal/text/search"
)

// maxTerms bounds what Terms returns.
const maxTerms = 24

// Terms returns the words of a question worth searching for, in its order and without repetition: words that carry
// meaning, in lower case and in the language they were written in; identifiers and paths whole, as written; quoted
// phrases whole. It returns at most 24. Function words are left out, those of the question's language too.
func Terms(question string) []string { return parseText(question).terms() }

func (t *parsedText) terms() (out []string) {
	add := func(term string) {
		if !slices.Contains(out, term) && len(out) < maxTerms {
			out = append(out, term)
		}
	}
	code := language.Of(t.raw)
	for _, tok := range t.tokens {
		switch tok.kind {
		case pasted:
			for chunk := range strings.FieldsSeq(tok.raw) {
				chunk = strings.Trim(chunk, "()[]{},;:\"'")
				if shapeOf(chunk) != "" && strings.Trim(chunk, "+x0123456789") != "" && len(out) < maxTerms/2 {
					add(lineNumber().ReplaceAllString(chunk, ""))
				}
			}
		case quoted:
			add(tok.raw)
		case name:
			add(lineNumber().ReplaceAllString(tok.raw, ""))
		case word:
			if len(tok.seen) > 1 && !search.IsStop(tok.seen) && !search.IsLight(tok.seen) &&
				!search.IsAsking(tok.seen) &&
				(code != "fr" && code != "es" || !language.Common(tok.seen, code)) {
				add(strings.ToLower(tok.raw))
			}
		}
	}
	// a pasted message without names is searched by its words
	if len(out) == 0 && len(t.tokens) == 1 && t.tokens[0].kind == pasted {
		message := &parsedText{}
		message.addLine(t.tokens[0].raw)
		return message.terms()
	}
	return out
}

// lineNumber matches the line and column after a path.
var lineNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(:\d+)+$`) })

// joinTokens makes a text of a range of tokens.
func (t *parsedText) joinTokens(start, end int) string {
	words := make([]string, 0, end-start)
	for _, tok := range t.tokens[start:end] {
		words = append(words, tok.raw)
	}
	return strings.Join(words, " ") + [...]string{none: "", comma: "", sentence: ".",
		question: "?"}[t.tokens[end-1].after]
}
