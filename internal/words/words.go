// Package words takes texts apart for rules that understand some of what is said: words, numbers and signs with their places, groups of words, what the forms
// of a word have in common, and numbers in figures and in words, in English, German and Portuguese. What a rule makes of them is its own.
//
// Guarantees:
//   - Tokens are in the order of the text, do not overlap, and hold every word: only white space, control characters and what is no UTF-8 lies between them.
//   - Everything is a function of its arguments, and safe for concurrent use.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/text/search"
)

// Token is a word, a number or a sign of a text.
type Token struct {
	From, To int    // bytes
	Norm     string // a word as it is compared; the sign itself, and "\n" for the end of a line
	Word     bool   // or a number
}

// IsFigure says whether it is a number in figures, perhaps with letters behind.
func (t Token) IsFigure() bool { return t.Word && isDigit(rune(t.Norm[0])) }

// LineEnd is the Norm of the end of a line.
const LineEnd = "\n"

// Form says what a word is. The zero Form parts words at every sign, and folds them by Fold.
type Form struct {
	InWords   string              // signs that belong to a word where they stand between letters
	InFigures string              // signs that belong to a number where they stand between figures
	Units     bool                // letters behind figures are a word of their own, but for the end of an English ordinal: 40km, 15th
	Fold      func(string) string // gives a word as it is compared, or "" for none; nil: Fold
}

// Tokens takes a text apart. White space is left out, but for the ends of lines.
func (f Form) Tokens(text string) []Token {
	fold := f.Fold
	if fold == nil {
		fold = Fold
	}
	list := make([]Token, 0, len(text)/5+1)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case inWord(r):
			end := f.wordEnd(text, i)
			if norm := fold(text[i:end]); norm != "" {
				list = append(list, Token{From: i, To: end, Norm: norm, Word: true})
			}
			i = end
			continue
		case r == '\n':
			list = append(list, Token{From: i, To: i + 1, Norm: LineEnd})
		case unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError && size == 1 || unicode.Is(unicode.Cf, r):
		default:
			list = append(list, Token{From: i, To: i + size, Norm: text[i : i+size]})
		}
		i += size
	}
	return list
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func (f Form) wordEnd(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !inWord(r) {
			break
		}
		at += size
		if at+1 >= len(text) {
			continue
		}
		sign, width := utf8.DecodeRuneInString(text[at:])
		next, _ := utf8.DecodeRuneInString(text[at+width:])
		switch {
		case unicode.IsLetter(r) && unicode.IsLetter(next) && strings.ContainsRune(f.InWords, sign),
			isDigit(r) && isDigit(next) && strings.ContainsRune(f.InFigures, sign):
			at += width
		case f.Units && isDigit(r) && unicode.IsLetter(sign) && !isOrdinalTail(text[at:]):
			return at
		}
	}
	return at
}

// isOrdinalTail says whether a text goes on with the end of an English ordinal number.
func isOrdinalTail(text string) bool {
	for _, end := range []string{"st", "nd", "rd", "th"} {
		if rest, ok := strings.CutPrefix(text, end); ok {
			r, _ := utf8.DecodeRuneInString(rest)
			return rest == "" || !inWord(r)
		}
	}
	return false
}

// Fold gives a word in lower case and without accents; one with a sign within keeps its accents.
func Fold(word string) string {
	if strings.ContainsAny(word, "’'.,:/") {
		return strings.ToLower(strings.ReplaceAll(word, "’", "'"))
	}
	folded := ""
	search.EachWord(word, func(w []byte) { folded += string(w) })
	return strings.ReplaceAll(folded, "ß", "ss")
}
