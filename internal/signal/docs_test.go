package signal

import (
	"os"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestExamplesOfTheDocumentParse(t *testing.T) {
	text := assert.Must(os.ReadFile("../../docs/signals.md"))(t)
	seen := map[Type]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "<"+tagName+" ") {
			continue
		}
		s, err := Parse(line)
		assert.That(t, err == nil, "%s: %v", line, err)
		seen[s.Type] = true
	}
	for _, spec := range Specs() {
		assert.That(t, seen[spec.Type], "the document has no example of %s", spec.Type)
		for _, f := range spec.Fields {
			assert.That(t, strings.Contains(string(text), "`"+f.Name+"`"),
				"the document does not name the field %s of %s", f.Name, spec.Type)
		}
	}
}
