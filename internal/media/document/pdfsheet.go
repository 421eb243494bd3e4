package document

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// box is the place of a letter on its page, in points from the lower left corner, as high as its font.
type box struct{ left, right, bottom, top float64 }

func (b box) height() float64 { return max(b.top-b.bottom, 0.1) }

// pdfWord is a text without blanks.
type pdfWord struct {
	text        string
	from, to    int  // the first and the last letter
	first, last box  // the places of these, if they were read
	beginsLine  bool // it is the first of a line, as PDFium sees it
	afterGap    bool // the space before it may be more than a blank
}

// sheet is the text of a page.
type sheet struct {
	in    pdfium.Pdfium
	page  references.FPDF_TEXTPAGE
	words []pdfWord
}

// Both stand for a hyphen together with the end of its line.
const (
	hyphen       = 0x02
	hyphenInText = 0xfffe // in the text of a whole page
)

// readLetters reads the letters of the page: all at once, which is much faster, or one by one if the text does not have
// as many letters as the page.
func (s *sheet) readLetters() ([]rune, error) {
	count, err := s.in.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: s.page})
	if err != nil {
		return nil, err
	}
	if all, err := s.in.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: s.page, Count: count.Count}); err == nil {
		if letters := []rune(strings.TrimSuffix(all.Text, "\x00")); len(letters) == count.Count &&
			!slices.Contains(letters, unicode.ReplacementChar) {
			for i, letter := range letters {
				if letter == hyphenInText {
					letters[i] = hyphen
				}
			}
			return letters, nil
		}
	}
	letters := make([]rune, count.Count)
	for i := range letters {
		found, err := s.in.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: s.page, Index: i})
		if err != nil {
			return nil, err
		}
		letters[i] = rune(found.Unicode)
	}
	return letters, nil
}

// readWords splits the letters into words, and notes for each whether it begins a line and whether a gap may precede
// it. A word in a mute font, which does not say what its letters are, becomes U+FFFD. Then it reads the places.
func (s *sheet) readWords() error {
	letters, err := s.readLetters()
	if err != nil {
		return err
	}
	w, from, blanks, mute := pdfWord{beginsLine: true}, -1, 0, false
	add := func(to int) error {
		if from < 0 {
			return nil
		}
		w.text, w.from, w.to = strings.ReplaceAll(string(letters[from:to+1]), string(rune(hyphen)), "-"), from, to
		// The font is checked only if it may have changed: at a line, after a mute word, at unusual letters.
		if w.beginsLine || mute || !isUsual(w.text) {
			if mute, err = s.isMute(from); err != nil {
				return err
			}
		}
		if mute {
			w.text = strings.Repeat(string(unicode.ReplacementChar), to+1-from)
		}
		s.words = append(s.words, w)
		w, from, blanks = pdfWord{}, -1, 0
		return nil
	}
	for i, letter := range letters {
		switch {
		case unicode.IsSpace(letter):
			if err := add(i - 1); err != nil {
				return err
			}
			if blanks++; blanks == 1 && letter == ' ' {
				w.afterGap = s.isGenerated(i)
			}
			w.afterGap = w.afterGap || blanks > 1
			w.beginsLine = w.beginsLine || letter == '\n'
			continue
		case from < 0:
			from = i
		}
		if letter == hyphen {
			if err := add(i); err != nil {
				return err
			}
			w.beginsLine = !mute // the line ends here; in a mute font 0x02 may be any letter
		}
	}
	if err := add(len(letters) - 1); err != nil {
		return err
	}
	return s.readBoxes()
}

// isUsual says whether a word has only printable ASCII letters, which every font shows as they are.
func isUsual(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) })
}

// readBoxes reads the places of words. It leaves out words within a line that is not longer than its letters need:
// before these there are only blanks.
func (s *sheet) readBoxes() error {
	if err := s.readEdgeBoxes(); err != nil {
		return err
	}
	lines := s.lines()
	if len(lines) == 0 {
		return nil
	}
	spans := make([]float64, len(lines))
	for i, line := range lines {
		spans[i] = letterWidth(line)
	}
	slices.Sort(spans)
	usual := spans[len(spans)/2]
	for _, line := range lines {
		if wide := float64(line[len(line)-1].to - line[0].from + 1); (letterWidth(line)-usual)*wide > extraWidth {
			for i := range line {
				line[i].afterGap = true
			}
		}
	}
	return s.readEdgeBoxes()
}

// extraWidth is how much longer than usual a line has to be to have a gap in it, in heights of a letter.
const extraWidth = 1

// letterWidth returns the mean width of a line's letters, in heights of a letter.
func letterWidth(line []pdfWord) float64 {
	first, last := line[0], line[len(line)-1]
	return (last.last.right - first.first.left) / first.first.height() / float64(last.to-first.from+1)
}

