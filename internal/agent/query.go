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

// How much of a query may come from the web alone. A stranger's page may contain a code made of words, and few words
// can carry little of it.
const (
	maxWebWords   = 4 // words
	maxWebNumbers = 1 // of these words
)

// punctuation are the signs that may stand around a word of a query.
const punctuation = ".,:;?!\"'“”‘’()"

// Sources are the texts whose words a query may contain once private text was read.
type Sources struct {
	Spoken string   // by the person
	Web    []string // that the web returned in this run
}

// WhyHeld says why a query is shown to the user before it is sent; empty if it may go. Each content word and number has
// to occur in the user's words or in what the web returned, in any inflection; filler words are free. Anything but a
// plain word (a path, a version) has to occur literally. A query that could be a code is held too: one that repeats
// words, has blanks, signs or capitals in odd places, or takes more than a few words from the web alone. The time is
// linear in the size of the texts.
func (s Sources) WhyHeld(query string) bt.Why {
	if query == "" { // nothing leaves the machine
		return bt.Why{}
	}
	spoken := vocabularyOf(s.Spoken)
	web := vocabularyOf(s.Web...)
	found, numbers := 0, 0
	seen := map[string]bool{}
	for _, field := range strings.Split(query, " ") {
		word := strings.Trim(field, punctuation)
		if word == "" || utf8.RuneCountInString(field)-utf8.RuneCountInString(word) > 2 {
			return whyCoded.With(text.Brief(field, 60))
		}
		if isFiller(word) {
			continue
		}
		said := spoken.has(word)
		if !said && (utf8.RuneCountInString(word) == 1 || !web.has(word)) {
			return whyUnsaid.With(text.Brief(word, 60))
		}
		if seen[strings.ToLower(word)] || !hasUsualCase(word) && !spoken.fields[word] && !web.fields[word] {
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
	if found > maxWebWords || numbers > maxWebNumbers {
		return whyCoded.With(text.Brief(query, 60))
	}
	return bt.Why{}
}

// isFiller says whether a word only holds sentences together.
func isFiller(word string) bool {
	low := strings.ToLower(word)
	return (len(low) > 1 || low == "a") && (search.IsStop(low) || search.IsLight(low)) && hasUsualCase(word)
}

// hasUsualCase says whether a word is all lower case, all upper case, or lower case after the first letter.
func hasUsualCase(word string) bool {
	_, first := utf8.DecodeRuneInString(word)
	return strings.ToLower(word) == word || strings.ToUpper(word) == word ||
		strings.ToLower(word[first:]) == word[first:]
}

// vocabulary are the words of texts.
type vocabulary struct {
	fields map[string]bool // as written, between blanks, without the punctuation around them
	stems  map[string]bool
}

func vocabularyOf(texts ...string) vocabulary {
	v := vocabulary{map[string]bool{}, map[string]bool{}}
	for _, text := range texts {
		for field := range strings.FieldsSeq(text) {
			v.fields[strings.Trim(field, punctuation)] = true
		}
		for word := range strings.FieldsFuncSeq(text, isNotAlphanumeric) {
			for _, stem := range stemsOf(word) {
				v.stems[stem] = true
			}
		}
	}
	return v
}

// has says whether a word occurs in the texts: a plain word in any inflection, any other literally.
func (v vocabulary) has(word string) bool {
	if strings.ContainsFunc(word, isNotAlphanumeric) {
		return v.fields[word]
	}
	for _, stem := range stemsOf(word) {
		if !v.stems[stem] {
			return false
		}
	}
	return true
}

func isNotAlphanumeric(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// stemsOf are the parts of a word that are compared: its stem with its accents (which could carry a code), or the pairs
// of characters in a script without blanks.
func stemsOf(word string) []string {
	isUnspaced := func(r rune) bool { return r >= '\u0e00' }
	if strings.ContainsFunc(word, isUnspaced) {
		pairs := search.Words(word)
		return pairs[:max(len(pairs)-1, min(len(pairs), 1))] // without the last, which is a single character
	}
	return []string{search.Stem(strings.ToLower(word))}
}

// Why a query is held, as the person and the model read it.
const (
	whyUnsaid bt.Reason = "held.unsaid: private text was read in this run, and " +
		"neither the person nor the web said “{words}”"
	whyCoded bt.Reason = "held.coded: private text was read in this run, and the query may be a code: “{words}”"
)

// webTexts are the public results of a run's calls, in the order of their receipts.
func webTexts(v *run.View) (all []string) {
	for _, c := range v.Receipts() {
		if r, ok := c.Value.(CallReceipt); ok && r.Result != nil && !r.Labels.IsPrivate() {
			all = append(all, r.Result.Text)
		}
	}
	return all
}
