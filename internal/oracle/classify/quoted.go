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

// ownWords is what a person says beside what they quote: without lines that begin with > and spans in quotation marks. An order that
// stands only in a quotation is somebody else's. "" where nothing of their own is left.
func ownWords(text string) string {
	b := &strings.Builder{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimLeft(line, " \t"), ">") {
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(quotations().ReplaceAllString(b.String(), ""))
}
