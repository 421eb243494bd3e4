package classify

import (
	"strings"
	"unicode"

	"sibyl/internal/text/search"
)

// maxTerms bounds what Terms returns.
const maxTerms = 24

// Terms returns the words of a question worth searching for, in its order and without repetition: words that carry meaning, in
// lower case and in the language they were written in; identifiers and paths whole, as written; quoted phrases whole. At most 24.
func Terms(question string) []string {
	t := newText(question)
	return t.terms(t.courtesies())
}

// terms are the words worth searching for, but for those of some tokens.
func (t *text) terms(but map[int]bool) []string {
	var out []string
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
			out = append(out, t.joined(i, end))
			i = end - 1
		case tok.kind == ident, tok.kind == path, tok.kind == link:
			out = append(out, withoutLine(tok.raw))
		case !but[i] && carriesMeaning(tok):
			out = append(out, strings.ToLower(tok.raw))
		}
	}
	return unique(out, maxTerms)
}

// A courtesy has few words, and a comma or the end of a sentence behind it, and by itself it is surely no question.
const (
	mostOfCourtesy = 3
	surelyTalk     = 0.8
)

// courtesies are the tokens of “Thanks!” and “ok,” and the like.
func (t *text) courtesies() map[int]bool {
	out, start := map[int]bool{}, 0
	for i, tok := range t.tokens {
		if tok.after < comma && i < len(t.tokens)-1 {
			continue
		}
		if i+1-start <= mostOfCourtesy {
			part := newText(t.part(span{start, i + 1}))
			if part.followsBy() == standsAlone && part.probabilities(Query{})[chat] >= surelyTalk {
				for at := start; at <= i; at++ {
					out[at] = true
				}
			}
		}
		start = i + 1
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

// joined are tokens as they were written, with spaces between.
func (t *text) joined(start, end int) string {
	words := make([]string, 0, end-start)
	for _, tok := range t.tokens[start:end] {
		words = append(words, tok.raw)
	}
	return strings.Join(words, " ")
}

// part is a part of the text as a text of its own.
func (t *text) part(s span) string {
	return t.joined(s.start, s.end) + [...]string{within: "", comma: "", colon: ":", sentence: ".", question: "?"}[t.tokens[s.end-1].after]
}

// carriesMeaning tells words of the subject from grammar and from what any question may have.
func carriesMeaning(t token) bool {
	if t.kind == symbol || t.raw[0] == '\'' || isGrammar(t.norm) || search.IsAsking(t.norm) {
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
func (t *text) stems() map[string]bool {
	out := map[string]bool{}
	for _, term := range t.terms(nil) {
		for _, part := range search.Parts(term) {
			if stem := search.Stem(fold(part)); len(stem) > 1 && !search.IsStop(part) {
				out[stem] = true
			}
		}
	}
	return out
}
