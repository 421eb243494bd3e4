package cli

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/render"
)

// screen shows text that may not be the answer yet. On a terminal it is laid out as it arrives and taken back when it
// turns out to be something
// else; elsewhere only the answer is written. Below it stands a line that lives, while something is under way. All
// that is printed meanwhile
// goes through it.
type screen struct {
	Streams
	look   render.Options
	colour bool
	still  bool // the terminal can't move its cursor: nothing is taken back

	mu      sync.Mutex
	said    strings.Builder // the text that may not be the answer
	stream  *render.Stream  // of it; nil before the first and behind the last of it
	fresh   []string        // lines that are stable and not on the terminal
	rows    int             // that its stable lines fill on the terminal
	low     int             // rows below them, which are written anew
	over    bool            // its first rows have left the screen
	live    func() string   // the line that lives; nil: none
	lit     bool            // it stands on the terminal
	changed bool            // since the terminal was painted
	stop    func()          // ends the painter
}

// pace is how often the screen is painted while text arrives or a line lives.
const pace = 100 * time.Millisecond

func (s Streams) width() int { return cmp.Or(s.Width, 80) }

func (s *screen) height() int { return cmp.Or(s.Height, 24) }

// provisional shows text as it arrives.
func (s *screen) provisional(text string) {
	if text == "" || !s.OutTTY || s.still {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil {
		s.stream = render.NewStream(s.options())
	}
	s.said.WriteString(text)
	s.fresh = append(s.fresh, s.stream.Write(text)...)
	s.changed = true
	s.begin()
}

// alive has a line stand below all else, as line gives it each time; nil ends it.
func (s *screen) alive(line func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live = line; line == nil {
		s.unlit()
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
	s.alive(nil)
	s.mu.Lock()
	stop := s.stop
	s.stop = nil
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// paint brings the terminal up to date.
func (s *screen) paint() {
	if s.changed && s.stream != nil {
		s.lift()
		s.put(s.fresh)
		s.rows += len(s.fresh)
		s.fresh = nil
		tail := s.stream.Tail()
		tail = tail[max(0, len(tail)-s.height()+2):] // what is higher than the screen could not be taken back
		s.put(tail)
		s.low = len(tail)
		s.over = s.over || s.rows > 0 && s.rows+s.low >= s.height()-1
		s.changed = false
	}
	if s.live != nil && s.ErrTTY && !s.still {
		fmt.Fprint(s.Err, "\r\x1b[K"+s.dim(clipLine(s.live(), s.width()), true))
		s.lit = true
	}
}

func (s *screen) put(lines []string) {
	if len(lines) > 0 {
		fmt.Fprintln(s.Out, strings.Join(lines, "\n"))
	}
}

func (s *screen) unlit() {
	if s.lit {
		fmt.Fprint(s.Err, "\r\x1b[K")
		s.lit = false
	}
}

// lift takes away what is written anew.
func (s *screen) lift() {
	s.unlit()
	s.up(s.low)
	s.low = 0
}

func (s *screen) up(rows int) {
	if rows > 0 {
		fmt.Fprintf(s.Out, "\r\x1b[%dA\x1b[J", rows)
	}
}

// erase takes the provisional text back; what no longer stands on the screen stays above it.
func (s *screen) erase() {
	s.lift()
	if !s.over {
		s.up(s.rows)
	}
	s.forget()
}

func (s *screen) forget() {
	s.said.Reset()
	s.stream, s.fresh, s.rows, s.low, s.over, s.changed = nil, nil, 0, 0, false, false
}

// retract is erase for text that turned out not to be the answer, and says so of what stays.
func (s *screen) retract() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withdraw()
}

func (s *screen) withdraw() {
	stays := s.over
	s.erase()
	if stays {
		fmt.Fprintln(s.Out, s.dim("(that was not the final answer)", true))
	}
}

// makeRoom lets a line of progress begin at the left. What can be taken back makes way, as the answer is shown anew at
// its
// end; of what can't, the rest is written.
func (s *screen) makeRoom() {
	if s.over {
		s.finish()
	} else {
		s.erase()
	}
}

// finish writes the rest of what stays.
func (s *screen) finish() {
	s.lift()
	if s.stream != nil {
		s.put(append(s.fresh, s.stream.Close()...))
	}
	s.stream, s.fresh, s.changed = nil, nil, false
}

// beside prints something else than the answer, at the left of a line of its own.
func (s *screen) beside(print func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ErrTTY && s.OutTTY {
		s.makeRoom()
	}
	s.unlit()
	print()
}

// answer writes the answer: laid out on a terminal, as it is elsewhere. One that stands on the terminal already, too
// tall to
// be taken back, is left as it is.
func (s *screen) answer(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.OutTTY:
		s.unlit()
		fmt.Fprint(s.Out, s.laidOut(text))
	case s.over && strings.TrimSpace(s.said.String()) == strings.TrimSpace(text):
		s.finish()
		s.forget()
	default:
		s.withdraw()
		fmt.Fprint(s.Out, s.laidOut(text))
	}
}

// laidOut is a text with its last line end: laid out for a terminal, and as it is elsewhere.
func (s *screen) laidOut(text string) string {
	if !s.OutTTY {
		return printable(text) + "\n"
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

// folded breaks a text between words where a terminal would break it anywhere; what goes on begins with so many
// spaces. Space at its ends stays.
func (s Streams) folded(text string, tty bool, hang int) string {
	width := s.width() - 1 - hang
	if !tty || width < hang {
		return text
	}
	words := strings.Trim(text, " \n")
	start := strings.Index(text, words)
	return text[:start] + strings.Join(render.Wrap(words, width), "\n"+strings.Repeat(" ", hang)) + text[start+len(words):]
}

// clipLine cuts a line that would fill the width.
func clipLine(s string, width int) string { return ansi.Truncate(s, width-1, "…") }
