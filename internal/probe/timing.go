package probe

import (
	"time"

	"sibyl/internal/model"
)

// stopwatch notes when a request was read and when the reply began.
type stopwatch struct{ begun, read, first time.Time }

func (s *stopwatch) note(d model.Delta) {
	switch {
	case d.Reading != nil:
		s.read = time.Now()
	case d.Text != "" && s.first.IsZero():
		s.first = time.Now()
	}
}

// exchange is the tokens and times of one request.
type exchange struct {
	input, cached, output int
	reading, writing      time.Duration
}

// ended makes an exchange of what was noted. Where nothing was streamed, as with a call, the reply began when the last
// of the request was read, and where that is not told either, at its end.
func (s *stopwatch) ended(req model.Request, resp model.Response) exchange {
	now := time.Now()
	if s.first.IsZero() {
		s.first = s.read
	}
	if s.first.IsZero() {
		s.first = now
	}
	e := exchange{input: resp.Usage.InputTokens, cached: resp.Usage.CachedTokens, output: resp.Usage.OutputTokens,
		reading: s.first.Sub(s.begun), writing: now.Sub(s.first)}
	if e.input == 0 {
		e.input = req.Tokens()
	}
	return e
}

// timing sums up the exchanges of a test.
type timing struct {
	longest       exchange // of the most tokens that were not cached
	output        int
	writing       time.Duration
	front, cached int
	window        int
}

// leastOutput is how many tokens a reply has at least to be measured.
const leastOutput = 8

func (t *timing) add(e exchange) {
	if e.input-e.cached > t.longest.input-t.longest.cached {
		t.longest = e
	}
	if e.output >= leastOutput && e.writing > 0 {
		t.output += e.output
		t.writing += e.writing
	}
}

// readSpeed is in tokens a second; 0: not measured.
func (t *timing) readSpeed() float64 {
	return perSecond(t.longest.input-t.longest.cached, t.longest.reading)
}

func (t *timing) speed() model.Speed {
	return model.Speed{Read: t.readSpeed(), Written: perSecond(t.output, t.writing), Cached: t.cached, Front: t.front}
}

// perSecond is rounded to a tenth.
func perSecond(tokens int, took time.Duration) float64 {
	const tenths = 10
	if tokens <= 0 || took < time.Millisecond {
		return 0
	}
	return float64(int(float64(tokens)/took.Seconds()*tenths)) / tenths
}
