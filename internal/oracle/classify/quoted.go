package classify

import (
	"regexp"
	"strings"
	"sync"
)

// quotations are spans in quotation marks that are long enough to hold an order.
var quotations = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"[^"\n]{8,}"|“[^”\n]{8,}”|„[^“”\n]{8,}[“”]|«[^»\n]{8,}»`)
})

// quoted stands for what a person quotes.
const quoted = `"x"`

// ownWords is what a person says beside what they quote: without lines that begin with >, and with one word in the place of a quotation. An order that
// stands only in a quotation is somebody else's. "" where nothing of their own is left.
func ownWords(text string) string {
	b := &strings.Builder{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimLeft(line, " \t"), ">") {
			b.WriteString(line)
		}
	}
	if own := strings.TrimSpace(quotations().ReplaceAllString(b.String(), quoted)); own != quoted {
		return own
	}
	return ""
}
