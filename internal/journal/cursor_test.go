package journal_test

import (
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

func TestCursorIsReadFromItsTextAndFromNothingElse(t *testing.T) {
	for _, want := range []journal.Cursor{{}, {At: time.UnixMilli(-5).UTC(), ID: "an id with a\x00 zero"},
		{At: time.UnixMilli(99).UTC(), ID: " "}} {
		got, err := journal.ParseCursor(want.String())
		assert.That(t, err == nil && got == want, "%q reads as %v, error %v, want %v", want.String(), got, err, want)
	}
	encoded := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for _, text := range []string{"yesterday", encoded("5"), encoded("5 "), encoded("x id"), encoded("+5 id"),
		encoded("5 id") + "="} {
		got, err := journal.ParseCursor(text)
		assert.That(t, errors.Is(err, journal.ErrInvalid), "%q reads as %v, error %v, want ErrInvalid", text, got, err)
	}
}
