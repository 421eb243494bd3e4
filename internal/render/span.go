package render

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// style is a set of styles, as bits.
type style uint8

const (
	bold style = 1 << iota
	faint
	italic
	underlined
	struck
	cyan
	blue
)

// codes are the parameters of the escape sequences, in the order of the styles. The colours, of the palette of 256, are
// readable on light and dark backgrounds, so that the terminal's need not be known.
var codes = [...]string{"1", "2", "3", "4", "9", "38;5;30", "38;5;63"}

// span is a clean text of one style and link; a span of only "\n" is a line break.
type span struct {
	text  string
	style style
	href  string // the address that it links to; "": none
}

// paintLine returns the text of a line, with the sequences of its styles and links.
func (o Options) paintLine(line []span) string {
	var b strings.Builder
	for i, s := range line {
		if s.text == "" {
			continue
		}
		if s.href != "" && (i == 0 || line[i-1].href != s.href) {
			b.WriteString(ansi.SetHyperlink(s.href))
		}
		b.WriteString(o.paintText(s.text, s.style))
		if s.href != "" && (i+1 == len(line) || line[i+1].href != s.href) {
			b.WriteString(ansi.ResetHyperlink())
		}
	}
	return b.String()
}

func (o Options) paintText(text string, k style) string {
	if k == 0 || !o.Colour || text == "" {
		return text
	}
	var on []string
	for i, code := range codes {
		if k&(1<<i) != 0 {
			on = append(on, code)
		}
	}
	return "\x1b[" + strings.Join(on, ";") + "m" + text + "\x1b[m"
}

// mergeSpans joins neighbouring spans of the same style and link, and drops empty ones.
func mergeSpans(spans []span) (all []span) {
	for _, s := range spans {
		if n := len(all); n > 0 && s.text != "\n" && all[n-1].text != "\n" && all[n-1].style == s.style &&
			all[n-1].href == s.href {
			all[n-1].text += s.text
		} else if s.text != "" {
			all = append(all, s)
		}
	}
	return all
}
