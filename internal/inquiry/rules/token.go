package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/text/search"
)

// token is a word, a number or a sign of a text.
type token struct {
	from, to int    // bytes
	norm     string // in lower case and without accents; a sign as it is, "\n" for the end of a line
	word     bool
	upper    bool   // it begins with a capital letter
	stem     string // "" until a language has read it
	said     string // the word as it stands
}

// tokens takes a text apart. White space is left out, but for the ends of lines.
func tokens(text string) []token {
	list := make([]token, 0, len(text)/5+1)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case inWord(r):
			end := wordEnd(text, i)
			if norm := fold(text[i:end]); norm != "" {
				list = append(list, token{from: i, to: end, norm: norm, word: true, upper: unicode.IsUpper(r), said: text[i:end]})
			}
			i = end
		case r == '\n':
			list = append(list, token{from: i, to: i + 1, norm: "\n"})
			i++
		case unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError && size == 1 || unicode.Is(unicode.Cf, r):
			i += size
		default:
			list = append(list, token{from: i, to: i + size, norm: text[i : i+size]})
			i += size
		}
	}
	return list
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// wordEnd finds the end of a word. An apostrophe between letters, the signs within a number and a hyphen between letters belong to it.
func wordEnd(text string, at int) int {
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
		digits := isDigit(r) && isDigit(next)
		switch {
		case (sign == '\'' || sign == '’') && unicode.IsLetter(r) && unicode.IsLetter(next),
			strings.ContainsRune(".,:/", sign) && digits,
			sign == '-' && unicode.IsLetter(r) && unicode.IsLetter(next):
			at += width
		}
		if isDigit(r) && unicode.IsLetter(sign) && !isOrdinalTail(text[at:]) {
			break // 40km are two words
		}
	}
	return at
}

// isOrdinalTail says whether a text goes on with the end of an ordinal number.
func isOrdinalTail(text string) bool {
	for _, end := range []string{"st", "nd", "rd", "th"} {
		if rest, ok := strings.CutPrefix(text, end); ok {
			r, _ := utf8.DecodeRuneInString(rest)
			return rest == "" || !inWord(r)
		}
	}
	return false
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func (t token) isFigure() bool { return t.word && isDigit(rune(t.norm[0])) }

// fold gives a word as it is compared.
func fold(word string) string {
	if word == "" {
		return ""
	}
	if isDigit(rune(word[0])) {
		return strings.ToLower(word)
	}
	if isPlain(word) {
		return strings.ToLower(word)
	}
	parts := strings.FieldsFunc(word, func(r rune) bool { return r == '’' || r == '\'' || r == '-' })
	signs := strings.Map(func(r rune) rune {
		switch r {
		case '’', '\'':
			return '\''
		case '-':
			return '-'
		}
		return -1
	}, word)
	var b strings.Builder
	for i, p := range parts {
		if i > 0 && i <= len(signs) {
			b.WriteByte(signs[i-1])
		}
		search.EachWord(spelled(p), func(w []byte) { b.Write(w) })
	}
	return b.String()
}

// spelled writes umlauts with two letters, as who has no such keys does: “hätte” is no form of “hatte”.
func spelled(word string) string {
	var b strings.Builder
	for _, r := range word {
		switch r {
		case 'ä', 'Ä':
			b.WriteString("ae")
		case 'ö', 'Ö':
			b.WriteString("oe")
		case 'ü', 'Ü':
			b.WriteString("ue")
		case 'ß', 'ẞ':
			b.WriteString("ss")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isPlain(word string) bool {
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// span is what tokens of a text say, verbatim, on one line.
func span(text string, list []token) string {
	if len(list) == 0 {
		return ""
	}
	return oneLine(text[list[0].from:list[len(list)-1].to])
}

// oneLine puts a text on one line, without what a terminal would obey.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// shorten cuts a text after a word, and says so.
func shorten(text string, most int) string {
	text = oneLine(text)
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	cut := string([]rune(text)[:most])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:-–") + "…"
}
