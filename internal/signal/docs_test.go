package signal

import (
	"os"
	"strings"
	"testing"
)

func TestExamplesOfTheDocumentParse(t *testing.T) {
	text, err := os.ReadFile("../../docs/signals.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Type]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "<"+tagName+" ") {
			continue
		}
		s, err := Parse(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		seen[s.Type] = true
	}
	for _, spec := range Specs() {
		if !seen[spec.Type] {
			t.Errorf("the document has no example of %s", spec.Type)
		}
		for _, f := range spec.Fields {
			if !strings.Contains(string(text), "`"+f.Name+"`") {
				t.Errorf("the document does not name the field %s of %s", f.Name, spec.Type)
			}
		}
	}
}
