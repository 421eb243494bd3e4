package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/render"
	"sibyl/internal/text/markdown"
)

// screen shows provisional text and then the answer. On a terminal it draws the text as it arrives and removes it
// before it writes anything else; elsewhere only the answer is written. A status line below says what is under way.
// Until close, everything has to be printed through the screen.
type screen struct {
	Streams
	look   render.Options
	colour bool
	still  bool // the terminal can't move its cursor: nothing is redrawn

	mu     sync.Mutex     // held by the callers of begin, paint, draw, clearStatusLine and dropText
	stream *render.Stream // of the provisional text; nil: there is none
	stable []string       // lines of the text that won't change
	drawn  []string       // lines of the text that are on the terminal
	stale  bool           // the text has to be drawn again
	latest time.Time      // when text was last drawn
	live   func() string  // gives the status line; nil: none
	lit    bool           // the status line is on the terminal
	stop   func()         // ends the painting; nil: none

	standing string // the beginning of the answer that is written already
}

// pace is the interval of painting while text arrives or a status line is shown.
const pace = 100 * time.Millisecond

func (s Streams) width() int { return cmp.Or(s.Width, 80) }

func (s Streams) height() int { return cmp.Or(s.Height, 24) }

// showProvisional adds to the provisional text and has it drawn; off a terminal it does nothing.
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
	if time.Since(s.latest) >= pace { // the first word waits for no tick
		s.paint()
	}
}

// setStatusLine shows a line below all else, which line computes at each painting; nil removes it.
func (s *screen) setStatusLine(line func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live = line; line == nil {
		s.clearStatusLine()
	} else if s.ErrTTY && !s.still {
		s.begin()
	}
}

// begin starts to paint the screen, until close.
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

// close ends the painting and removes the status line; the text stays.
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

// paint draws the last lines of the text that fit on the terminal, if it has changed, and the status line.
func (s *screen) paint() {
	if s.stale {
		lines := slices.Concat(s.stable, s.stream.Tail())
		s.draw(lines[max(0, len(lines)-s.height()+2):])
		s.stale, s.latest = false, time.Now()
	}
	if s.live != nil && s.ErrTTY && !s.still {
		fmt.Fprint(s.Err, "\r\x1b[K"+s.dim(clipLine(s.live(), s.width()), true))
		s.lit = true
	}
}

// draw removes the status line and replaces the drawn lines, from the first that differs.
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

// retract removes the provisional text.
func (s *screen) retract() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropText()
}

func (s *screen) dropText() {
	s.draw(nil)
	s.stream, s.stable, s.stale = nil, nil, false
}

// printBeside prints something other than the answer, on a new line; the next painting draws the text below it.
func (s *screen) printBeside(print func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw(nil)
	s.stale = s.stream != nil
	print()
}

// writeStanding writes, off a terminal, the beginning of an answer that nothing is expected to replace, or more of it.
func (s *screen) writeStanding(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = printable(strings.TrimLeftFunc(text, unicode.IsSpace)) // as an answer begins
	if more, goesOn := strings.CutPrefix(text, s.standing); goesOn && more != "" {
		fmt.Fprint(s.Out, more)
		s.standing = text
	}
}

// goesOn says whether what is written of an answer is its beginning.
func (s *screen) goesOn(answer string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.HasPrefix(printable(answer)+"\n", s.standing)
}

// writeAnswer replaces the provisional text by the answer: laid out on a terminal, elsewhere as Markdown, without the
// beginning that is written already.
func (s *screen) writeAnswer(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropText()
	out := strings.TrimPrefix(printable(text)+"\n", s.standing)
	s.standing = ""
	if s.OutTTY {
		out = s.renderText(text)
	}
	fmt.Fprint(s.Out, out)
}

// renderText lays Markdown out for a terminal, and elsewhere removes its escapes; the text ends with a line end.
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

// dim makes a line printable, and faint on a terminal with colours.
func (s *screen) dim(line string, tty bool) string {
	if line = printable(line); tty && s.colour {
		return "\x1b[2m" + line + "\x1b[22m"
	}
	return line
}

// printable drops control characters, so that text can't control the terminal.
func printable(text string) string { return render.Clean(text) }

// clipLine cuts a line to less than width columns, with a … at the cut.
func clipLine(s string, width int) string { return ansi.Truncate(s, width-1, "…") }
