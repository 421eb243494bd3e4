package document

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// run is a text that was drawn at once.
type run struct {
	text     string
	from, to matrix
	size     float64
}

// height is how high its letters are on the page.
func (r run) height() float64 {
	return max(r.size*math.Hypot(r.from[2], r.from[3]), 0.1)
}

// apart gives how far another run begins after this one: along its line, and down from it.
func (r run) apart(next run) (along, down float64) {
	length := math.Hypot(r.from[0], r.from[1])
	if length == 0 {
		return 0, 0
	}
	x, y := r.from[0]/length, r.from[1]/length
	dx, dy := next.from[4]-r.to[4], next.from[5]-r.to[5]
	return dx*x + dy*y, dx*y - dy*x
}

const (
	sameLine  = 0.5  // of the height: raised and lowered figures stay in their line
	blank     = 0.17 // of the height: a gap in which a blank would stand
	cell      = 1.8  // heights: a gap between the cells of a row
	farBack   = 2.0  // heights: from there on a line goes back to another column
	paragraph = 1.35 // of the usual distance of lines
)

// blanks stand between the cells of a row, where a table is set with them.
var blanks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m:([^ \n]) {3,}\b)`)
})

// text gives what was drawn, in the order in which it was drawn: with blanks, lines and paragraphs where they stand on the page.
func (s *sheet) text() string {
	usual := s.usualDistance()
	var b strings.Builder
	for i, r := range s.runs {
		if i > 0 {
			b.WriteString(between(s.runs[i-1], r, usual))
		}
		b.WriteString(r.text)
	}
	return unwrap(clean(blanks().ReplaceAllString(b.String(), "$1"+cells)))
}

// between is what stands between two runs.
func between(before, next run, usual float64) string {
	along, down := before.apart(next)
	height := max(before.height(), next.height())
	switch {
	case math.Abs(down) < sameLine*height && along > -farBack*height:
		if along > cell*height {
			return cells
		}
		if along > blank*min(before.height(), next.height()) && !endsBlank(before.text) && !startsBlank(next.text) {
			return " "
		}
		return ""
	case down < 0, down > paragraph*max(usual, height), before.height() > 1.2*next.height() || next.height() > 1.2*before.height():
		return "\n\n" // up to another column, over a gap, or into another size, such as that of a heading
	}
	return "\n"
}

func endsBlank(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsSpace(r)
}

func startsBlank(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsSpace(r)
}

// usualDistance is the distance of lines within paragraphs: that which a quarter of the distances do not reach.
func (s *sheet) usualDistance() float64 {
	var list []float64
	for i := 1; i < len(s.runs); i++ {
		_, down := s.runs[i-1].apart(s.runs[i])
		if height := s.runs[i].height(); down > sameLine*height && down < 4*height {
			list = append(list, down)
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/4]
}
