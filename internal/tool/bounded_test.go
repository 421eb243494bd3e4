package tool

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"sibyl/internal/behaviour/assert"
)

func TestResultIsCutOffAtItsBoundAndSaysSo(t *testing.T) {
	r := Result{Text: strings.Repeat("ü", MaxResult), Data: json.RawMessage(`"` + strings.Repeat("x", MaxResult) + `"`),
		Refs: make([]Ref, 20_000), Items: 3}.Bounded()
	assert.That(t, utf8.ValidString(r.Text) && len(r.Text) <= MaxResult+100 &&
		strings.HasSuffix(r.Text, "\n[cut off: the result has 2097152 bytes, and at most 1048576 are kept]"),
		"%d bytes that end with %q", len(r.Text), r.Text[len(r.Text)-80:])
	assert.That(t, r.Data == nil && len(r.Refs) == 10_000 && r.Truncated && r.Items == 3,
		"%d bytes of data, %d places, truncated %v, %d items", len(r.Data), len(r.Refs), r.Truncated, r.Items)
	whole := Result{Text: strings.Repeat("x", MaxResult), Data: json.RawMessage(`1`)}
	if got := whole.Bounded(); got.Text != whole.Text || got.Truncated || string(got.Data) != "1" {
		t.Errorf("a result within the bounds was changed: %d bytes, truncated %v", len(got.Text), got.Truncated)
	}
}
