package cli

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// screen shows text that may not be the answer yet. On a terminal it is written as it arrives and taken back when it
// turns out to be something else; elsewhere only the answer is written.
type screen struct {
	Streams
	colour bool
	shown  strings.Builder
	over   bool // more was shown than can be taken back
}

func (s *screen) width() int { return cmp.Or(s.Width, 80) }

func (s *screen) height() int { return cmp.Or(s.Height, 24) }

// provisional writes text as it arrives. Control characters do not reach the terminal.
func (s *screen) provisional(text string) {
	text = printable(text)
	if text == "" || !s.OutTTY {
		return
	}
	s.shown.WriteString(text)
	fmt.Fprint(s.Out, text)
	if s.rows() >= s.height()-1 {
		s.over = true
	}
}

// rows counts the screen rows that the provisional text fills.
func (s *screen) rows() int {
	rows := 0
	for _, line := range strings.Split(s.shown.String(), "\n") {
		rows += 1 + max(0, ansi.StringWidth(line)-1)/s.width()
	}
	return rows
}

// erase takes the provisional text back; what no longer stands on the screen stays above it.
func (s *screen) erase() {
	if s.shown.Len() == 0 {
		return
	}
	if s.over {
		fmt.Fprintln(s.Out)
	} else {
		fmt.Fprint(s.Out, "\r")
		if up := s.rows() - 1; up > 0 {
			fmt.Fprintf(s.Out, "\x1b[%dA", up)
		}
		fmt.Fprint(s.Out, "\x1b[J")
	}
	s.forget()
}

// retract is erase for text that turned out not to be the answer, and says so of what stays.
func (s *screen) retract() {
	stays := s.over
	s.erase()
	if stays {
		fmt.Fprintln(s.Out, s.dim("(that was not the answer)", true))
	}
}

// makeRoom lets a line of progress begin at the left. What can be taken back makes way, as the answer is shown anew at its
// end; of what can't, the line ends.
func (s *screen) makeRoom() {
	switch {
	case s.over && !strings.HasSuffix(s.shown.String(), "\n"):
		fmt.Fprintln(s.Out)
		s.shown.WriteByte('\n')
	case !s.over:
		s.erase()
	}
}

func (s *screen) forget() {
	s.shown.Reset()
	s.over = false
}

// answer writes the answer: as Markdown on a terminal, plain elsewhere. One that stands on the terminal already, too tall to
// be taken back, is left as it is.
func (s *screen) answer(text string) {
	text = printable(text)
	if s.over && strings.TrimSpace(s.shown.String()) == strings.TrimSpace(text) {
		s.makeRoom()
		s.forget()
		return
	}
	s.retract()
	if s.OutTTY {
		text = markdown(text, s.colour)
	}
	fmt.Fprintln(s.Out, text)
}

// dim paints a line of lesser weight on a terminal.
func (s *screen) dim(line string, tty bool) string {
	return faintStyle.paint(printable(line), tty && s.colour)
}

// bidi says that a character turns the direction of the text around it.
func bidi(r rune) bool { return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' }

// printable drops control characters, so that no text from elsewhere can steer the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || bidi(r)) {
			return -1
		}
		return r
	}, text)
}
