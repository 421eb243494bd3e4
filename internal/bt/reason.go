package bt

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
)

// Reason is a sentence that tells people why something was decided or not done, as a format of package fmt. The HTTP API describes all that there are, so
// that who shows them can word them in other languages.
type Reason string

// With is the sentence with values in it.
func (r Reason) With(values ...any) string {
	if len(values) == 0 {
		return string(r)
	}
	return fmt.Sprintf(string(r), values...)
}

var verb = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%(\.\d)?[a-z]`) })

// Template is the sentence with {0}, {1} and so on where its values stand.
func (r Reason) Template() string {
	n := -1
	return verb().ReplaceAllStringFunc(string(r), func(string) string {
		n++
		return "{" + strconv.Itoa(n) + "}"
	})
}
