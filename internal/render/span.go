package render

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// style is how a text is set off.
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

// codes are the parameters of the sequences, in the order of the looks. The colours are those of the palette of 256
// that can be read on a light and on a dark ground: no terminal has to be asked for its own.
var codes = [...]string{"1", "2", "3", "4", "9", "38;5;30", "38;5;63"}

// span is a text of one look. Its text is clean; "\n" alone is a line break that the text asks for.
type span struct {
	text  string
	style style
	href  string // where it leads; "" for nowhere
}

// paintLine writes a line.
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

// mergeSpans puts neighbours of one look together.
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
