package classify

import (
	"slices"
	"strings"
	"unicode"
)

// worldFrames find questions that no single project answers. Most of them are silent where something ties the question to the project.
var worldFrames = []frame{
	{name: "definition", weight: balance{web: 1.8, code: -0.5}, clause: definition, unless: (*text).shared},
	{name: "how-to", weight: balance{web: 2}, match: howTo, unless: (*text).atHome},
	{name: "plural-in-general", weight: balance{web: 1}, clause: pluralInGeneral, unless: (*text).shared},
	{name: "of-a-thing", weight: balance{web: 1.5}, match: ofThing, unless: (*text).atHome},
	{name: "superlative", weight: balance{web: 2, code: -0.5}, match: superlative, unless: (*text).atHome},
	{name: "comparative", weight: balance{web: 1.6}, match: comparative, unless: (*text).shared},
	{name: "product-asked", weight: balance{web: 1.5}, match: productAsked},
	{name: "product-setting", weight: balance{web: 1.2}, match: productSetting, unless: (*text).shared},
	{name: "product-version", weight: balance{web: 1.5}, match: productVersion, unless: (*text).shared},
	{name: "product-first", weight: balance{web: 0.8}, match: productFirst, unless: (*text).shared},
	{name: "product-documents", weight: balance{web: 3.5}, match: productDocuments, unless: (*text).shared},
	{name: "product-error", weight: balance{web: 1.5}, match: productError, unless: (*text).shared},
	{name: "who-when", weight: balance{web: 0.8}, match: func(t *text) []string { return opens(t, lex().WhoOpens) }},
	{name: "has-it", weight: balance{web: 0.6}, clause: hasIt},
	{name: "proper-name", weight: balance{web: 0.9}, match: properNames},
	{name: "link", weight: balance{web: 1.5}, token: func(tok token) bool { return tok.kind == link }},
}

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

// howTo finds general questions for a way to do something.
func howTo(t *text) []string {
	way, _ := lex().WaysTo.in(t.tokens)
	if way == nil {
		return nil
	}
	return []string{strings.Join(way, " ")}
}

// pluralInGeneral finds questions about all things of a kind: "how do vector clocks work".
func pluralInGeneral(_ *text, c clause) string {
	for i := 1; i < min(3, len(c.words)); i++ {
		before, w := c.words[i-1].norm, c.words[i:min(i+2, len(c.words))]
		if before != "do" && before != "are" || lex().Determiners[w[0].norm] || lex().StopWords[w[0].norm] {
			continue
		}
		if slices.ContainsFunc(w, isPlural) {
			return before + " " + w[0].norm
		}
	}
	return ""
}

func isPlural(t token) bool {
	return t.kind == word && len(t.norm) > 3 && strings.HasSuffix(t.norm, "s") && !strings.HasSuffix(t.norm, "ss")
}

// ofThing finds "the N of a Y": a question about any Y.
func ofThing(t *text) []string {
	for i := 2; i < len(t.tokens)-1; i++ {
		if t.words[i] == "of" && !lex().NoParts[t.words[i-1]] && isGeneral(t.tokens[i:]) {
			return []string{t.span(i, i+2)}
		}
	}
	return nil
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

// superlative finds rankings: nobody but the whole world can answer them.
func superlative(t *text) []string {
	return tokensLike(t, func(tok token) bool { return t.asks && lex().Superlatives[tok.norm] && !tok.quoted })
}

// comparative finds "which is faster, X or Y".
func comparative(t *text) []string {
	for i, w := range t.words {
		if lex().Comparatives[w] && slices.ContainsFunc(t.words[i:], func(later string) bool { return later == "or" || later == "than" }) {
			return t.words[i : i+1]
		}
	}
	return nil
}

// productAsked finds a product or name as the subject of a question: "how does OAuth work".
func productAsked(t *text) (found []string) {
	for _, c := range t.clauses {
		for i := 1; i < min(5, len(c.words)); i++ {
			if w := c.words[i]; lex().Auxiliaries[c.words[i-1].norm] && w.kind == word && (lex().Products[w.norm] || isName(w)) {
				found = append(found, w.norm)
			}
		}
	}
	return found
}

// productSetting finds a product as the setting of a question: "in Python", "with GitHub".
func productSetting(t *text) []string {
	if len(names(t)) > 0 {
		return nil
	}
	return t.pairs(func(before, at int) bool {
		return lex().Products[t.words[at]] && lex().Settings[t.words[before]] && !lex().Dates[t.tokens[at].raw]
	})
}

// productVersion finds "Node 18".
func productVersion(t *text) []string {
	return t.pairs(func(before, at int) bool {
		return t.tokens[at].kind == number && (lex().Products[t.words[before]] || lex().Namesakes[t.words[before]])
	})
}

// productFirst finds key words that begin with a product: "tailwind release date".
func productFirst(t *text) []string {
	if t.asks || len(names(t)) > 0 || len(t.words) < 2 || !lex().Products[t.words[0]] {
		return nil
	}
	return t.words[:1]
}

// productDocuments finds the documents of somebody else's product: "the pytest documentation".
func productDocuments(t *text) (found []string) {
	for i, w := range t.words {
		if !lex().Products[w] || lex().NotEvidence[w] {
			continue
		}
		for _, near := range t.words[max(0, i-3):min(i+4, len(t.words))] {
			if lex().ProductPapers[near] {
				found = append(found, w+" "+near)
			}
		}
	}
	return found
}

// productError finds a failure of somebody else's product, with nothing of our own program beside it.
func productError(t *text) (found []string) {
	if len(names(t)) > 0 || len(pasted(t)) > 0 || len(definite(t)) > 0 {
		return nil
	}
	failed := slices.ContainsFunc(t.seen, func(o occurrence) bool { return lex().features[o.feature].name == "malfunction" })
	for _, w := range t.words {
		if failed && lex().Products[w] {
			found = append(found, w)
		}
	}
	return found
}

// hasIt finds yes-or-no questions about something not introduced by an article.
func hasIt(_ *text, c clause) string {
	return when(len(c.words) > 1 && lex().YesNo[c.head] && (!lex().Determiners[c.words[1].norm] || c.words[1].norm == "any"), c.head)
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
