package cli

import (
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/render"
)

// terminalFilter writes to a terminal, but drops characters that are unsafe there unless they belong to the program's
// own sequences: colours, links, cursor up, erase. All output passes through it, so that no text can steer the
// terminal. It also breaks lines that are wider than the terminal.
type terminalFilter struct {
	io.Writer
	columns int    // 0: lines aren't broken
	partial []byte // an incomplete character at the end of the last write
	midLine bool   // the last write ended within a line
}

// filterTerminal returns w behind a terminalFilter if it is a terminal, else w itself.
func filterTerminal(w io.Writer, terminal bool, columns int) io.Writer {
	if !terminal {
		return w
	}
	return &terminalFilter{Writer: w, columns: columns}
}

// ownSequence matches an escape sequence that this program writes, at the beginning of a text.
var ownSequence = regexp.MustCompile(`^(?:\x1b\[(?:[0-9;]*m|[0-9]+A|J|K)|\x1b\]8;;(?:(?:https?|file)://[!-~]*)?\x07)`)

func (c *terminalFilter) Write(p []byte) (int, error) {
	text := append(c.partial, p...)
	c.partial = nil
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch own := ownSequence.Find(text); {
		case own != nil:
			size = len(own)
			b.Write(own)
		case r == utf8.RuneError && size == 1 && !utf8.FullRune(text):
			c.partial = append([]byte{}, text...)
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

// wrapLines breaks wide lines, except one that an earlier write began and those with a carriage return.
func (c *terminalFilter) wrapLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if c.columns > 0 && !c.midLine && !strings.Contains(line, "\r") {
			line = wrapLine(line, c.columns)
		}
		b.WriteString(line)
		c.midLine = !endsLine.MatchString(line)
	}
	return b.String()
}

// beforeText matches the indentation, bullet or number of a line, endsLine a line's end or erasure, columnGap a gap
// between columns, keptWhole a line that stays whole.
var (
	beforeText = regexp.MustCompile(`^(?:\s+|[·•] |\d+\. |\[.] )*(?:sibyl:)?`)
	endsLine   = regexp.MustCompile(`(?:\n|\x1b\[[JK])$`)
	columnGap  = regexp.MustCompile(`\S {2,}`)
	wordOrGap  = regexp.MustCompile(` +|[^ ]+`)
	keptWhole  = regexp.MustCompile(`^(?:\{| +\S+: \S+\n?$| +(?:\w+ \w+ \| |[A-Z_]+=\S+ )?sibyl )`)
)

// wrapLine breaks a line that is wider than columns between words. Continuations align with the text after the bullet
// or number, or with the last column of a table, unless that begins in the right half. Words stay whole, so that
// addresses can be followed, and so do commands, settings and JSON.
func wrapLine(line string, columns int) string {
	plain := ansi.Strip(line)
	if ansi.StringWidth(plain) <= columns || keptWhole.MatchString(plain) {
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
