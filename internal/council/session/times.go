package session

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Time says when a part of a transcript is said.
type Time struct {
	At      int     `json:"at"`      // where it begins in the text, in bytes
	Seconds float64 `json:"seconds"` // from the beginning of the recording
}

// leastBetween is how far two times of a transcript are apart at least, in seconds.
const leastBetween = 0.5

// encodeTimes writes times in one line, as "0=0 45=3.25": a recording has hundreds of them. Those that go back are left
// out.
func encodeTimes(all []Time) string {
	var out []string
	last := Time{-1, -leastBetween}
	for _, t := range all {
		t.Seconds = math.Round(t.Seconds*100) / 100
		if t.At <= last.At || !(t.Seconds-last.Seconds >= leastBetween) {
			continue
		}
		last = t
		out = append(out, fmt.Sprintf("%d=%s", t.At, strconv.FormatFloat(t.Seconds, 'f', -1, 64)))
	}
	return strings.Join(out, " ")
}

// Spoken is a part of a transcript with when it is said.
type Spoken struct {
	Text    string  `json:"text"`
	Seconds float64 `json:"seconds" doc:"From the beginning of the recording."`
}

// Spoken takes a transcript of the entry apart by its times. The parts together are the text; none: no times are known,
// or they are not of this text.
func (e *AudioEntry) Spoken(text string) (parts []Spoken) {
	from := Time{}
	for one := range strings.FieldsSeq(e.Times) {
		at, seconds, _ := strings.Cut(one, "=")
		n, err := strconv.Atoi(at)
		s, secondsErr := strconv.ParseFloat(seconds, 64)
		if cmp.Or(err, secondsErr) != nil || n < from.At || n >= len(text) || !utf8.RuneStart(text[n]) ||
			!(s >= from.Seconds) || math.IsInf(s, 0) {
			return nil
		}
		if n > from.At {
			parts = append(parts, Spoken{text[from.At:n], from.Seconds})
		}
		from = Time{n, s}
	}
	if e.Times == "" || text == "" {
		return nil
	}
	return append(parts, Spoken{text[from.At:], from.Seconds})
}
