package cli

import (
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/render"
)

// terminalFilter is a terminal that only the program's own sequences reach: colours, links to the web and to files, and
// those that take back what it showed. Everything that is printed passes it, so that a text that nobody has made
// printable can't steer the terminal either, and lines that are wider than the terminal are broken between words.
type terminalFilter struct {
	io.Writer
	columns int    // 0: lines stay as they are
	begun   []byte // of a character whose rest comes with the next write
	within  bool   // the last write ended within a line
}

// filterTerminal wraps a writer that is a terminal of so many columns.
func filterTerminal(w io.Writer, terminal bool, columns int) io.Writer {
	if !terminal {
		return w
	}
	return &terminalFilter{Writer: w, columns: columns}
}

// ownSequence is one of those that this program writes.
var ownSequence = regexp.MustCompile(`^(?:\x1b\[(?:[0-9;]*m|[0-9]+A|J|K)|\x1b\]8;;(?:(?:https?|file)://[!-~]*)?\x07)`)

func (c *terminalFilter) Write(p []byte) (int, error) {
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
		case r == '\n' || r == '\t' || r == '\r' || !render.IsUnsafe(r):
			b.Write(text[:size])
		}
		text = text[size:]
	}
	if _, err := io.WriteString(c.Writer, c.wrapLines(b.String())); err != nil {
		return 0, err
	}
	return len(p), nil
}

// wrapLines breaks the lines that begin in a text. One that is written over stays whole.
func (c *terminalFilter) wrapLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if c.columns > 0 && !c.within && !strings.Contains(line, "\r") {
			line = wrapLine(line, c.columns)
		}
		b.WriteString(line)
		c.within = !endsLine.MatchString(line)
	}
	return b.String()
}

// What stands before the text of a line: below it hangs what is broken off. Columns are two spaces apart, or more.
var (
	beforeText = regexp.MustCompile(`^(?:\s+|[·•] |\d+\. |\[.] )*(?:sibyl:)?`)
	endsLine   = regexp.MustCompile(`(?:\n|\x1b\[[JK])$`)
	columnGap  = regexp.MustCompile(`\S {2,}`)
	wordOrGap  = regexp.MustCompile(` +|[^ ]+`)
	copied     = regexp.MustCompile(`^(?:\{| +\S+: \S+\n?$| +(?:\w+ \w+ \| |[A-Z_]+=\S+ )?sibyl )`)
)

// wrapLine breaks a line between words where it is wider than so many columns; the rest hangs below its last column if
// that begins in its left half. A word stays whole, so that an address can be followed, and so do commands, settings
// and JSON.
func wrapLine(line string, columns int) string {
	plain := ansi.Strip(line)
	if ansi.StringWidth(plain) <= columns || copied.MatchString(plain) {
		return line
	}
	hang := ansi.StringWidth(beforeText.FindString(plain))
	if gaps := columnGap.FindAllStringIndex(plain, -1); gaps != nil {
		const indent = 4
		at := ansi.StringWidth(plain[:gaps[len(gaps)-1][1]])
		if at > columns/2 {
			at = indent
		}
		hang = max(hang, at)
	}
	var b strings.Builder
	at, gap := 0, ""
	for _, piece := range wordOrGap.FindAllString(line, -1) {
		width := ansi.StringWidth(piece)
		switch {
		case strings.HasPrefix(piece, " "):
			gap = piece
			continue
		case at > hang && at+len(gap)+width >= columns:
			gap = "\n" + strings.Repeat(" ", hang)
			at = hang
		default:
			at += len(gap)
		}
		b.WriteString(gap + piece)
		at, gap = at+width, ""
	}
	return b.String() + gap
}
