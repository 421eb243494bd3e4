package agent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/bt"
	"sibyl/internal/run"
	"sibyl/internal/text"
	"sibyl/internal/text/search"
)

// What of a query may be the web's alone. Pages of strangers can hold a code of words, so that only a few can be said
// by one.
const (
	mostFound        = 4 // words
	mostFoundNumbers = 1 // of them
)

// asides are the signs that may stand around a word of a query.
const asides = ".,:;?!\"'“”‘’()"

// Sources are the texts whose words a query may be made of once private text was read.
type Sources struct {
	Spoken string   // by the person
	Web    []string // that the web returned in this run
}

// Unsaid says why a query is shown to the person before it is sent; empty if it may go. Each of its content words and
// numbers has to stand in the person's own words or in what the web returned, in any form of it; words that only hold a
// sentence together are free. What is no plain word (a path, a version) has to stand there as it is written. A query
// that could be a code is shown too: one that repeats words, has blanks, signs or letters in odd places, or takes more
// than a few words from the web alone. Its work is linear in the size of the texts.
func (s Sources) Unsaid(query string) bt.Why {
	if query == "" { // nothing leaves
		return bt.Why{}
	}
	spoken := vocabularyOf(s.Spoken)
	web := vocabularyOf(s.Web...)
	found, numbers := 0, 0
	seen := map[string]bool{}
	for _, field := range strings.Split(query, " ") {
		word := strings.Trim(field, asides)
		if word == "" || utf8.RuneCountInString(field)-utf8.RuneCountInString(word) > 2 {
			return whyCoded.With(text.Brief(field, 60))
		}
		if isFree(word) {
			continue
		}
		said := spoken.has(word)
		if !said && (utf8.RuneCountInString(word) == 1 || !web.has(word)) {
			return whyUnsaid.With(text.Brief(word, 60))
		}
		if seen[strings.ToLower(word)] || !isCased(word) && !spoken.fields[word] && !web.fields[word] {
			return whyCoded.With(text.Brief(word, 60))
		}
		seen[strings.ToLower(word)] = true
		if said {
			continue
		}
		found++
		if strings.ContainsFunc(word, unicode.IsNumber) {
			numbers++
		}
	}
	if found > mostFound || numbers > mostFoundNumbers {
		return whyCoded.With(text.Brief(query, 60))
	}
	return bt.Why{}
}

// isFree says whether a word only holds sentences together.
func isFree(word string) bool {
	low := strings.ToLower(word)
	return (len(low) > 1 || low == "a") && (search.IsStop(low) || search.IsLight(low)) && isCased(word)
}

// isCased says whether the letters of a word are small or large as usual: all alike, or only the first large.
func isCased(word string) bool {
	_, first := utf8.DecodeRuneInString(word)
	return strings.ToLower(word) == word || strings.ToUpper(word) == word ||
		strings.ToLower(word[first:]) == word[first:]
}

// vocabulary are the words of texts.
type vocabulary struct {
	fields map[string]bool // as they are written, between blanks, without the signs around them
	stems  map[string]bool
}

func vocabularyOf(texts ...string) vocabulary {
	v := vocabulary{map[string]bool{}, map[string]bool{}}
	for _, text := range texts {
		for field := range strings.FieldsSeq(text) {
			v.fields[strings.Trim(field, asides)] = true
		}
		for word := range strings.FieldsFuncSeq(text, isSign) {
			for _, stem := range stemsOf(word) {
				v.stems[stem] = true
			}
		}
	}
	return v
}

// has says whether a word stands in the texts: a plain one in any form, any other as it is.
func (v vocabulary) has(word string) bool {
	if strings.ContainsFunc(word, isSign) {
		return v.fields[word]
	}
	for _, stem := range stemsOf(word) {
		if !v.stems[stem] {
			return false
		}
	}
	return true
}

func isSign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// stemsOf are what of a word is compared: its stem with its accents, which could be a code too, or the pairs of
// characters of a script without blanks.
func stemsOf(word string) []string {
	unspaced := func(r rune) bool { return r >= '\u0e00' }
	if strings.ContainsFunc(word, unspaced) {
		pairs := search.Words(word)
		return pairs[:max(len(pairs)-1, min(len(pairs), 1))] // the last character alone comes behind them
	}
	return []string{search.Stem(strings.ToLower(word))}
}

// Why a query is held, as the person and the model read it.
const (
	whyUnsaid bt.Reason = "held.unsaid: private text was read in this run, and " +
		"neither the person nor the web said “{words}”"
	whyCoded bt.Reason = "held.coded: private text was read in this run, and the query may be a code: “{words}”"
)

// webTexts are what the calls of a run have given that is public, in the order of their receipts.
func webTexts(v *run.View) (all []string) {
	for _, c := range v.Receipts() {
		if r, ok := c.Value.(CallReceipt); ok && r.Result != nil && !r.Labels.Private() {
			all = append(all, r.Result.Text)
		}
	}
	return all
}
