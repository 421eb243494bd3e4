package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MostTerms is how many words of a query are used.
const MostTerms = 10

// Terms are the folded words of a query, each once, at most MostTerms. A word is everything between two blanks, signs
// included, so that “100%” and “a_b” are found as written.
func Terms(query string) []string {
	var terms []string
	for term := range strings.FieldsSeq(Folded(query)) {
		if len(terms) < MostTerms && !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	return terms
}

// HasAll says whether a folded text contains all terms, also inside longer words.
func HasAll(folded string, terms []string) bool {
	return !slices.ContainsFunc(terms, func(term string) bool { return !strings.Contains(folded, term) })
}

// Folded is a text as it is compared with a query: in lower case, without accents, with one blank for all white space
// and control characters.
func Folded(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	eachFolded(text, func(_ int, r rune) { b.WriteRune(r) })
	return b.String()
}

// eachFolded yields the letters of a folded text, each with its place in the original.
func eachFolded(text string, yield func(at int, r rune)) {
	blank := false
	var parts []byte
	for at, r := range text {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			if !blank {
				yield(at, ' ')
			}
			blank = true
			continue
		case r < utf8.RuneSelf:
			yield(at, rune(Lower(byte(r))))
		default:
			parts = norm.NFKD.AppendString(parts[:0], string(r))
			for _, part := range string(parts) {
				if !unicode.Is(unicode.Mn, part) {
					yield(at, unicode.ToLower(part))
				}
			}
		}
		blank = false
	}
}

// Span is a part of an excerpt.
type Span struct {
	Text string `json:"text"`
	Hit  bool   `json:"hit,omitempty" doc:"It is one of the words that were looked for."`
}

// Excerpt is the part of a text around the first of the folded terms in it, in one line of about `most` bytes, with the
// terms marked. If the text has no term, it is the beginning.
func Excerpt(text string, terms []string, most int) []Span {
	folded, places := foldWithPlaces(text)
	first := len(folded)
	for _, term := range terms {
		if at := strings.Index(folded, term); at >= 0 {
			first = min(first, at)
		}
	}
	if first == len(folded) {
		first = 0
	}
	from, to := shownWindow(folded, first, most)
	var spans []Span
	add := func(from, to int, hit bool) {
		if part := collapseBlanks(text[places[from]:places[to]]); part != "" {
			spans = append(spans, Span{part, hit})
		}
	}
	if from > 0 {
		spans = append(spans, Span{Text: "… "})
	}
	for at := from; at < to; {
		begin, end := nextTerm(folded[:to], terms, at)
		add(at, begin, false)
		if begin < end {
			add(begin, end, true)
		}
		at = max(end, begin)
	}
	if to < len(folded) {
		spans = append(spans, Span{Text: " …"})
	}
	return spans
}

// foldWithPlaces folds a text, and gives for each byte of the result, and for its end, the place in the original.
func foldWithPlaces(text string) (string, []int) {
	var b strings.Builder
	var places []int
	eachFolded(text, func(at int, r rune) {
		for range utf8.RuneLen(r) {
			places = append(places, at)
		}
		b.WriteRune(r)
	})
	return b.String(), append(places, len(text))
}

// shownWindow is the range of a text to show around a place. It begins and ends between words where it can.
func shownWindow(folded string, first, most int) (from, to int) {
	from, to = max(0, first-most/4), min(len(folded), first+most-most/4)
	if at := strings.IndexByte(folded[from:first], ' '); from > 0 && at >= 0 {
		from += at + 1
	}
	if at := strings.LastIndexByte(folded[first:to], ' '); to < len(folded) && at > 0 {
		to = first + at
	}
	for from > 0 && !utf8.RuneStart(folded[from]) {
		from--
	}
	for to < len(folded) && !utf8.RuneStart(folded[to]) {
		to++
	}
	return from, to
}

// nextTerm finds the first term at or after `from`, and the longest one that begins there. Without one, both results
// are the end of the text.
func nextTerm(folded string, terms []string, from int) (begin, end int) {
	begin, end = len(folded), len(folded)
	for _, term := range terms {
		at := strings.Index(folded[from:], term)
		if at < 0 {
			continue
		}
		if at += from; at < begin || at == begin && at+len(term) > end {
			begin, end = at, at+len(term)
		}
	}
	return begin, end
}

// collapseBlanks puts a text into one line: each run of blanks and control characters becomes one blank.
func collapseBlanks(text string) string {
	var b strings.Builder
	blank := false
	for _, r := range text {
		is := unicode.IsSpace(r) || unicode.IsControl(r)
		switch {
		case !is:
			b.WriteRune(r)
		case !blank:
			b.WriteByte(' ')
		}
		blank = is
	}
	return b.String()
}
