package classify

import (
	"strings"
	"unicode"
)

// projectFrames find what ties a question to the project at hand: to its code, or to what its people decided and wrote down.
var projectFrames = []frame{
	{name: "project", weight: balance{code: 0.7, docs: 0.9, web: -2.5}, match: func(t *text) []string { return t.ours }},
	{name: "definite", weight: balance{code: 0.2, docs: 0.2}, match: definite},
	{name: "definite-part", weight: balance{code: 1.3, web: -1.2}, match: definiteParts},
	{name: "feature", weight: balance{code: 0.9}, match: bareFeature},
	{name: "name-in-code", weight: balance{code: 2.4, web: -1}, match: names},
	// OrderService and its like. Products are spelled so too, hence the lower weight.
	{name: "type-name", weight: balance{code: 1.6}, token: func(tok token) bool { return tok.kind == ident && pascal(tok.raw) }},
	{name: "pasted-code", weight: balance{code: 4}, match: pasted},
	{name: "where", weight: balance{code: 1}, match: func(t *text) []string { return opens(t, lex().WhereOpens) }},
	{name: "why", weight: balance{code: 0.7}, match: func(t *text) []string { return opens(t, lex().WhyOpens) }},
	{name: "does-in-code", weight: balance{code: 1}, clause: doesInCode},
	{name: "definite-subject", weight: balance{code: 0.5}, clause: definiteSubject},
	{name: "done-to", weight: balance{code: 1.2}, clause: doneTo},
	{name: "how", weight: balance{code: 0.2}, match: func(t *text) []string { return opens(t, lex().HowOpens) }},

	{name: "undertaking", weight: balance{docs: 1.5}, match: undertaking},
	{name: "our-choice", weight: balance{docs: 3}, clause: ourChoice},
	{name: "our-past", weight: balance{docs: 1.8}, match: ourPast},
	{name: "whose-doing", weight: balance{docs: 3}, clause: whoseDoing},
	{name: "reported", weight: balance{docs: 3}, match: reported},
	{name: "document-file", weight: balance{docs: 1.5}, token: func(tok token) bool { return tok.kind == path && lex().DocFiles[fileExt(tok.norm)] }},
	{name: "tag", weight: balance{docs: 1.5}, token: func(tok token) bool {
		return len(tok.raw) > 1 && tok.raw[0] == '#' && unicode.IsLetter(rune(tok.raw[1]))
	}},
}

// ours finds the words by which the asker speaks of the project as a common thing.
func ours(t *text) (found []string) {
	for i, tok := range t.tokens {
		if tok.quoted || tok.kind != word {
			continue
		}
		last := i == len(t.tokens)-1
		switch {
		case lex().Deixis[tok.norm] && !tok.glued && tok.raw != "US" && (i == 0 || t.words[i-1] != "let"):
			found = append(found, tok.norm)
		case !last && lex().Pointers[tok.norm] && lex().ProjectNouns[t.words[i+1]]:
			found = append(found, t.span(i, i+2))
		case tok.norm == "here" && i > 0:
			found = append(found, tok.norm)
		}
	}
	return found
}

// definite finds an article: the asker assumes that both know what is meant.
func definite(t *text) []string {
	for i := 0; i+1 < len(t.tokens); i++ {
		next := t.words[i+1]
		if t.words[i] == "the" && !t.tokens[i].quoted && !t.covered[i] && !lex().Impersonal[next] && !lex().WhWords[next] && !lex().Superlatives[next] && !lex().Products[next] {
			return []string{t.span(i, i+2)}
		}
	}
	return nil
}

// definiteParts finds "the retry helper": an article, at most two words between, and a part of a program.
func definiteParts(t *text) (found []string) {
	for i, tok := range t.tokens {
		if tok.norm != "the" && tok.norm != "this" && tok.norm != "that" || tok.quoted {
			continue
		}
		end := i
		for j := i + 1; j < min(i+4, len(t.tokens)); j++ {
			w := t.tokens[j]
			if w.kind != word || lex().StopWords[w.norm] || lex().Superlatives[w.norm] || t.covered[j] {
				break
			}
			theirs := lex().Products[t.words[j-1]] && lex().ProductParts[w.norm]
			if isPart(w.norm) && !theirs && !isGeneral(t.tokens[j+1:]) {
				end = j + 1
			}
			if w.after > within {
				break
			}
		}
		if end > i {
			found = append(found, t.span(i, end))
		}
	}
	return found
}

func isPart(w string) bool {
	return lex().SoftwareNouns[w] || lex().SoftwareNouns[strings.TrimSuffix(w, "s")]
}

// bareFeature finds a behaviour named without an article: "how does authentication work".
func bareFeature(t *text) (found []string) {
	if !t.shared() && t.first(definition) != nil {
		return nil
	}
	for i, w := range t.words {
		bare := (i == 0 || !lex().Determiners[t.words[i-1]] && t.words[i-1] != "to") && (i < 2 || !lex().Determiners[t.words[i-2]])
		if lex().FeatureNouns[w] && bare && !t.covered[i] {
			found = append(found, w)
		}
	}
	return found
}

