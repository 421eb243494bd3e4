package modeltest

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/model"
)

// Wire is how a protocol writes the parts of a stream.
type Wire struct {
	Begin   string                    // of every stream; may be empty
	Alive   []string                  // parts that keep a connection alive
	Thought string                    // a part with nothing but thinking
	Text    string                    // a part with five bytes of text
	End     string                    // of a whole stream
	Usage   func(input string) string // End with a number of input tokens
}

// Clocks checks on a clock of its own how long an adapter with the usual times of the cloud waits: for progress, whatever keeps the
// connection alive, and for as long as there is some.
func Clocks(t *testing.T, connect Connect, w Wire) {
	const hours = 2 * 60 * 60 / 15
	for name, c := range map[string]struct {
		pause time.Duration
		parts []string
		ended time.Duration // after which the adapter ends the answer; zero: never
		why   error
	}{
		"TwoHoursOfNothingEndAfterTwoMinutes":  {15 * time.Second, cycle(w.Alive, hours), 2 * time.Minute, model.ErrUnanswered},
		"SilenceAfterThinkingEndsAfterAMinute": {15 * time.Second, append([]string{w.Thought, w.Thought}, cycle(w.Alive, hours)...), 90 * time.Second, nil},
		"SteadyStreamOfThreeMinutesPasses":     {5 * time.Second, cycle([]string{w.Text}, 36), 0, nil},
		"ReasoningOfThreeMinutesThenTextPass":  {5 * time.Second, append(cycle([]string{w.Thought}, 36), w.Text), 0, nil},
		"LateBeginningPasses":                  {110 * time.Second, []string{w.Text}, 0, nil},
		"AnswerOf100KBPasses":                  {10 * time.Millisecond, cycle([]string{w.Text}, 20<<10), 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parts := append([]string{w.Begin + c.parts[0]}, c.parts[1:]...)
				if c.ended == 0 {
					parts[len(parts)-1] += w.End
				}
				m := connect(&http.Client{Transport: paced{c.pause, parts}})
				begin := time.Now()
				resp, err := m.Chat(t.Context(), question(), nil)
				took := time.Since(begin)
				if c.ended == 0 {
					if err != nil || resp.Text == "" || resp.Finish != model.FinishStop || took != c.pause*time.Duration(len(parts)) {
						t.Errorf("got %d bytes, %v after %v", len(resp.Text), err, took)
					}
					return
				}
				outcome{err: err}.failedAs(t, m, model.Timeout)
				if took != c.ended || c.why != nil && !errors.Is(err, c.why) {
					t.Errorf("%v after %v; want %v after %v", err, took, c.why, c.ended)
				}
			})
		})
	}
	for _, input := range []string{"-1", "9000000000000000000", "100000001"} {
		resp, err := ChatOver(t, connect, func() io.Reader { return strings.NewReader(w.Begin + w.Text + w.Usage(input)) })
		if u := resp.Usage; err != nil || min(u.InputTokens, u.CachedTokens) < 0 || max(u.InputTokens, u.CachedTokens) > 100 {
			t.Errorf("%s tokens of input are believed: %+v, %v", input, u, err)
		}
	}
	for input, clamped := range map[string]bool{"17": false, "90000000": true} {
		resp, err := ChatOver(t, connect, func() io.Reader { return strings.NewReader(w.Begin + w.Text + w.Usage(input)) })
		u := resp.Usage
		if err != nil || (resp.Reported != nil) != clamped || clamped && (u.InputTokens > 16<<10 || u.CachedTokens > u.InputTokens || resp.Reported.InputTokens < 1<<20) {
			t.Errorf("%s tokens of input: %+v, reported %+v, %v", input, u, resp.Reported, err)
		}
	}
}

// cycle is n parts, these in turn.
func cycle(parts []string, n int) []string {
	return slices.Repeat(parts, n/len(parts)+1)[:n]
}

// paced answers every request for a turn with a stream that has a pause before each of its parts.
type paced struct {
	pause time.Duration
	parts []string
}

func (p paced) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/api/show") || strings.HasSuffix(r.URL.Path, "/api/ps") { // what is asked before a turn is not known
		return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody}, nil
	}
	parts, left := p.parts, ""
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(readerFunc(func(b []byte) (int, error) {
		if left == "" {
			if len(parts) == 0 {
				return 0, io.EOF
			}
			select {
			case <-time.After(p.pause):
			case <-r.Context().Done():
				return 0, r.Context().Err()
			}
			left, parts = parts[0], parts[1:]
		}
		n := copy(b, left)
		left = left[n:]
		return n, nil
	}))}, nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
