package inquiry

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"sibyl/internal/inquiry/record"
	"sibyl/internal/text/language"
	"sibyl/internal/text/search"
)

// A verdict is a claim, and rests on words: quotations that bear on the hypothesis, for it or against it. The detective
// says which do. What is checked here is that they stand in an answer or a document, and that they can be about the
// hypothesis at all.

// keepEvidence keeps the reported quotations that are found, each once, and whose question or words have the names of
// the hypothesis. What a quotation was said to show last holds.
func (a *Analysis) keepEvidence(all []AnsweredPair, reported []modelEvidence, names []string) {
	for _, e := range reported {
		pair, place, exact, found := locateQuotation(all, e.Words, e.Pair-1)
		if !found || foldQuotation(exact) == "" || !hasNames(all[pair].Question+" "+exact, names) {
			continue
		}
		kept := record.Bearing{Says: e.Says, Pair: pair + 1, Words: exact, Place: place}
		same := slices.IndexFunc(a.Evidence, func(o record.Bearing) bool {
			return o.Place == place && (place.Document != "" || o.Pair == pair+1) && isPartOfOther(o.Words, exact)
		})
		if same < 0 {
			a.Evidence = append(a.Evidence, kept)
			continue
		}
		if len(a.Evidence[same].Words) > len(exact) {
			kept.Words, kept.Pair = a.Evidence[same].Words, a.Evidence[same].Pair
		}
		a.Evidence[same] = kept
	}
}

// hasFindings says whether there is anything to be said about the hypothesis or the answers.
func (a *Analysis) hasFindings() bool {
	return len(a.Evidence)+len(a.Contradictions)+len(a.Waiting) > 0
}

// mostNames is up to how many names of a hypothesis a quotation has to have all of; of more, one is enough.
const mostNames = 2

// namesIn are the names in a hypothesis: its capitalised words but for the first of a sentence, as search has them,
// those that follow each other as one. In German, where every noun is capitalised, and in a title, where most words
// are, they are not told apart, and there are none.
func namesIn(hypothesis, code string) (names []string) {
	if code = cmp.Or(language.Of(hypothesis), code); code == "de" {
		return nil
	}
	begins, follows, plain := true, false, 0
	for _, word := range strings.Fields(hypothesis) {
		first := []rune(strings.TrimLeftFunc(word, unicode.IsPunct))
		isName := len(first) > 1 && unicode.IsUpper(first[0]) && !unicode.IsPunct(first[1])
		switch {
		case begins || !isName:
			plain++
		case follows:
			names[len(names)-1] += " " + word
		default:
			names = append(names, word)
		}
		follows = isName && !begins && !strings.HasSuffix(word, ",")
		begins = strings.ContainsAny(word[len(word)-1:], ".:?!") || strings.HasSuffix(word, "…")
	}
	if plain <= len(strings.Fields(strings.Join(names, " "))) {
		return nil
	}
	return names
}

// hasNames says whether a text has the names, in whatever form.
func hasNames(words string, names []string) bool {
	var has []string
	for _, w := range search.Words(words) {
		has = append(has, search.Stem(w))
	}
	found := 0
	for _, name := range names {
		lacks := func(w string) bool { return !slices.Contains(has, search.Stem(w)) }
		if !slices.ContainsFunc(search.Words(name), lacks) {
			found++
		}
	}
	return found == len(names) || len(names) > mostNames && found > 0
}

// nothingBearsGap is the gap of a detective that would be satisfied, though no words bear on the hypothesis.
func nothingBearsGap(pairs int) record.Gap {
	return record.Gap{ID: "evidence", Category: record.MissingInformation, Severity: record.High, Since: pairs,
		Description: "No answer says anything for or against the hypothesis itself."}
}
