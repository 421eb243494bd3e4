package talk

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// terminal is the writer between the renderer and the terminal. It knows when the first frame was drawn, and puts the cursor where the
// renderer believes it to be after the terminal has wrapped the lines of a frame anew.
type terminal struct {
	io.Writer
	shown chan struct{} // closed when the first frame was drawn

	mu    sync.Mutex
	drawn bool
	up    int // rows that the cursor lies lower than the renderer believes
}

func newTerminal(w io.Writer) *terminal { return &terminal{Writer: w, shown: make(chan struct{})} }

// file is a terminal that is a file, as the renderer wants it to read its size and to set its mode.
type file struct {
	*terminal
	term.File
}

func (f file) Write(p []byte) (int, error) { return f.terminal.Write(p) }

// writer is the terminal as the renderer wants it.
func (t *terminal) writer() io.Writer {
	if f, ok := t.Writer.(term.File); ok {
		return file{t, f}
	}
	return t
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.drawn && bytes.Contains(p, []byte(strings.TrimSpace(promptMark))) {
		t.drawn = true
		close(t.shown)
	}
	if t.up > 0 {
		up := t.up
		t.up = 0
		if _, err := io.WriteString(t.Writer, ansi.CursorUp(up)); err != nil {
			return 0, err
		}
	}
	n, err := t.Writer.Write(p)
	if err != nil {
		return n, fmt.Errorf("writing to the terminal: %w", err)
	}
	return n, nil
}

// frame is what was drawn last: the width of each line, and where the cursor stands.
type frame struct {
	widths []int
	x, y   int
	width  int // of the terminal
}

// rewrapped is told that the terminal has another width: it has wrapped the lines of the frame that are longer.
func (t *terminal) rewrapped(f frame, width int) {
	if width <= 0 || width >= f.width {
		return
	}
	extra := f.x / width
	for i, w := range f.widths {
		if i < f.y {
			extra += max(0, w-1) / width
		}
	}
	t.mu.Lock()
	t.up += extra
	t.mu.Unlock()
}
