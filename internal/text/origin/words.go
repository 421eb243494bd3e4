package origin

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a word of a text in lower case, without apostrophes, at text[from:to].
type word struct {
	text     string
	from, to int
}

// words gives the words of a text: letters and digits; a character of a script without blanks is one by itself.
func words(text string) iter.Seq[word] {
	return func(yield func(word) bool) {
		for at := 0; at < len(text); {
			r, size := utf8.DecodeRuneInString(text[at:])
			switch {
			case !isWord(r):
				at += size
				continue
			case isAlone(r):
				if !yield(word{text[at : at+size], at, at + size}) {
					return
				}
				at += size
				continue
			}
			from, joined := at, false
			for at < len(text) {
				r, size = utf8.DecodeRuneInString(text[at:])
				if (r == '\'' || r == '’') && followedByLetter(text[at+size:]) {
					joined, at = true, at+size
					continue
				}
				if !isWord(r) || isAlone(r) {
					break
				}
				at += size
			}
			w := strings.ToLower(text[from:at])
			if joined {
				w = strings.NewReplacer("'", "", "’", "").Replace(w)
			}
			if !yield(word{w, from, at}) {
				return
			}
		}
	}
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// isAlone says whether a character is of a script whose words have no blanks between them.
func isAlone(r rune) bool {
	return r >= 0xE00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
}

func followedByLetter(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLetter(r) && !isAlone(r)
}

// wordsOnly is a text's words with single blanks between them.
func wordsOnly(text string) string {
	b := &strings.Builder{}
	for w := range words(text) {
		b.WriteString(w.text + " ")
	}
	return b.String()
}

// quotedIn gives what stands in a text in quotation marks, each within one line.
func quotedIn(text string) (all []string) {
	for line := range strings.Lines(text) {
		for {
			at := strings.IndexAny(line, `"“`)
			if at < 0 {
				break
			}
			_, size := utf8.DecodeRuneInString(line[at:])
			shut := `"`
			if size > 1 {
				shut = "”"
			}
			inner, rest, closed := strings.Cut(line[at+size:], shut)
			if !closed {
				break
			}
			all, line = append(all, inner), rest
		}
	}
	return all
}
