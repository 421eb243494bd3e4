package render

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// wrapper fills lines with words, for a single call of wrap.
type wrapper struct {
	width     int
	lines     [][]span
	line      []span
	lineWidth int    // columns of the line
	space     []span // between line and word
	word      []span
	wordWidth int  // columns of the word
	keepWords bool // never break words, even if they are longer than a line
	maySplit  bool // a line may end after word without a space, as between Chinese characters
}

// wrap breaks spans into lines of at most width columns (at least 2), between words where possible.
func wrap(spans []span, width int) [][]span {
	return (&wrapper{width: max(width, 2)}).wrap(spans) // room for any character
}

// wordsOf returns the words that wrap keeps whole if there is room.
func wordsOf(spans []span) [][]span { return (&wrapper{keepWords: true}).wrap(spans) }

func (w *wrapper) wrap(spans []span) [][]span {
	for _, s := range spans {
		if s.text == "\n" {
			w.endWord()
			w.endLine()
			continue
		}
		w.add(s)
	}
	w.endWord()
	if len(w.line) > 0 || len(w.lines) == 0 {
		w.endLine()
	}
	return w.lines
}

func (w *wrapper) add(s span) {
	for rest := s.text; rest != ""; {
		cluster, columns, n, _ := ansi.DecodeSequence(rest, ansi.NormalState, nil)
		rest = rest[n:]
		piece := span{cluster, s.style, s.href}
		if cluster == " " || cluster == "\t" || cluster == "\n" {
			w.endWord()
			piece.text = " "
			w.space = append(w.space, piece)
			continue
		}
		if (w.maySplit || columns == 2) && !belongsToPrevious(cluster) {
			w.endWord()
		}
		w.word = append(w.word, piece)
		w.wordWidth += columns
		w.maySplit = columns == 2
	}
}

// belongsToPrevious reports whether a line must not break before a character: closing punctuation, combining marks.
func belongsToPrevious(cluster string) bool {
	r, _ := utf8.DecodeRuneInString(cluster)
	return unicode.In(r, unicode.Pe, unicode.Pf, unicode.Po, unicode.M)
}

func (w *wrapper) endWord() {
	if len(w.word) == 0 {
		return
	}
	switch gap := len(w.space); {
	case w.lineWidth == 0:
	case w.lineWidth+gap+w.wordWidth <= w.width:
		w.line, w.lineWidth = append(w.line, w.space...), w.lineWidth+gap
	default:
		w.endLine()
	}
	for _, piece := range w.word {
		columns := ansi.StringWidth(piece.text)
		if w.lineWidth+columns > w.width && w.lineWidth > 0 && !w.keepWords {
			w.endLine()
		}
		w.line, w.lineWidth = append(w.line, piece), w.lineWidth+columns
	}
	w.word, w.wordWidth, w.space, w.maySplit = nil, 0, nil, false
}

func (w *wrapper) endLine() {
	w.lines = append(w.lines, mergeSpans(w.line))
	w.line, w.lineWidth, w.space = nil, 0, nil
}

// expandTabs replaces each tab with spaces, to the next multiple of four columns.
func expandTabs(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", 4-ansi.StringWidth(b.String())%4))
		}
		b.WriteString(part)
	}
	return b.String()
}

// chopLine cuts a line into pieces of at most width columns: after the last space if that is in the second half of a
// piece, else at the width.
func chopLine(line string, width int) (pieces []string) {
	begin, gap, used := 0, 0, 0 // begin of the piece and end of its last space, in bytes; columns of the piece
	for at := 0; at < len(line); {
		cluster, columns, n, _ := ansi.DecodeSequence(line[at:], ansi.NormalState, nil)
		if used+columns > width && used > 0 {
			end := at
			if gap > begin && 2*ansi.StringWidth(line[begin:gap]) > width {
				end = gap
			}
			pieces = append(pieces, strings.TrimRight(line[begin:end], " "))
			begin, used = end, ansi.StringWidth(line[end:at])
		}
		at += n
		used += columns
		if cluster == " " {
			gap = at
		}
	}
	return append(pieces, line[begin:])
}
