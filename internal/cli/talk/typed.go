package talk

import (
	"bytes"
	"io"
	"os"
	"sync/atomic"

	"github.com/charmbracelet/x/term"
)

// typed is the input from a terminal. Until bubbletea puts the terminal into raw mode, at the beginning and after other
// programs, the terminal makes an Enter a line feed, which later is the key of a line break.
type typed struct {
	*os.File
	raw atomic.Bool // the next read returns only what was typed in raw mode
}

// newTyped returns the input for bubbletea, and nil if it is no terminal.
func newTyped(in io.Reader) (io.Reader, *typed) {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return in, nil
	}
	t := &typed{File: f}
	return t, t
}

// pause says that the terminal leaves raw mode for a while.
func (t *typed) pause() {
	if t != nil {
		t.raw.Swap(false)
	}
}

// Read reads keys.
func (t *typed) Read(p []byte) (int, error) {
	n, err := t.File.Read(p)
	if n > 0 && !t.raw.Swap(true) {
		asKeys(p[:n])
	}
	return n, err
}

// asKeys changes the line ends of what was typed early to the keys that are meant: one at the end is Enter. More than
// that is a pasted text: its lines break, and nothing is sent.
func asKeys(early []byte) {
	switch at := bytes.IndexByte(early, '\n'); {
	case at < 0:
	case at == len(early)-1 && bytes.IndexByte(early, '\r') < 0:
		early[at] = '\r'
	default:
		copy(early, bytes.ReplaceAll(early, []byte("\r"), []byte("\n")))
	}
}
