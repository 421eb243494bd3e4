package classify

import (
	"slices"
	"strings"
	"unicode"
)

// definition finds questions for what something is in general: "what is a monad", "difference between TCP and UDP".
func definition(_ *text, c clause) string {
	w := c.words
	if len(w) < 3 {
		return ""
	}
	switch verb := w[0].norm; {
	case len(w) < 9 && verb == "what" && (w[1].norm == "is" || w[1].norm == "are") && isGeneralNoun(w[2:]):
		return c.begin(2)
	case len(w) < 6 && (verb == "explain" || verb == "define") && w[1].norm != "the" && !definiteWord(w[1]):
		return verb
	}
	for i := 2; i < len(w); i++ {
		if w[i-2].norm == "difference" && w[i-1].norm == "between" && w[i].norm != "the" && w[i].kind == word {
			return "difference between"
		}
	}
	return ""
}

func isGeneralNoun(ts []token) bool {
	return !slices.ContainsFunc(ts, definiteWord) && (ts[0].kind == word || pascal(ts[0].raw))
}

func definiteWord(t token) bool {
	return lex().Determiners[t.norm] && t.norm != "a" && t.norm != "an" && t.norm != "all" && t.norm != "any"
}

// isGeneral recognises a part of something outside by what follows it: "the payload of a packet", "the address of the BME280",
// "the requests library".
func isGeneral(after []token) bool {
	if len(after) == 0 {
		return false
	}
	if after[0].norm != "of" || len(after) == 1 {
		return lex().LibraryWords[after[0].norm]
	}
	of := after[1]
	if of.norm == "the" && len(after) > 2 {
		of = after[2]
	}
	return of.norm == "a" || of.norm == "an" || lex().Products[of.norm] || isName(of) || of.kind == word && shape().part.MatchString(of.raw)
}

// properNames finds capitalised words inside a sentence that mixes cases: names of people, places and things.
// German writes every noun like a name, so a translated text shows none.
func properNames(t *text) (found []string) {
	if slices.ContainsFunc(t.tokens, func(tok token) bool { return tok.gloss }) {
		return nil
	}
	for _, c := range t.clauses {
		var here []string
		lower := 0
		for i, tok := range c.all {
			switch {
			case tok.raw == "" || tok.kind != word || tok.quoted:
			case i > 0 && isName(tok) && !lex().Products[tok.norm] && !lex().Namesakes[tok.norm] && !lex().Dates[tok.norm] && !(c.all[i-1].norm == "the" && isAcronym(tok.raw)):
				here = append(here, tok.raw)
			case unicode.IsLower([]rune(tok.raw)[0]):
				lower++
			}
		}
		if lower > 1 {
			found = append(found, here...)
		}
	}
	return found
}

func isName(t token) bool {
	return t.raw != "" && !t.gloss && unicode.IsUpper([]rune(t.raw)[0]) && len(t.raw) > 1 && !lex().StopWords[t.norm] && !isPart(t.norm)
}

func isAcronym(raw string) bool { return raw == strings.ToUpper(raw) }

// shared says whether the asker speaks of the project as a common thing.
func (t *text) shared() bool { return len(t.ours) > 0 }
