package redact

import (
	"strings"
	"testing"
)

// What is remembered of a text holds for every byte of it, and for this Redactor alone.
func TestTextThatComesAgainIsRedactedAsAtFirst(t *testing.T) {
	secret := "correct horse battery staple"
	r := New()
	for _, size := range []int{leastKnown - 1, leastKnown, 4 << 10, mostKnown, mostKnown + 1} {
		ordinary := strings.Repeat("An ordinary sentence. ", size/20+1)[:size-len(secret)] + secret
		shaped := ordinary[:size-len(letters)-4] + " sk-" + letters
		for range 3 {
			if got := string(r.Bytes([]byte(ordinary))); got != ordinary {
				t.Fatalf("%d bytes without a secret became %q", size, got)
			}
			if got := string(r.Bytes([]byte(shaped))); !strings.HasSuffix(got, Mark) {
				t.Fatalf("%d bytes with a token at their end are left alone", size)
			}
			if got := string(New(secret).Bytes([]byte(ordinary))); !strings.HasSuffix(got, Mark) {
				t.Fatalf("%d bytes with a secret that another Redactor does not know are left alone", size)
			}
		}
	}
}
