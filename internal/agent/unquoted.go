package agent

import (
	"slices"
	"strings"
	"unicode"

	"sibyl/internal/redact"
	"sibyl/internal/run"
)

// What of a private text a query must not hold, unless the person wrote it: so many words in a row, a short line whole, a number that is
// long, or a word that tells by itself. A single word that programs or languages have is no quotation.
const (
	quotedWords  = 5
	runFields    = 3  // between blanks, that they come from: one long name is no run
	lineWords    = 3  // of a line that counts as a whole
	lineLetters  = 16 // the same, in characters of its words
	rareDigits   = 6  // of a number in one piece
	rareGrouped  = 9  // of a number in groups, as of a telephone or an account
	framedDigits = 4  // of a number with letters on both sides
	framedWord   = 10 // characters of a word without a sign in which any digit has letters on both sides
)

// Quotes gives what a query quotes of private texts; "" for nothing. What stands in spoken, the person's own words, is no quotation. A query
// that is encoded, reversed or shifted in the usual ways is read, too, and one with a word that can't be read is told by that word. Its work
// is linear in the size of the texts.
func Quotes(query, spoken string, private []string) string {
	q, own := folded(query), folded(spoken)
	for w := range fieldsOf(query) {
		if len(w) >= leastEncoded && redact.Random(w) && !strings.Contains(spoken, w) {
			return w
		}
	}
	said := quotable{words: setOf(runsOf(own, 1)), numbers: numbersOf(own), text: own}
	readings, hidden := readingsOf(q, query)
	for _, text := range private {
		text = unnumbered(text)
		low := folded(text)
		for _, h := range hidden {
			if strings.Contains(low, h) && !strings.Contains(own, h) {
				return h
			}
		}
		held := quotable{words: setOf(runsOf(low, runFields)), lines: linesOf(low), numbers: numbersOf(low), telling: tellingOf(text), text: low}
		for _, r := range readings {
			if quoted := held.in(r, &said); quoted != "" {
				return quoted
			}
			if quoted := unspaced(r, low, own); quoted != "" {
				return quoted
			}
		}
	}
	return ""
}

// unspaced gives the word of a query that says a run of words of a private text without the blanks between them.
func unspaced(query, private, own string) string {
	var text, said string
	var ends []int // of the fields of the private text
	for word := range strings.FieldsSeq(query) {
		if word = strings.Join(wordsOf(word), ""); len(word) < lineLetters {
			continue
		}
		if ends == nil {
			text, ends = joined(private)
			said, _ = joined(own)
		}
		for at := strings.Index(text, word); at >= 0 && !strings.Contains(said, word); {
			first, _ := slices.BinarySearch(ends, at+1)
			last, _ := slices.BinarySearch(ends, at+len(word))
			if last-first+1 >= quotedWords {
				return word
			}
			next := strings.Index(text[ends[first]:], word) // that begins in a later field
			if next < 0 {
				break
			}
			at = ends[first] + next
		}
	}
	return ""
}

// joined is a text without blanks and signs, and where its fields end.
func joined(text string) (string, []int) {
	var all strings.Builder
	ends := []int{}
	for field := range strings.FieldsSeq(text) {
		for _, word := range wordsOf(field) {
			all.WriteString(word)
		}
		ends = append(ends, all.Len())
	}
	return all.String(), ends
}

// quotable is what a text has that can be quoted.
type quotable struct {
	text    string
	words   map[string]bool // runs of words
	lines   []string        // as words with one blank between, and around
	numbers []string        // digits alone
	telling []string        // words
}

// in gives what of the text stands in a query, and not in what the person said.
func (h *quotable) in(query string, said *quotable) string {
	for _, w := range h.telling {
		if strings.Contains(query, w) && !strings.Contains(said.text, w) {
			return w
		}
	}
	for _, n := range numbersOf(query) {
		shared := func(p string) bool { return strings.Contains(p, n) || strings.Contains(n, p) }
		if slices.ContainsFunc(h.numbers, shared) && !slices.ContainsFunc(said.numbers, shared) {
			return n
		}
	}
	for _, run := range runsOf(query, 1) {
		if h.words[run] && !said.words[run] {
			return run
		}
	}
	all, spoken := spaced(query), spaced(said.text)
	for _, line := range h.lines {
		if strings.Contains(all, line) && !strings.Contains(spoken, line) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// unnumbered is a text without the numbers that a tool put before its lines.
func unnumbered(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(strings.TrimLeft(line, " "), "0123456789")
		if len(rest) < len(line) && (strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "\t")) {
			lines[i] = rest[1:]
		}
	}
	return strings.Join(lines, "\n")
}

