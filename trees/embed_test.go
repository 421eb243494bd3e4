package trees

import (
	"strings"
	"testing"
	"unicode/utf8"

	"sibyl/internal/behaviour/assert"
)

func TestTreesFitOnAScreen(t *testing.T) {
	for _, tree := range assert.Must(Set{}.All())(t) {
		n := 0
		for line := range strings.Lines(string(tree.Text)) {
			n++
			columns := utf8.RuneCountInString(strings.TrimRight(line, "\n"))
			assert.That(t, columns <= 160, "%s:%d has %d columns", tree.File, n, columns)
		}
	}
}
