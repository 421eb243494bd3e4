package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MostTerms is how many words of a query count.
const MostTerms = 10

// Terms are the words of a query as Folded has them, each once. A word is what stands between blanks, signs too: a
// person finds “100%” or “a_b” as they write it.
func Terms(query string) []string {
	var terms []string
	for term := range strings.FieldsSeq(Folded(query)) {
		if len(terms) < MostTerms && !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	return terms
}

// HasAll says whether a text that is folded has all terms, in any place: words may go on before and behind them.
func HasAll(folded string, terms []string) bool {
	return !slices.ContainsFunc(terms, func(term string) bool { return !strings.Contains(folded, term) })
}

// Folded is a text as it is compared with a query: in lower case, without accents, with one blank for all white space
// and control characters.
func Folded(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	fold(text, func(_ int, r rune) { b.WriteRune(r) })
	return b.String()
}

// fold gives the letters of a text as Folded has them, each with its place in the text.
func fold(text string, yield func(at int, r rune)) {
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

// Excerpt is the part of a text around the first term that it has, in one line of about so many characters, with the
// terms in it marked. Of a text without a term it is the beginning.
func Excerpt(text string, terms []string, most int) []Span {
	folded, places := placed(text)
	first := len(folded)
	for _, term := range terms {
		if at := strings.Index(folded, term); at >= 0 {
			first = min(first, at)
		}
	}
	if first == len(folded) {
		first = 0
	}
	from, to := window(folded, first, most)
	var spans []Span
	add := func(from, to int, hit bool) {
		if part := oneBlank(text[places[from]:places[to]]); part != "" {
			spans = append(spans, Span{part, hit})
		}
	}
	if from > 0 {
		spans = append(spans, Span{Text: "… "})
	}
	for at := from; at < to; {
		begin, end := next(folded[:to], terms, at)
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

// placed is a text as Folded has it, with the place in the text of each of its bytes, and of its end.
func placed(text string) (string, []int) {
	var b strings.Builder
	var places []int
	fold(text, func(at int, r rune) {
		for range utf8.RuneLen(r) {
			places = append(places, at)
		}
		b.WriteRune(r)
	})
	return b.String(), append(places, len(text))
}

// window is the part of a text that is shown around a place: it begins and ends with a word where one is near.
func window(folded string, first, most int) (from, to int) {
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

// next is the place of the first term from a place on, the longest that begins there; the end of the text twice if
// there is none.
func next(folded string, terms []string, from int) (begin, end int) {
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

// oneBlank is a part of a text in one line, blanks at its ends kept.
func oneBlank(text string) string {
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