// lines splits the words before each that begins a line or may follow a gap. It leaves out lines of one word.
func (s *sheet) lines() (lines [][]pdfWord) {
	from := 0
	for i := 1; i <= len(s.words); i++ {
		if i < len(s.words) && !s.words[i].beginsLine && !s.words[i].afterGap {
			continue
		}
		if i-from > 1 {
			lines = append(lines, s.words[from:i])
		}
		from = i
	}
	return lines
}

// readEdgeBoxes reads the places of words that begin a line or may follow a gap, and of the words before them.
func (s *sheet) readEdgeBoxes() (err error) {
	for i := range s.words {
		w := &s.words[i]
		if (i == 0 || w.beginsLine || w.afterGap) && w.first == (box{}) {
			if w.first, err = s.boxOf(w.from); err != nil {
				return err
			}
		}
		ends := i == len(s.words)-1 || s.words[i+1].beginsLine || s.words[i+1].afterGap
		if ends && w.last == (box{}) {
			if w.last, err = s.boxOf(w.to); err != nil {
				return err
			}
		}
	}
	return nil
}

// isGenerated says whether PDFium has made a blank for a gap: it is not in the document.
func (s *sheet) isGenerated(i int) bool {
	found, err := s.in.FPDFText_IsGenerated(&requests.FPDFText_IsGenerated{TextPage: s.page, Index: i})
	return err != nil || found.IsGenerated
}

// isMute says whether a letter's font does not say which letter it is.
func (s *sheet) isMute(i int) (bool, error) {
	found, err := s.in.FPDFText_HasUnicodeMapError(&requests.FPDFText_HasUnicodeMapError{TextPage: s.page, Index: i})
	if err != nil {
		return false, err
	}
	return found.HasUnicodeMapError, nil
}

func (s *sheet) boxOf(i int) (box, error) {
	found, err := s.in.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: s.page, Index: i})
	if err != nil {
		return box{}, err
	}
	r := found.Rect
	return box{left: float64(r.Left), right: float64(r.Right), bottom: float64(r.Bottom), top: float64(r.Top)}, nil
}

// Distances, in heights of a letter.
const (
	sameLine     = 0.45 // down: raised and lowered figures stay in their line
	cellGap      = 1.5  // along: a gap between the cells of a row
	columnBack   = 1.7  // back: a line that continues in another column
	paragraphGap = 1.35 // down, in usual distances of lines
	minDistance  = 0.85 // down: the least usual distance, in heights
	resizedRatio = 1.2  // times the size of the other line: a heading
)

// text returns the words in order, with their separators.
func (s *sheet) text() string {
	usual := s.usualDistance()
	var b strings.Builder
	for i, w := range s.words {
		if i > 0 {
			b.WriteString(s.separator(s.words[i-1], w, usual))
		}
		b.WriteString(w.text)
	}
	return unwrap(cleanText(b.String()))
}

// separator returns what separates two words: a blank, the end of a cell, a line or a paragraph.
func (s *sheet) separator(before, next pdfWord, usual float64) string {
	if !next.beginsLine && !next.afterGap {
		return " "
	}
	a, b := before.last, next.first
	height := max(a.height(), b.height())
	along, down := b.left-a.right, a.bottom-b.bottom
	switch {
	case !next.beginsLine || math.Abs(down) < sameLine*height && along > -columnBack*height:
		if along > cellGap*height {
			return cellSeparator
		}
		return " "
	case down < 0, down > paragraphGap*max(usual, minDistance*height), height > resizedRatio*min(a.height(), b.height()) &&
		s.isResized(before.to, next.from):
		return "\n\n"
	}
	return "\n"
}

// isResized says whether two letters have different font sizes: fonts of one size differ in height.
func (s *sheet) isResized(a, b int) bool {
	one, other := s.fontSize(a), s.fontSize(b)
	return max(one, other) > resizedRatio*min(one, other)
}

// fontSize returns the size of a letter's font on the page; 0 if it is unknown.
func (s *sheet) fontSize(i int) float64 {
	size, err := s.in.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: s.page, Index: i})
	if err != nil {
		return 0
	}
	m, err := s.in.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: s.page, Index: i})
	if err != nil {
		return 0
	}
	return size.FontSize * math.Hypot(float64(m.Matrix.C), float64(m.Matrix.D))
}

// usualDistance returns the distance of lines within paragraphs: the first quartile of all distances.
func (s *sheet) usualDistance() float64 {
	var list []float64
	for i := 1; i < len(s.words); i++ {
		w := s.words[i]
		down := s.words[i-1].last.bottom - w.first.bottom
		if height := w.first.height(); w.beginsLine && down > sameLine*height && down < 4*height {
			list = append(list, down)
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/4]
}
