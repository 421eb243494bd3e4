package talk

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// emulator is a terminal that knows the sequences that the renderer writes, and reports all others. Like most of them
// it wraps lines anew when its width changes.
type emulator struct {
	t *testing.T

	mu            sync.Mutex
	changed       chan struct{} // closed by the next write
	width, height int
	rows          [][]rune // the scrollback, and the screen at its end; 0 is the second column of a wide character
	x, y          int      // y from the top of the screen
	saved         [2]int   // the cursor
	rest          []byte   // of a sequence that has not ended
	clipboard     string
	unknown       []string
	modes         map[string]bool
}

func newEmulator(t *testing.T, width, height int) *emulator {
	e := &emulator{t: t, width: width, height: height, changed: make(chan struct{}), modes: map[string]bool{}}
	for range height {
		e.rows = append(e.rows, nil)
	}
	return e
}

func (e *emulator) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rest = append(e.rest, p...)
	for len(e.rest) > 0 {
		n := e.take(e.rest)
		if n == 0 {
			break
		}
		e.rest = e.rest[n:]
	}
	close(e.changed)
	e.changed = make(chan struct{})
	return len(p), nil
}

// top is the first row of the screen.
func (e *emulator) top() int { return len(e.rows) - e.height }

// take takes one character or sequence, and gives its length; 0 if more is needed.
func (e *emulator) take(p []byte) int {
	switch {
	case p[0] == 0x1b:
		return e.sequence(p)
	case p[0] == '\r':
		e.x = 0
	case p[0] == '\n':
		e.x = 0
		e.feed()
	case p[0] == '\b':
		e.x = max(0, e.x-1)
	case p[0] < ' ':
		e.unknown = append(e.unknown, fmt.Sprintf("%q", p[0]))
	default:
		if !utf8.FullRune(p) {
			return 0
		}
		r, n := utf8.DecodeRune(p)
		e.put(r)
		return n
	}
	return 1
}

func (e *emulator) feed() {
	if e.y++; e.y == e.height {
		e.y--
		e.rows = append(e.rows, nil)
	}
}

func (e *emulator) put(r rune) {
	w := ansi.StringWidth(string(r))
	if e.x+w > e.width {
		e.x = 0
		e.feed()
	}
	row := e.top() + e.y
	for len(e.rows[row]) < e.x+w {
		e.rows[row] = append(e.rows[row], ' ')
	}
	e.rows[row][e.x] = r
	if w == 2 {
		e.rows[row][e.x+1] = 0
	}
	e.x += w
}

// sequence takes a sequence.
func (e *emulator) sequence(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	switch p[1] {
	case 'M':
		if e.y == 0 {
			e.unknown = append(e.unknown, "ESC M at the top")
		}
		e.y = max(0, e.y-1)
		return 2
	case '7':
		e.saved = [2]int{e.x, e.y}
		return 2
	case '8':
		e.x, e.y = e.saved[0], e.saved[1]
		return 2
	case ']':
		return e.system(p)
	case '[':
	default:
		e.unknown = append(e.unknown, fmt.Sprintf("%q", p[:2]))
		return 2
	}
	end := 2
	for end < len(p) && (p[end] < '@' || p[end] > '~') {
		end++
	}
	if end == len(p) {
		return 0
	}
	e.control(string(p[2:end]), p[end])
	return end + 1
}

// system takes an OSC.
func (e *emulator) system(p []byte) int {
	text := string(p)
	end, after := strings.IndexByte(text, '\a'), 1
	if st := strings.Index(text, "\x1b\\"); st >= 0 && (end < 0 || st < end) {
		end, after = st, 2
	}
	if end < 0 {
		return 0
	}
	if data, ok := strings.CutPrefix(text[2:end], "52;c;"); ok {
		e.clipboard = data
	} else if !strings.HasPrefix(text[2:end], "8;") {
		e.unknown = append(e.unknown, fmt.Sprintf("%q", text[:end]))
	}
	return end + after
}

