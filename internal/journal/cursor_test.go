package journal_test

import (
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"sibyl/internal/journal"
)

func TestCursorIsReadFromItsTextAndFromNothingElse(t *testing.T) {
	for _, want := range []journal.Cursor{{}, {At: time.UnixMilli(-5).UTC(), ID: "an id with a\x00 zero"},
		{At: time.UnixMilli(99).UTC(), ID: " "}} {
		if got, err := journal.ParseCursor(want.String()); err != nil || got != want {
			t.Errorf("%q reads as %v, error %v, want %v", want.String(), got, err, want)
		}
	}
	encoded := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for _, text := range []string{"yesterday", encoded("5"), encoded("5 "), encoded("x id"), encoded("+5 id"),
		encoded("5 id") + "="} {
		if got, err := journal.ParseCursor(text); !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("%q reads as %v, error %v, want ErrInvalid", text, got, err)
		}
	}
}