// definiteSubject finds questions for how a known thing behaves: "does the import run before", "why is the list empty".
func definiteSubject(t *text, c clause) string {
	for i := 1; i < min(3, len(c.words)-1); i++ {
		if !lex().ThingWords[c.head] && lex().Auxiliaries[c.words[i-1].norm] && c.words[i].norm == "the" && len(definite(t)) > 0 {
			return c.words[i-1].norm + " the"
		}
	}
	return ""
}

// doesInCode finds questions for what a program does: "where we parse the feed", "does the loader cache textures".
func doesInCode(_ *text, c clause) string {
	does := -1
	for i, w := range c.words {
		if does < 0 && i < 3 && (w.norm == "do" || w.norm == "does") {
			does = i
			continue
		}
		bySubject := i > 0 && lex().Actors[c.words[i-1].norm]
		byVerb := does >= 0 && i > does+1 && !lex().Determiners[c.words[i-1].norm] && !outsider(c.words[does+1].norm)
		if w.kind == word && lex().ProgramVerbs[w.norm] && (bySubject || byVerb) {
			return c.words[i-1].norm + " " + w.norm
		}
	}
	return ""
}

// outsider says whether a subject is somebody else's.
func outsider(w string) bool {
	return lex().Products[w] || w == "other" || w == "others" || w == "people" || w == "you"
}

// doneTo finds questions for what a program does to something: "are the notes indexed", "how is the token signed".
func doneTo(_ *text, c clause) string {
	if len(c.words) < 3 || !lex().Copulas[c.head] && (c.head != "how" && c.head != "where" || !lex().Copulas[c.words[1].norm]) {
		return ""
	}
	for _, w := range c.words[2:] {
		if strings.HasSuffix(w.norm, "ed") && verbLike(w.norm) || lex().Participles[w.norm] {
			return c.head + " " + w.norm
		}
	}
	return ""
}

func names(t *text) []string {
	return tokensLike(t, func(tok token) bool {
		return tok.kind == ident && !pascal(tok.raw) || tok.kind == path && !lex().DocFiles[fileExt(tok.norm)]
	})
}

func pasted(t *text) (found []string) {
	for _, tok := range t.tokens {
		if tok.kind == block {
			line, _, _ := strings.Cut(tok.raw, "\n")
			found = append(found, clip(line, 40))
		}
	}
	return found
}

func clip(s string, bytes int) string {
	for i := range s {
		if i >= bytes {
			return s[:i] + "…"
		}
	}
	return s
}

// undertaking finds the project as a thing of people rather than of code.
func undertaking(t *text) []string {
	return t.pairs(func(before, at int) bool {
		return lex().Undertakings[t.words[at]] && lex().Determiners[t.words[before]]
	})
}

// ourChoice finds "why do we use X": the reason for a choice is written down, not programmed.
func ourChoice(_ *text, c clause) string {
	past := len(c.words) > 2 && c.words[1].norm == "did" && lex().Deixis[c.words[2].norm]
	return when(c.head == "why" && (past || containsAny(c.words, lex().Deixis) && containsAny(c.words, lex().ChoiceVerbs)), "why we")
}

// ourPast finds what people did: "did we promise", "the options we listed". What they did is written down, if anywhere.
func ourPast(t *text) (found []string) {
	for i := 1; i < len(t.words); i++ {
		before, w := t.words[i-1], t.words[i]
		switch {
		case before == "did" && (w == "we" || w == "i"):
			found = append(found, t.span(i-1, i+1))
		case before == "we" && isPast(w):
			found = append(found, t.span(i-1, i+1))
		case i > 1 && t.words[i-2] == "we" && !lex().Auxiliaries[before] && isPast(w):
			found = append(found, t.span(i-2, i+1))
		case before == "the" && w == "team" && i > 1 && t.words[i-2] == "did":
			found = append(found, t.span(i-2, i+1))
		}
	}
	return found
}

// whoseDoing finds "who requested the export": somebody did something to a thing both speakers know.
func whoseDoing(t *text, c clause) string {
	did := c.head == "who" && len(c.words) > 2 && (strings.HasSuffix(c.words[1].norm, "ed") || lex().SpeechVerbs[c.words[1].norm])
	return when(did && len(definite(t)) > 0 && len(properNames(t)) == 0, c.begin(2))
}

func isPast(w string) bool { return len(w) > 4 && strings.HasSuffix(w, "ed") }

// reported finds questions for what somebody said: "what did the consultants recommend".
func reported(t *text) []string {
	for i, w := range t.words {
		if w != "did" && w != "has" && w != "have" {
			continue
		}
		if i+1 < len(t.words) && (t.words[i+1] == "you" || t.words[i+1] == "not") {
			continue
		}
		for j := i + 2; j < min(i+6, len(t.words)); j++ {
			if lex().SpeechVerbs[t.words[j]] {
				return []string{w + " " + t.words[j]}
			}
		}
	}
	return nil
}
