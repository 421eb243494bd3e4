package cli

import (
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"sibyl/internal/render"
)

// calm is a terminal that only the program's own sequences reach: colours, links to the web and to files, and those
// that take back what it showed. Everything that is
// printed passes it, so that a text that nobody has made printable can't steer the terminal either.
type calm struct {
	io.Writer
	begun []byte // of a character whose rest comes with the next write
}

// calmed wraps a writer that is a terminal.
func calmed(w io.Writer, terminal bool) io.Writer {
	if !terminal {
		return w
	}
	return &calm{Writer: w}
}

// ownSequence is one of those that this program writes.
var ownSequence = regexp.MustCompile(`^(?:\x1b\[(?:[0-9;]*m|[0-9]+A|J|K)|\x1b\]8;;(?:(?:https?|file)://[!-~]*)?\x07)`)

func (c *calm) Write(p []byte) (int, error) {
	text := append(c.begun, p...)
	c.begun = nil
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch own := ownSequence.Find(text); {
		case own != nil:
			size = len(own)
			b.Write(own)
		case r == utf8.RuneError && size == 1 && !utf8.FullRune(text):
			c.begun = append([]byte{}, text...)
			size = len(text)
		case r == utf8.RuneError && size == 1:
			b.WriteRune(utf8.RuneError)
		case r == '\n' || r == '\t' || r == '\r' || !render.Steers(r):
			b.Write(text[:size])
		}
		text = text[size:]
	}
	if _, err := io.WriteString(c.Writer, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
