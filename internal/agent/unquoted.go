package agent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/run"
	"sibyl/internal/tool"
)

// What of a private text a query must not hold, unless the person wrote it: so many words in a row, or a word that looks made up, with
// letters and figures or long. Such are keys, numbers of contracts and accounts, and names of things that nobody else has.
const (
	quotedWords  = 5
	tellingMixed = 6  // characters of a word with letters and figures
	tellingDigit = 5  // digits of a number
	tellingLong  = 24 // characters of any word
)

// Quotes gives what a query quotes of private texts; "" for nothing. What stands in spoken, the person's own words, is no quotation. Its work is
// linear in the size of the texts.
func Quotes(query, spoken string, private []string) string {
	said, asked := setOf(runsOf(spoken)), runsOf(query)
	lowSpoken := strings.ToLower(spoken)
	low := strings.ToLower(query)
	for _, text := range private {
		for w := range tellingOf(text) {
			if strings.Contains(low, w) && !strings.Contains(lowSpoken, w) {
				return w
			}
		}
		if len(asked) == 0 {
			continue
		}
		held := setOf(runsOf(text))
		for _, run := range asked {
			if held[run] && !said[run] {
				return run
			}
		}
	}
	return ""
}

// tellingOf gives the telling words of a text, in its order: between blanks and brackets, and of those the parts between other signs.
func tellingOf(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for whole := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'“”‘’()[]{}<>,;|`", r) }) {
			if whole = strings.Trim(whole, ".:!?"); !isTelling(whole) {
				continue
			}
			if !yield(whole) {
				return
			}
			for _, part := range wordsOf(whole) {
				if part != whole && isTelling(part) && !yield(part) {
					return
				}
			}
		}
	}
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// runsOf are all runs of so many words.
func runsOf(text string) (runs []string) {
	words := wordsOf(text)
	for n := 0; n+quotedWords <= len(words); n++ {
		runs = append(runs, strings.Join(words[n:n+quotedWords], " "))
	}
	return runs
}

func setOf(all []string) map[string]bool {
	set := make(map[string]bool, len(all))
	for _, one := range all {
		set[one] = true
	}
	return set
}

func isTelling(word string) bool {
	letters, digits := 0, 0
	for _, r := range word {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return letters > 0 && digits > 0 && letters+digits >= tellingMixed || letters == 0 && digits >= tellingDigit || utf8.RuneCountInString(word) >= tellingLong
}

// privateTexts are what the calls of a run have given that is private, in the order of their receipts.
func privateTexts(v *run.View) (all []string) {
	for _, c := range v.Receipts() {
		r, ok := c.Value.(CallReceipt)
		switch {
		case !ok || !r.Labels.Private():
		case r.Result != nil:
			all = append(all, r.Result.Text)
		case r.Error != nil:
			all = append(all, r.Error.Error())
		}
	}
	return all
}

// errQuotes refuses a query.
func errQuotes(quoted string) *tool.Error {
	return tool.Errorf(tool.Denied, "search with words of the question", "the query quotes private text that was read in this run: “%s”", Brief(quoted, 60))
}
