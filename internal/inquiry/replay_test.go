package inquiry_test

import (
	"strings"

	"sibyl/internal/inquiry"
	"sibyl/trees"
)

// changed is the tree that is shipped, edited (old, new, old, new …).
func changed(h *house, edits ...string) string {
	h.Helper()
	text := string(must(must(trees.Open(""))(h).Get(inquiry.Name))(h).Text)
	for n := 0; n < len(edits); n += 2 {
		if !strings.Contains(text, edits[n]) {
			h.Fatalf("the tree has no %q", edits[n])
		}
		text = strings.ReplaceAll(text, edits[n], edits[n+1])
	}
	return text
}
