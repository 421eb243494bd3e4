package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/render"
	"sibyl/internal/text/markdown"
)

// screen shows text that may not be the answer yet. On a terminal its end is laid out as it arrives, and taken away
// before anything else is written; elsewhere only the answer is written. Below it stands a line that lives, while
// something is under way. All that is printed meanwhile goes through it.
type screen struct {
	Streams
	look   render.Options
	colour bool
	still  bool // the terminal can't move its cursor: nothing is taken back

	mu     sync.Mutex
	stream *render.Stream // of the text; nil: there is none
	stable []string       // its lines that won't change
	drawn  []string       // its lines on the terminal
	stale  bool           // there is more than is drawn
	live   func() string  // the line that lives; nil: none
	lit    bool           // it stands on the terminal
	stop   func()         // ends the painter
}

// pace is how often the screen is painted while text arrives or a line lives.
const pace = 100 * time.Millisecond

func (s Streams) width() int { return cmp.Or(s.Width, 80) }

func (s Streams) height() int { return cmp.Or(s.Height, 24) }

// showProvisional shows text as it arrives.
func (s *screen) showProvisional(text string) {
	if text == "" || !s.OutTTY || s.still {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil {
		s.stream = render.NewStream(s.options())
	}
	s.stable = append(s.stable, s.stream.Write(text)...)
	s.stale = true
	s.begin()
}

// setStatusLine has a line stand below all else, as line gives it each time; nil ends it.
func (s *screen) setStatusLine(line func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live = line; line == nil {
		s.clearStatusLine()
	} else if s.ErrTTY && !s.still {
		s.begin()
	}
}

// begin has the screen painted until close.
func (s *screen) begin() {
	if s.stop != nil {
		return
	}
	end, over := make(chan struct{}), make(chan struct{})
	s.stop = func() { close(end); <-over }
	go func() {
		defer close(over)
		tick := time.NewTicker(pace)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.mu.Lock()
				s.paint()
				s.mu.Unlock()
			case <-end:
				return
			}
		}
	}()
}

// close ends the painting, and takes the line that lives away.
func (s *screen) close() {
	s.setStatusLine(nil)
	s.mu.Lock()
	stop := s.stop
	s.stop = nil
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// paint brings the terminal up to date: of the text as much as it has room for.
func (s *screen) paint() {
	if s.stale {
		lines := slices.Concat(s.stable, s.stream.Tail())
		s.draw(lines[max(0, len(lines)-s.height()+2):])
		s.stale = false
	}
	if s.live != nil && s.ErrTTY && !s.still {
		fmt.Fprint(s.Err, "\r\x1b[K"+s.dim(clipLine(s.live(), s.width()), true))
		s.lit = true
	}
}

// draw puts lines in place of those that are drawn, from the first on that differs.
func (s *screen) draw(lines []string) {
	s.clearStatusLine()
	same := 0
	for same < min(len(lines), len(s.drawn)) && lines[same] == s.drawn[same] {
		same++
	}
	if rows := len(s.drawn) - same; rows > 0 {
		fmt.Fprintf(s.Out, "\r\x1b[%dA\x1b[J", rows)
	}
	for _, line := range lines[same:] {
		fmt.Fprintln(s.Out, line)
	}
	s.drawn = lines
}

func (s *screen) clearStatusLine() {
	if s.lit {
		fmt.Fprint(s.Err, "\r\x1b[K")
		s.lit = false
	}
}

// retract takes the text away.
func (s *screen) retract() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropText()
}

func (s *screen) dropText() {
	s.draw(nil)
	s.stream, s.stable, s.stale = nil, nil, false
}

// printBeside prints something else than the answer, at the left of a line of its own; the text goes on below it.
func (s *screen) printBeside(print func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw(nil)
	s.stale = s.stream != nil
	print()
}

// writeAnswer writes the answer: laid out on a terminal, and elsewhere as it is, in Markdown.
func (s *screen) writeAnswer(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropText()
	out := printable(text) + "\n"
	if s.OutTTY {
		out = s.renderText(text)
	}
	fmt.Fprint(s.Out, out)
}

// renderText is a text with its last line end: laid out for a terminal, and elsewhere without the escapes of Markdown.
func (s *screen) renderText(text string) string {
	if !s.OutTTY {
		return printable(markdown.Unescaped(text)) + "\n"
	}
	return strings.Join(render.Lines(text, s.options()), "\n") + "\n"
}

func (s *screen) options() render.Options {
	o := s.look
	o.Width, o.Colour = s.width(), s.colour
	return o
}

// dim paints a line of lesser weight on a terminal.
func (s *screen) dim(line string, tty bool) string {
	if line = printable(line); tty && s.colour {
		return "\x1b[2m" + line + "\x1b[22m"
	}
	return line
}

// printable drops control characters, so that no text from elsewhere can steer the terminal.
func printable(text string) string { return render.Clean(text) }

// clipLine cuts a line that would fill the width.
func clipLine(s string, width int) string { return ansi.Truncate(s, width-1, "…") }
