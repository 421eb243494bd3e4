package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// A Span is a part of a text, in bytes: text[From:To].
type Span struct{ From, To int }

// Sentences splits a text by the rules of Unicode (UAX 29), without white space around its sentences. A line break ends
// a sentence. Full stops of abbreviations, initials and ordinals end none: so a sentence may be joined with the next,
// but none is cut in two.
func Sentences(text string) []Span {
	var list []Span
	joined := false
	for at, it := 0, sentences.FromString(text); it.Next(); {
		part := it.Value()
		begin := at + len(part) - len(strings.TrimLeft(part, spaces))
		at += len(part)
		end := at - len(part) + len(strings.TrimRight(part, spaces))
		if end <= begin {
			joined = false
			continue
		}
		if joined {
			list[len(list)-1].To = end
		} else {
			list = append(list, Span{begin, end})
		}
		joined = !strings.ContainsAny(text[end:at], "\n\r") && endsAbbreviated(text[begin:end])
	}
	return list
}

const spaces = " \t\n\r\u00a0"

// endsAbbreviated says whether a full stop at the end of a text may belong to the word before it.
func endsAbbreviated(s string) bool {
	word, stopped := strings.CutSuffix(s, ".")
	if !stopped {
		return false
	}
	word = strings.ToLower(strings.TrimLeft(word[strings.LastIndexAny(word, spaces)+1:], "(\"'“„«"))
	digits := strings.Trim(word, "0123456789") == ""
	return utf8.RuneCountInString(word) == 1 || digits && len(word) == 2 || strings.Contains(word, ".") &&
		!strings.ContainsAny(word, "0123456789") ||
		slices.Contains(abbreviated(), word)
}

// abbreviated are words that are often shortened before a name or a number. The list is not complete; one that is
// missing cuts a sentence.
func abbreviated() []string {
	return []string{"dr", "mr", "mrs", "ms", "prof", "st", "no", "nos", "nr", "vs", "approx", "ca", "fig", "figs",
		"vol", "pp", "sr", "sra", "dra", "mme",
		"jan", "feb", "mar", "apr", "aug", "sep", "sept", "oct", "okt", "nov", "dec", "dez", "bzw", "vgl", "abb", "abs",
		"art", "str", "tel", "hr", "fr"}
}
