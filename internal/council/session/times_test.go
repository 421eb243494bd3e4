package session

import (
	"math"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestTranscriptIsTakenApartByItsTimes(t *testing.T) {
	s, id := begun(t)
	add(t, s, id, "sound")
	const text = "Über May. Then June. And July."
	assert.Must(s.SaveTranscript(t.Context(), id, Transcript{Sequence: 1, Text: text, By: "w",
		Times: []Time{{0, 0.1}, {11, 2.004}, {5, 3}, {22, 2.1}, {22, 4}}}))(t)
	e := assert.Must(s.Get(t.Context(), id))(t).Audio[0]
	same(t, "times", e.Times, "0=0.1 11=2 22=4")
	same(t, "parts", e.Spoken(text), []Spoken{{"Über May. ", 0.1}, {"Then June. ", 2}, {"And July.", 4}})
	late := AudioEntry{Times: "11=2"}
	same(t, "what comes before the first time", late.Spoken(text),
		[]Spoken{{"Über May. ", 0}, {"Then June. And July.", 2}})
}

func TestTimesThatAreNotOfATextAreNone(t *testing.T) {
	for _, times := range []string{"", "1=0", "0=0 99=1", "0=5 6=1", "6=1 3=2", "x", "0=NaN", "0=0 6=+Inf", "0",
		"-1=0"} {
		e := AudioEntry{Times: times}
		got := e.Spoken("Über May.")
		assert.That(t, got == nil, "%q: %+v", times, got)
	}
	assert.Equalf(t, encodeTimes([]Time{{0, math.NaN()}, {3, math.Inf(-1)}, {4, 1}}), "4=1", "what is no time is kept")
}
