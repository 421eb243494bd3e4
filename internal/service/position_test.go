package service_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sibyl/internal/journal"
	"sibyl/internal/service"
)

func TestPlaceIsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string]service.Place{"": {}, "0": {}, "7": {Record: 7}, "7.2": {Record: 7, Told: 2}, "16777216": {Record: journal.MaxRecords}} {
		got, err := service.ParsePlace(text)
		if err != nil || got != want {
			t.Errorf("%q is read as %v, %v; want %v", text, got, err, want)
		}
		if again, err := service.ParsePlace(got.String()); err != nil || again != want {
			t.Errorf("%q is written as %q, which is read as %v, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"-1", "+1", " 1", "1 ", "01", "1.", "1.0", "1.-1", "1.2.3", "x", "1.x", "99999999999999999999", "16777217", "1.9999999", "1\x00"} {
		if got, err := service.ParsePlace(text); !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
}

func TestPositionIsReadAsItIsWrittenOrNotAtAll(t *testing.T) {
	for _, text := range []string{"", "since-mhkl0000", "since-mhkl0000!a:0!b:7.2", "since-mhkl0000!a:0!b:7.2!c*mhkl0001!d*mhkl0002", "since-mhkl0000!a+b%2F%21%3A%2A:3"} {
		p, err := service.ParsePosition(text)
		if err != nil || p.String() != text || p.IsZero() != (text == "") {
			t.Errorf("%q is read as %q, %v", text, p, err)
		}
	}
	many := "since-mhkl0000" + strings.Repeat("!x:1", 500)
	for _, text := range []string{"!", "since-mhkl0000!", "since-mhkl0000!a", "since-mhkl0000!a:", "since-mhkl0000!a:x", "since-mhkl0000!a*", "since-mhkl0000!b:1!a:1", "since-mhkl0000!a:1!a:1", "since-mhkl0000!a*1!b:1",
		"since-mhkl0000!a b:1", "since-MHKL0000", "7.2", "since-", "-", "since-zzzzzzzzzzzzzzzzzz", "since-mhkl0000!%:1", many} {
		if p, err := service.ParsePosition(text); !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("%q is read as %q, %v", text, p, err)
		} else if text != "" && len(text) > 2 && strings.Contains(err.Error(), text) {
			t.Errorf("the error repeats what was read: %v", err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`since-[0-9a-z]{0,9}(![a-z%+]{0,3}[:*][0-9a-z.]{0,4}){0,4}`).Draw(t, "text")
		if p, err := service.ParsePosition(text); err == nil && p.String() != text {
			t.Errorf("%q is read as %q", text, p)
		}
	})
}
