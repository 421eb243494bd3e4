package classify

import (
	"strings"
	"unicode"

	"sibyl/internal/search"
)

// maxTerms bounds what Terms returns.
const maxTerms = 24

// Terms returns the words of a question worth searching for, in its order and without repetition: words that carry meaning, in
// lower case and in the language they were written in; identifiers and paths whole, as written; quoted phrases whole. At most 24.
func Terms(question string) []string {
	return newText(question).terms()
}

func (t *text) terms() []string {
	var out []string
	polite := t.politeTokens()
	for i := 0; i < len(t.tokens) && len(out) < maxTerms; i++ {
		tok := t.tokens[i]
		switch {
		case tok.kind == block:
			out = append(out, namesIn(tok.raw)...)
		case tok.quoted:
			end := i + 1
			for end < len(t.tokens) && t.tokens[end].quoted && t.tokens[end-1].after < sentence {
				end++
			}
			out = append(out, quotedPhrase(t.tokens[i:end]))
			i = end - 1
		case tok.kind == ident, tok.kind == path, tok.kind == link:
			out = append(out, withoutLine(tok.raw))
		case !polite[i] && carriesMeaning(tok):
			out = append(out, searchForm(tok))
		}
	}
	return unique(out, maxTerms)
}

// politeTokens marks openers, polite frames and the verbs of showing and writing that head a clause.
func (t *text) politeTokens() map[int]bool {
	out := map[int]bool{}
	for _, c := range t.clauses {
		for i := c.first - (len(c.all) - len(c.words)); i < c.first; i++ {
			out[i] = true
		}
		if c.act == reading || c.act == writing {
			out[c.first] = true
		}
	}
	return out
}

// withoutLine cuts the numbers of line and column off a path.
func withoutLine(path string) string {
	for {
		at := strings.LastIndexByte(path, ':')
		if at < 0 || at == len(path)-1 || strings.Trim(path[at+1:], "0123456789") != "" {
			return path
		}
		path = path[:at]
	}
}

func quotedPhrase(ts []token) string {
	var words []string
	for _, t := range ts {
		if t.raw != "" {
			words = append(words, t.raw)
		}
	}
	return strings.Join(words, " ")
}

// searchForm is a word as it may stand in a text: as written, but without possessives and typing errors.
func searchForm(t token) string {
	if !t.gloss && fold(t.raw) != t.norm {
		return t.norm
	}
	return strings.ToLower(t.raw)
}

// carriesMeaning tells words of the subject from grammar, courtesy and verbs that any question may have.
func carriesMeaning(t token) bool {
	if t.raw == "" || t.kind == symbol || lex().StopWords[t.norm] || lex().Auxiliaries[t.norm] || lex().EmptyVerbs[t.norm] || lex().Greetings[t.norm] {
		return false
	}
	return len(t.raw) > 1 || t.kind == number
}

// namesIn returns the identifiers and paths of pasted text.
func namesIn(pasted string) (out []string) {
	quoted := false
	for line := range strings.Lines(pasted) {
		for _, t := range appendLine(nil, strings.TrimSpace(line), &quoted) {
			if name := withoutLine(t.raw); (t.kind == ident || t.kind == path) && strings.IndexFunc(name, unicode.IsLetter) >= 0 {
				out = append(out, name)
			}
		}
		quoted = false
		if len(out) >= maxTerms/2 {
			return out[:maxTerms/2]
		}
	}
	return out
}

// stems returns the terms in a form that inflections and spellings share; identifiers also in their parts.
func stems(t *text) map[string]bool {
	out := map[string]bool{}
	for _, term := range t.terms() {
		for _, part := range search.Parts(term) {
			if stem := search.Stem(fold(part)); len(stem) > 1 && !lex().StopWords[part] {
				out[stem] = true
			}
		}
	}
	return out
}
