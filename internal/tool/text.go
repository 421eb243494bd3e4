package tool

import (
	"fmt"

	"sibyl/internal/text"
)

// Clip returns the longest beginning of s within limit bytes that ends with a whole character.
func Clip(s string, limit int) string { return text.Clip(s, limit) }

// MaxResult bounds the text of a result, and the structured result behind it, in bytes each: no tool needs as much, and
// each result is kept.
const MaxResult = 1 << 20

// Bounded cuts r to the bounds of a result: it cuts the text off, and leaves out data that is too large and places that
// are too many.
func (r Result) Bounded() Result {
	const maxRefs = 10_000
	if len(r.Text) <= MaxResult && len(r.Data) <= MaxResult && len(r.Refs) <= maxRefs {
		return r
	}
	r.Truncated = true
	if n := len(r.Text); n > MaxResult {
		r.Text = Clip(r.Text, MaxResult) + fmt.Sprintf("\n[cut off: the result has %d bytes, and at most %d are kept]",
			n, MaxResult)
	}
	if len(r.Data) > MaxResult {
		r.Data = nil
	}
	r.Refs = r.Refs[:min(len(r.Refs), maxRefs)]
	return r
}

// Count returns a number with its noun: 1 note, 2 notes, 2 entries.
func Count(n int, noun string) string { return text.Count(n, noun) }
