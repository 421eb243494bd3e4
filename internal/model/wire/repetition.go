package wire

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// repetition notices that a model writes the same again and again: a character, some words, a paragraph, or blanks,
// exactly or in ever new order. The result is the same however the text is cut into chunks.
//
// A text that repeats has few different pieces. Each of n rows of which any two differ has a piece's length of pieces
// of its own, and all share the rest of a row: of a span they have at least n*piece + span/n, so at least twice the
// root of piece*span. That is more than a measure allows, so a list, a table or a log is never taken for repetition,
// however alike its rows are. Nor is a text that comes three times, such as a draft, the text, and a corrected one.
type repetition struct {
	said  []byte
	found bool // it repeats
}

// measure is how few pieces a span at the end of a text has if it repeats.
type measure struct {
	span  int  // bytes
	piece int  // bytes of each piece; they overlap
	most  int  // different pieces
	prose bool // only where the span is words
}

// measures are of short texts, up to some sentences, and of long ones. Rules, markup, empty tables, grids and rows of
// zeros are honest at a length at which words are not.
func measures() []measure {
	return []measure{{span: 3000, piece: 24, most: 375, prose: true}, {span: 6000, piece: 96, most: 1200}}
}

// hidden is the measure of a text in which nothing has been an answer yet: elements of a template, or thinking, in a
// circle of some words.
func hidden() measure { return measure{span: 1000, piece: 24, most: 40} }

// mostBlanks is how many bytes of white space in a row are too many; a text is checked after each checkEvery bytes.
const (
	mostBlanks = 1000
	checkEvery = 250
)

// add adds text up to where it turns out to repeat, and returns how much that is.
func (r *repetition) add(text string) (n int, repeats bool) {
	for n < len(text) {
		part := text[n : n+r.untilCheck(len(text)-n)]
		r.said = append(r.said, part...)
		n += len(part)
		if r.found = len(r.said)%checkEvery == 0 && r.repeats(); r.found {
			return n, true
		}
	}
	return n, false
}

// untilCheck is how many of so many further bytes come before the text is checked next, that byte included.
func (r *repetition) untilCheck(bytes int) int { return min(bytes, checkEvery-len(r.said)%checkEvery) }

// circles says whether a text of which nobody was shown anything goes in a circle.
func (r *repetition) circles() bool {
	r.found = r.found || len(r.said)%checkEvery == 0 && hidden().fits(r.said)
	return r.found
}

func (r *repetition) repeats() bool {
	if len(r.said)-len(r.withoutBlanks()) >= mostBlanks {
		return true
	}
	for _, m := range measures() {
		if m.fits(r.said) {
			return true
		}
	}
	return false
}

func (r *repetition) withoutBlanks() []byte { return bytes.TrimRightFunc(r.said, unicode.IsSpace) }

// fits says whether the end of a text repeats.
func (m measure) fits(said []byte) bool {
	if len(said) < m.span {
		return false
	}
	end := string(said[len(said)-m.span:])
	last := len(end) - m.piece
	if !strings.Contains(end[:len(end)-1], end[last:]) || m.prose && !isProse(end) {
		return false
	}
	seen := make(map[string]struct{}, m.most+1)
	for at := range last + 1 {
		seen[end[at:at+m.piece]] = struct{}{}
		if len(seen) > m.most {
			return false
		}
	}
	return true
}

// isProse says whether a text is words rather than markup or data: half of it are letters, and three quarters with its
// blanks. Of what is beyond ASCII, the first byte decides: signs, lines and boxes begin with 0xe2, pictures with 0xf0.
func isProse(text string) bool {
	letters, blanks, isLetter := 0, 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c < utf8.RuneSelf:
			isLetter = 'a' <= c|0x20 && c|0x20 <= 'z'
			if c == ' ' || c == '\n' {
				blanks++
			}
		case utf8.RuneStart(c):
			isLetter = c != 0xe2 && c < 0xf0
		}
		if isLetter {
			letters++
		}
	}
	return letters*2 >= len(text) && (letters+blanks)*4 >= len(text)*3
}

// before returns what was said before it was said again: up to the end of the first time, without blanks around it.
func (r *repetition) before() string {
	if text := r.withoutBlanks(); len(r.said)-len(text) >= mostBlanks {
		return string(text)
	}
	for _, m := range append(measures(), hidden()) {
		if m.fits(r.said) {
			return m.before(string(r.said))
		}
	}
	return string(r.said)
}

// before returns the beginning of a text whose end repeats. The repetition reaches back as far as nearly all pieces
// come several times at the end.
func (m measure) before(said string) string {
	times := map[string]int{}
	last := len(said) - m.piece
	for at := len(said) - m.span; at <= last; at++ {
		times[said[at:at+m.piece]]++
	}
	from, rare := last, 0
	for at := last; at >= 0; at-- {
		if times[said[at:at+m.piece]] > 1 {
			if rare*10 <= last-at {
				from = at
			}
			continue
		}
		if rare++; rare > m.span/10 {
			break
		}
	}
	again := from + m.piece // at the latest
	for at := from + 1; at <= last; at++ {
		if said[at:at+m.piece] == said[from:from+m.piece] {
			again = at
			break
		}
	}
	for again > 0 && again < len(said) && !utf8.RuneStart(said[again]) {
		again--
	}
	return strings.TrimSpace(said[:again+closingSigns(said[again:])])
}

// closingSigns is the length of the signs at the beginning of a text that end the sentence before it.
func closingSigns(text string) (n int) {
	for _, sign := range text {
		if n > 4 || !strings.ContainsRune(".!?\"')。！？", sign) {
			break
		}
		n += utf8.RuneLen(sign)
	}
	return n
}
