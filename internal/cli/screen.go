package cli

import (
	"fmt"
	"strings"

	"charm.land/glamour/v2"
	"charm.land/lipgloss/v2"
)

// screen shows text that may not be the answer yet. On a terminal it is written as it arrives and taken back when it
// turns out to be something else; elsewhere only the answer is written.
type screen struct {
	Streams
	colour bool
	shown  strings.Builder
	over   bool // more was shown than can be taken back
}

func (s *screen) width() int {
	if s.Width > 0 {
		return s.Width
	}
	return 80
}

func (s *screen) height() int {
	if s.Height > 0 {
		return s.Height
	}
	return 24
}

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
		rows += 1 + max(0, lipgloss.Width(line)-1)/s.width()
	}
	return rows
}

// erase takes the provisional text back, or marks it where that can't be done.
func (s *screen) erase() {
	if s.shown.Len() == 0 {
		return
	}
	if s.over {
		fmt.Fprintln(s.Out, "\n"+s.dim("(that was not the answer)", true))
	} else {
		fmt.Fprintf(s.Out, "\r")
		if up := s.rows() - 1; up > 0 {
			fmt.Fprintf(s.Out, "\x1b[%dA", up)
		}
		fmt.Fprint(s.Out, "\x1b[J")
	}
	s.shown.Reset()
	s.over = false
}

// answer writes the answer: as Markdown on a terminal, plain elsewhere.
func (s *screen) answer(text string) {
	text = printable(text)
	if !s.OutTTY {
		fmt.Fprintln(s.Out, text)
		return
	}
	style := glamour.WithStandardStyle("notty")
	if s.colour {
		style = glamour.WithStandardStyle("dark")
	}
	r, err := glamour.NewTermRenderer(style, glamour.WithWordWrap(min(s.width(), 120)))
	if err == nil {
		var out string
		if out, err = r.Render(text); err == nil {
			fmt.Fprint(s.Out, out)
			return
		}
	}
	fmt.Fprintln(s.Out, text)
}

var dimStyle = lipgloss.NewStyle().Faint(true)

// dim paints a line of lesser weight on a terminal.
func (s *screen) dim(line string, tty bool) string {
	line = printable(line)
	if !tty || !s.colour {
		return line
	}
	return dimStyle.Render(line)
}

// printable drops control characters, so that no text from elsewhere can steer the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || (r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f)) {
			return r
		}
		return -1
	}, text)
}
