package talk

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestLineEndsThatAreTypedEarlyAreTheKeysThatAreMeant(t *testing.T) {
	for typed, want := range map[string]string{
		"How?\n":                 "How?\r",
		"How":                    "How",
		"How?\r":                 "How?\r", // raw mode was there
		"one\ntwo":               "one\ntwo",
		"one\ntwo\n":             "one\ntwo\n",
		"one\ntwo\rthree\r":      "one\ntwo\nthree\n", // raw mode came in between
		"one\rtwo\r":             "one\rtwo\r",
		"\x1b[200~a\rb\x1b[201~": "\x1b[200~a\rb\x1b[201~",
	} {
		got := []byte(typed)
		asKeys(got)
		assert.Equalf(t, string(got), want, "%q", typed)
	}
}
