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

// terminal is the writer between the renderer and the terminal. It notices the first frame, replaces how the screen is
// erased (eraseBelow), and corrects the cursor after the terminal became narrower.
type terminal struct {
	io.Writer
	shown chan struct{} // closed when the first frame was drawn

	mu    sync.Mutex
	drawn bool
	up    int // rows that the cursor is below where the renderer believes it
}

func newTerminal(w io.Writer) *terminal { return &terminal{Writer: w, shown: make(chan struct{})} }

// file is a terminal that is also a file, so that the renderer can read its size and set its mode.
type file struct {
	*terminal
	term.File
}

func (f file) Write(p []byte) (int, error) { return f.terminal.Write(p) }

// writer returns the writer for the renderer: also a term.File, if the terminal is one.
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
			return 0, fmt.Errorf("writing to the terminal: %w", err)
		}
	}
	if _, err := t.Writer.Write(bytes.ReplaceAll(p, []byte(ansi.EraseScreenBelow), []byte(eraseBelow))); err != nil {
		return 0, fmt.Errorf("writing to the terminal: %w", err)
	}
	return len(p), nil
}

// eraseBelow erases the rest of the cursor's row, and then the rows below: tmux would save in its scrollback what is
// erased from the top of the screen on.
const eraseBelow = ansi.SaveCursor + ansi.EraseLineRight + ansi.CUD1 + "\r" + ansi.EraseScreenBelow + ansi.RestoreCursor

// frame describes what was drawn last: the width of each line, and the position of the cursor.
type frame struct {
	widths []int
	x, y   int
	width  int // of the terminal
}

// resized corrects the cursor's row after the terminal became narrower and wrapped the lines of the frame that are
// longer than width; a wider terminal changes nothing.
func (t *terminal) resized(f frame, width int) {
	if width <= 0 || width >= f.width {
		return
	}
	extra := f.x / width
	for _, w := range f.widths[:min(f.y, len(f.widths))] {
		extra += max(0, w-1) / width
	}
	t.mu.Lock()
	t.up += extra
	t.mu.Unlock()
}

// rewraps reports whether the terminal of an environment wraps lines again when its width changes, as most do.
func rewraps(env func(string) string) bool {
	term := env("TERM")
	switch {
	case env("TMUX") != "":
		return true
	case env("XTERM_VERSION") != "" || env("STY") != "" || term == "linux" || strings.HasPrefix(term, "rxvt") ||
		strings.HasPrefix(term, "screen"):
		return false
	}
	return true
}