// fieldsOf are the words of a text as they are written, between blanks, quotes and brackets.
func fieldsOf(text string) func(func(string) bool) {
	return strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'“”‘’()[]{}<>,;|`", r) })
}

// tellingOf gives the words of a text that tell by themselves, folded, and the parts of words that do.
func tellingOf(text string) (all []string) {
	for whole := range fieldsOf(text) {
		if whole = strings.Trim(whole, ".:!?*#=+"); tells(whole) {
			all = append(all, folded(whole))
		}
		for part := range strings.FieldsFuncSeq(whole, isSign) {
			if len(part) < len(whole) && tells(part) {
				all = append(all, folded(part))
			}
		}
	}
	return all
}

func isSign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// tells says whether a word is one that nobody else has: random characters, a mail address, a number within letters.
func tells(word string) bool {
	if at := strings.IndexByte(word, '@'); at > 0 && strings.Contains(word[at:], ".") {
		return true
	}
	return redact.Random(word) || !strings.Contains(word, "/") && framesNumber(word)
}

// framesNumber says whether a word has a number with letters before and behind it, as passwords have: a long one, or any in a long word.
func framesNumber(word string) bool {
	letters, digits, framed := false, 0, false
	least := framedDigits
	if len(word) >= framedWord && !strings.ContainsFunc(word, isSign) {
		least = 1
	}
	for _, r := range word {
		switch {
		case unicode.IsLetter(r):
			if framed {
				return true
			}
			letters, digits = true, 0
		case unicode.IsDigit(r):
			digits++
			framed = framed || letters && digits >= least
		default:
			digits = 0
		}
	}
	return false
}

// numbersOf are the digits of the numbers of a text that are rare: long in one piece, or longer in groups. Round ones are not.
func numbersOf(text string) (all []string) {
	var piece, group strings.Builder
	take := func(b *strings.Builder, least int) {
		if n := b.String(); len(n) >= least && len(strings.TrimRight(n, "0")) > 2 {
			all = append(all, n)
		}
		b.Reset()
	}
	gap := 0
	for _, r := range text {
		if r >= '0' && r <= '9' {
			piece.WriteRune(r)
			group.WriteRune(r)
			gap = 0
			continue
		}
		take(&piece, rareDigits)
		if gap++; gap > 1 || !strings.ContainsRune(" -./", r) {
			take(&group, rareGrouped)
		}
	}
	take(&piece, rareDigits)
	take(&group, rareGrouped)
	return all
}

// linesOf are the lines of a text that are short, and long enough to be known again.
func linesOf(text string) (all []string) {
	for line := range strings.SplitSeq(text, "\n") {
		words := wordsOf(line)
		if line = strings.Join(words, " "); len(words) >= lineWords && len(words) < quotedWords && len(line) >= lineLetters+len(words)-1 {
			all = append(all, " "+line+" ")
		}
	}
	return all
}

func wordsOf(text string) []string { return strings.FieldsFunc(text, isSign) }

// spaced are the words of a text with a blank around each.
func spaced(text string) string { return " " + strings.Join(wordsOf(text), " ") + " " }

// runsOf are all runs of so many words that come from at least so many fields between blanks.
func runsOf(text string, fields int) (runs []string) {
	var words []string
	var from []int
	field := 0
	for whole := range strings.FieldsSeq(text) {
		field++
		for _, word := range wordsOf(whole) {
			words, from = append(words, word), append(from, field)
		}
	}
	for n := 0; n+quotedWords <= len(words); n++ {
		if last := n + quotedWords - 1; from[last]-from[n]+1 >= fields {
			runs = append(runs, strings.Join(words[n:last+1], " "))
		}
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