// control carries a CSI out.
func (e *emulator) control(arguments string, final byte) {
	n, err := strconv.Atoi(arguments)
	if err != nil {
		n = 1
	}
	row := e.top() + e.y
	switch {
	case strings.ContainsAny(arguments, "?<>=$"): // modes and queries
		if final == 'h' || final == 'l' {
			e.modes[arguments] = final == 'h'
		}
	case final == 'm', final == 'q' && strings.HasSuffix(arguments, " "): // colours, and the form of the cursor
	case final == 'A':
		e.y = max(0, e.y-n)
	case final == 'B':
		e.y = min(e.height-1, e.y+n)
	case final == 'C':
		e.x = min(e.width-1, e.x+n)
	case final == 'D':
		e.x = max(0, e.x-n)
	case final == 'G':
		e.x = n - 1
	case final == 'K' && (arguments == "" || arguments == "0"):
		e.rows[row] = e.rows[row][:min(e.x, len(e.rows[row]))]
	case final == 'K' && arguments == "1":
		for i := range min(e.x+1, len(e.rows[row])) {
			e.rows[row][i] = ' '
		}
	case final == 'J' && (arguments == "" || arguments == "0"):
		if e.x == 0 && e.y == 0 { // as tmux does
			e.keepScreen()
			row = e.top()
		}
		e.rows[row] = e.rows[row][:min(e.x, len(e.rows[row]))]
		for i := row + 1; i < len(e.rows); i++ {
			e.rows[i] = nil
		}
	case final == 'X':
		for i := e.x; i < min(e.x+n, len(e.rows[row])); i++ {
			e.rows[row][i] = ' '
		}
	case final == 'L':
		e.insert(row, n)
	case final == 'P':
		if e.x < len(e.rows[row]) {
			e.rows[row] = append(e.rows[row][:e.x], e.rows[row][min(len(e.rows[row]), e.x+n):]...)
		}
	case final == '@':
		if e.x < len(e.rows[row]) {
			tail := append([]rune{}, e.rows[row][e.x:]...)
			e.rows[row] = append(append(e.rows[row][:e.x], []rune(strings.Repeat(" ", n))...), tail...)
			e.rows[row] = e.rows[row][:min(len(e.rows[row]), e.width)]
		}
	default:
		e.unknown = append(e.unknown, fmt.Sprintf("CSI %s %c", arguments, final))
	}
}

// keepScreen puts what the screen holds into the scrollback.
func (e *emulator) keepScreen() {
	for used := len(e.rows); used > e.top(); used-- {
		if strings.TrimSpace(string(e.rows[used-1])) != "" {
			for range used - e.top() {
				e.rows = append(e.rows, nil)
			}
			return
		}
	}
}

// insert inserts empty rows; what is pushed off the screen is gone.
func (e *emulator) insert(row, n int) {
	n = min(n, len(e.rows)-row)
	kept := append([][]rune{}, e.rows[row:len(e.rows)-n]...)
	for i := range n {
		e.rows[row+i] = nil
	}
	copy(e.rows[row+n:], kept)
}

// resize gives the terminal another size: longer rows are wrapped anew, and the cursor stays where it is in the text.
func (e *emulator) resize(width, height int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := e.top() + e.y
	var rows [][]rune
	cursor := 0
	for i, row := range e.rows {
		row = []rune(strings.TrimRight(string(row), " "))
		if i == at {
			cursor = len(rows) + e.x/width
		}
		for len(row) > width {
			rows, row = append(rows, row[:width:width]), row[width:]
		}
		rows = append(rows, row)
	}
	for len(rows) > cursor+1 && len(rows[len(rows)-1]) == 0 {
		rows = rows[:len(rows)-1]
	}
	for len(rows) < height {
		rows = append(rows, nil)
	}
	e.rows, e.width, e.height = rows, width, height
	e.x, e.y = e.x%width, cursor-(len(rows)-height)
}

// String is the scrollback with the screen, without what is empty at the end.
func (e *emulator) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, row := range e.rows {
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(row), "\x00", ""), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// patience is how long a test waits for what must come.
const patience = 2 * time.Minute

// until waits until the terminal shows what is asked for.
func (e *emulator) until(what string, shows func(screen string) bool) string {
	e.t.Helper()
	deadline := time.After(patience)
	for {
		e.mu.Lock()
		changed := e.changed
		e.mu.Unlock()
		screen := e.String()
		if shows(screen) {
			return screen
		}
		select {
		case <-changed:
		case <-deadline:
			e.t.Fatalf("waited for %s; the terminal shows\n%s", what, screen)
		}
	}
}

// settled gives the screen once nothing has been drawn for a while.
func (e *emulator) settled() string {
	for {
		e.mu.Lock()
		changed := e.changed
		e.mu.Unlock()
		select {
		case <-changed:
		case <-time.After(time.Second):
			return e.String()
		}
	}
}
