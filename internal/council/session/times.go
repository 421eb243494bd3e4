package session

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Time says when a passage of a transcript is spoken.
type Time struct {
	At      int     `json:"at"`      // byte offset of its beginning in the text
	Seconds float64 `json:"seconds"` // from the beginning of the recording
}

// leastBetween is the minimum distance between two stored times of a transcript, in seconds.
const leastBetween = 0.5

// encodeTimes formats times in one line: "0=0 45=3.25". It leaves out those that go back or follow within leastBetween.
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

// movedTimes gives the times of a text for what was made of it: those before and behind the part that differs. Within
// it nothing tells where a passage went.
func movedTimes(all []Time, was, is string) (moved []Time) {
	if was == is {
		return all
	}
	most, same, end := min(len(was), len(is)), 0, 0
	for same < most && was[same] == is[same] {
		same++
	}
	for end < most-same && was[len(was)-1-end] == is[len(is)-1-end] {
		end++
	}
	for _, t := range all {
		switch {
		case t.At <= same:
			moved = append(moved, t)
		case t.At >= len(was)-end:
			moved = append(moved, Time{t.At + len(is) - len(was), t.Seconds})
		}
	}
	return moved
}

// Spoken is a passage of a transcript with the time at which it is spoken.
type Spoken struct {
	Text    string  `json:"text"`
	Seconds float64 `json:"seconds" doc:"From the beginning of the recording."`
}

// Spoken splits the entry's transcript at its times; the parts joined are the text. It gives nil if there are no times
// or they do not fit this text.
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
