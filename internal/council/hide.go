package council

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// hideWord takes a name out of a text where it stands alone, whatever its case and accents.
func hideWord(text, name string) string {
	want := []rune(bare(name))
	if len(want) == 0 {
		return text
	}
	b := &strings.Builder{}
	inWord := false
	for i := 0; i < len(text); {
		n := 0
		if !inWord {
			n = nameAt(text[i:], want)
		}
		if n > 0 {
			b.WriteString("[…]")
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		b.WriteString(text[i : i+size])
		inWord = isLetter(r)
		i += size
	}
	return b.String()
}

// nameAt is how many bytes a text begins with that are a name as bare gives it, and after which no word goes on; 0 if it does not begin so.
func nameAt(text string, want []rune) int {
	found := 0
	for i, r := range text {
		letters := []rune(bare(string(r)))
		if found == len(want) && len(letters) > 0 {
			if isLetter(r) {
				return 0
			}
			return i
		}
		for _, l := range letters {
			if found == len(want) || l != want[found] {
				return 0
			}
			found++
		}
	}
	if found < len(want) {
		return 0
	}
	return len(text)
}

// bare is a text without what names are not told apart by: case, accents, and the form of apostrophes and spaces.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == '’' || r == 'ʼ' || r == '‘':
			return '\''
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
}

func isLetter(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}
