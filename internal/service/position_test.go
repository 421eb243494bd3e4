package service_test

import (
	"errors"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/service"
)

func TestPlaceIsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string]service.Place{"": {}, "0": {}, "7": {Record: 7}, "7.2": {Record: 7, Updates: 2},
		"16777216": {Record: journal.MaxRecords}} {
		got, err := service.ParsePlace(text)
		assert.That(t, err == nil && got == want, "%q is read as %v, %v; want %v", text, got, err, want)
		again, err := service.ParsePlace(got.String())
		assert.That(t, err == nil && again == want, "%q is written as %q, which is read as %v, %v", text, got, again, err)
	}
	for _, text := range []string{"-1", "+1", " 1", "1 ", "01", "1.", "1.0", "1.-1", "1.2.3", "x", "1.x",
		"99999999999999999999", "16777217", "1.9999999", "1\x00"} {
		got, err := service.ParsePlace(text)
		assert.That(t, errors.Is(err, journal.ErrInvalid), "%q is read as %v, %v", text, got, err)
	}
}

func TestPositionIsReadAsItIsWrittenOrNotAtAll(t *testing.T) {
	const all = `{"since":7,"going":{"a":"0","b":"7.2"},"over":{"c":8,"d":9}}`
	for _, text := range []string{"", `{"since":7}`, `{"since":7,"going":{"a b/!\u003c":"3"}}`, all} {
		p, err := service.ParsePosition(text)
		assert.That(t, err == nil && p.String() == text && p.IsZero() == (text == ""), "%q is read as %q, %v", text, p, err)
	}
	many := service.Position{Since: 1, Running: map[string]service.Place{}}
	for n := range 129 {
		many.Running[strings.Repeat("x", n+1)] = service.Place{Record: 1}
	}
	for _, text := range []string{"{}", "7.2", "null", `{"since":0}`, `{"since":"7"}`, `{"since":7,"more":1}`,
		`{"since":7,"going":{}}`,
		`{"since":7,"going":{"a":"x"}}`, `{"since":7,"going":{"":"1"}}`, `{"since":7,"going":{"b":"1","a":"1"}}`,
		`{"since":7,"going":{"a":"1","a":"1"}}`, `{"since":7,"over":{"a\u0000":8}}`, `{"since":7} `, all[1:],
		many.String()} {
		if p, err := service.ParsePosition(text); !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("%q is read as %q, %v", text, p, err)
		} else if len(text) > 4 && strings.Contains(err.Error(), text) {
			t.Errorf("the error repeats what was read: %v", err)
		}
	}
}
