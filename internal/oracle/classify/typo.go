package classify

import "sync"

// Words shorter than this are too close to each other to be corrected, and longer texts are not read for typing errors. Nor are words that
// are longer than any of the vocabulary.
const (
	minTypoLen    = 6
	maxTypoTokens = 60
)

// correct replaces unknown lower-case words that miss a letter, double one or swap two by the word of the vocabulary
// that is meant. Other errors are left alone: a changed letter makes a new word too often.
func correct(tokens []token) {
	if len(tokens) > maxTypoTokens {
		return
	}
	for i, t := range tokens {
		if t.kind != word || t.quoted || t.gloss || len(t.norm) < minTypoLen || len(t.norm) > longestWord || t.raw != t.norm || isKnown(t.norm) {
			continue
		}
		if meant, ok := meantBy(t.norm); ok {
			tokens[i].norm = meant
		}
	}
}

func isKnown(w string) bool {
	return len(lex().of(w)) > 0 || len(lex().vocabulary.phrases[w]) > 0 || lex().StopWords[w] || lex().CourtesyWords[w] ||
		lex().WriteVerbs[w] || lex().NounVerbs[w] || lex().ReadVerbs[w] || lex().NoteNouns[w] || lex().FeatureNouns[w] || lex().AnswerForms[w] || lex().Products[w]
}

func meantBy(w string) (string, bool) {
	shorter := typoIndex()
	if meant, ok := shorter[w]; ok { // a letter is missing
		return meant, true
	}
	for i := 1; i < len(w)-1; i++ { // an ending more or less is an inflection
		if without := w[:i] + w[i+1:]; w[i] == w[i-1] && isKnown(without) { // doubled
			return without, true
		}
		if swapped := w[:i] + w[i+1:i+2] + w[i:i+1] + w[i+2:]; isKnown(swapped) {
			return swapped, true
		}
	}
	return "", false
}

// typoIndex maps words of the vocabulary with one letter left out, not the first, to the words. Where two words agree, the
// alphabetically earlier is meant.
var typoIndex = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for w := range lex().exact {
		for i := 1; i < len(w)-1 && len(w) > minTypoLen; i++ {
			without := w[:i] + w[i+1:]
			if known, ok := out[without]; !ok || w < known {
				out[without] = w
			}
		}
	}
	return out
})
