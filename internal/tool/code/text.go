package code

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"sibyl/internal/tool"
)

const (
	maxLine  = 500 // bytes of one line that are shown
	maxShort = 200 // bytes of a line that is only a hint
)

// printable makes text from a file safe to show: valid UTF-8, control characters and those that turn the direction of
// writing made visible, and no longer than most bytes.
func printable(line string, most int) string { return printableCut(line, most, 0) }

// printableCut is printable for a line of which rest further bytes were left out already.
func printableCut(line string, most, rest int) string {
	line = strings.TrimRight(line, "\r\n")
	if len(line) > most {
		cut := most
		for cut > most-utf8.UTFMax && !utf8.RuneStart(line[cut]) {
			cut--
		}
		rest, line = rest+len(line)-cut, line[:cut]
	}
	line = strings.Map(visible, line)
	if rest > 0 {
		line += fmt.Sprintf(" … [%d more bytes in this line]", rest)
	}
	return line
}

// excerpt returns a line or, if it is long, the part of it around a place.
func excerpt(line []byte, at int) string {
	from := 0
	if len(line) > maxShort && at > maxShort/2 {
		for from = at - maxShort/4; from < at && !utf8.RuneStart(line[from]); from++ {
		}
	}
	text := printable(strings.TrimSpace(string(line[from:])), maxShort)
	if from > 0 {
		return "… " + text
	}
	return text
}

func visible(r rune) rune {
	switch {
	case r == '\t':
		return r
	case r < ' ':
		return '␀' + r
	case r == 0x7f:
		return '␡'
	case 0x80 <= r && r < 0xa0, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069, r == 0x2028, r == 0x2029,
		r == 0xfeff:
		return utf8.RuneError
	}
	return r
}

// resultText is the text of a result, bounded to the allowed length.
type resultText struct {
	strings.Builder
	full bool // there was no room for a line
}

// addLine writes a line, and says whether there was room for it. After a line that was left out, no other is written.
func (p *resultText) addLine(format string, args ...any) bool {
	line := fmt.Sprintf(format, args...)
	p.full = p.full || p.Len()+len(line) > tool.MaxText-readReserve
	if !p.full {
		p.WriteString(line + "\n")
	}
	return !p.full
}
