package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/model"
)

// recorded is an answer as it came over the wire, in a file of many, and what has to come of it.
type recorded struct {
	name, body string

	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	CRLF   bool              `json:"crlf"` // ends its lines
	Open   bool              `json:"open"` // the last line has no end

	Kind       model.Kind       `json:"kind"` // of the error; "": none
	Says       string           `json:"says"` // in the error
	RetryAfter float64          `json:"retry_after"`
	Text       string           `json:"text"`
	Calls      []model.ToolCall `json:"tool_calls"`
	Finish     model.Finish     `json:"finish"`
	Usage      model.Usage      `json:"usage"`
	Native     json.RawMessage  `json:"native"`
	Dropped    int              `json:"dropped"`
}

// read reads a file of them: an archive of txtar whose files begin with a line of JSON.
func readRecorded(tb testing.TB, file string) (all []recorded) {
	tb.Helper()
	text := assert.Must(os.ReadFile(file))(tb)
	for _, f := range txtar.Parse(text).Files {
		r := recorded{name: f.Name}
		head, body, _ := strings.Cut(string(f.Data), "\n")
		assert.NoErrorf(tb, json.Unmarshal([]byte(head), &r), "%s: %s", file, f.Name)
		if r.Open {
			body = strings.TrimSuffix(body, "\n")
		}
		if r.CRLF {
			body = strings.ReplaceAll(body, "\n", "\r\n")
		}
		r.body = body
		all = append(all, r)
	}
	return all
}

// Answers checks what an adapter makes of the answers in a file: each is a txtar file that begins with a line of JSON,
// what has to come of it, and goes on with the body.
func Answers(t *testing.T, build Factory, file string) {
	for _, r := range readRecorded(t, file) {
		t.Run(r.name, func(t *testing.T) { r.check(t, build) })
	}
}

func (r recorded) check(t *testing.T, build Factory) {
	header := http.Header{}
	if r.Status/100 == 3 {
		header.Set("Location", "http://127.0.0.1:1/elsewhere")
	}
	for name, value := range r.Header {
		header.Set(name, value)
	}
	noKey := func(context.Context) (string, error) { return "", nil }
	m, _ := startSetup(t, build, Setup{Key: noKey}, Answer{Raw: &Raw{Status: r.Status, Header: header, Body: r.body}})
	got := chat(t.Context(), t, m, nil)
	assert.That(t, got.text == got.resp.Text && got.resp.Text == r.Text && got.resp.Attempts == 1,
		"kept %q, emitted %q in %d attempts; want %q in 1", got.resp.Text, got.text, got.resp.Attempts, r.Text)
	var turn bytes.Buffer
	if got.resp.Native != nil {
		_ = json.Compact(&turn, got.resp.Native.Turn) // which differs if it is none
	}
	assert.NoDiff(t, cmp.Diff(string(r.Native), turn.String()), "the provider's own turn (-want +got)")
	if r.Kind != "" {
		e := wantFailure(t, got.err, m, r.Kind, r.Says)
		assert.That(t, e.Status == r.Status && e.RetryAfter.Seconds() == r.RetryAfter &&
			!strings.Contains(e.Error(), "nginx") && !strings.Contains(e.Error(), "connect?key"),
			"status %d, retry after %v; want %d, %v s: %v", e.Status, e.RetryAfter, r.Status, r.RetryAfter, e)
		return
	}
	want := model.Response{Text: r.Text, ToolCalls: r.Calls, Finish: r.Finish, Usage: r.Usage,
		Dropped: r.Dropped}
	if diff := cmp.Diff(want, got.resp, cmpopts.IgnoreFields(model.Response{}, "Model", "Attempts",
		"Native")); got.err != nil || diff != "" {
		t.Errorf("error %v, response (-want +got):\n%s", got.err, diff)
	}
}

// fuzzStream checks that no stream breaks the contract, that an answer does not depend on how it was split, and that a
// whole turn can be sent back. It begins with the streams in a file, as Answers reads it.
func fuzzStream(f *testing.F, build Factory, file string) {
	f.Add("<html>")
	for _, r := range readRecorded(f, file) {
		if r.Status == 0 {
			f.Add(r.body)
		}
	}
	f.Fuzz(func(t *testing.T, stream string) {
		whole, wholeErr := ChatOver(t, build, func() io.Reader { return strings.NewReader(stream) })
		bytewise, bytewiseErr := ChatOver(t, build, func() io.Reader {
			return iotest.OneByteReader(strings.NewReader(stream))
		})
		madeUp := cmp.Options{cmpopts.IgnoreFields(model.ToolCall{}, "ID")}
		if len(whole.ToolCalls) > 0 { // whose ids may be in it
			madeUp = append(madeUp, cmpopts.IgnoreFields(model.Response{}, "Native"))
		}
		diff := cmp.Diff(whole, bytewise, madeUp)
		assert.That(t, diff == "" && model.KindOf(wholeErr) == model.KindOf(bytewiseErr),
			"whole %v, byte by byte %v (-whole +bytewise):\n%s", wholeErr, bytewiseErr, diff)
	})
}

// ChatOver is the answer of a model whose provider streams what body gives, checked for what the contract promises of
// any.
func ChatOver(t *testing.T, build Factory, body func() io.Reader) (model.Response, error) {
	t.Helper()
	m := build(t, &Setup{BaseURL: "http://house",
		Client: &http.Client{Transport: transport(func(*http.Request) io.Reader {
			return body()
		})}})
	got := chat(t.Context(), t, m, nil)
	assert.That(t, got.text == got.resp.Text, "emitted %q, text %q", got.text, got.resp.Text)
	resp := got.resp
	if got.err != nil {
		var e *model.Error
		assert.That(t, errors.As(got.err, &e) && e.Kind != "" && e.Model == m.ID() && len(e.Message) <= 600,
			"error %#v", got.err)
		return resp, got.err
	}
	assert.That(t, resp.Finish != "", "no finish: %+v", resp)
	req := question()
	req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: resp.Text, ToolCalls: resp.ToolCalls,
		Native: resp.Native})
	ids := map[string]bool{"": true}
	for _, c := range resp.ToolCalls {
		assert.That(t, !ids[c.ID] && c.Name != "" && strings.TrimSpace(c.Arguments) != "",
			"call %+v among %+v", c, resp.ToolCalls)
		ids[c.ID] = true
		req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, ToolCallID: c.ID, ToolName: c.Name,
			Text: "found"})
	}
	_, err := m.Chat(t.Context(), req, nil)
	assert.That(t, model.KindOf(err) != model.Invalid, "the turn cannot be sent back: %v", err)
	return resp, nil
}

// transport answers every request for a turn with what it gives, read in its own way. What is asked before a turn is
// not known.
type transport func(*http.Request) io.Reader

func (tr transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/api/show" || r.URL.Path == "/api/ps" {
		return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody}, nil
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(tr(r))}, nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// pacedTransport is a stream of these parts, with a pause before each. It begins and, if it is whole, ends as its
// protocol has it.
func pacedTransport(pause time.Duration, parts []string, whole bool) transport {
	return func(r *http.Request) io.Reader {
		way, _ := routeOf(r.URL.Path)
		i, left := 0, ""
		return readerFunc(func(b []byte) (int, error) {
			if left == "" {
				if i == len(parts) {
					return 0, io.EOF
				}
				select {
				case <-time.After(pause):
				case <-r.Context().Done():
					return 0, r.Context().Err()
				}
				left = executeTemplate(way.name+"/"+parts[i], fmt.Sprintf("word %d ", i))
				if i == 0 {
					left = executeTemplate(way.name+"/begin", answerData{}) + left
				}
				if i++; whole && i == len(parts) {
					left += executeTemplate(way.name+"/end", answerData{Answer: Answer{Finish: model.FinishStop}})
				}
			}
			n := copy(b, left)
			left = left[n:]
			return n, nil
		})
	}
}

// waitsAreForProgress checks on a clock of its own how long an adapter with the usual times of the cloud waits: for
// progress, whatever keeps the connection alive, and for as long as there is some. It also checks which counts of
// tokens it believes.
func waitsAreForProgress(t *testing.T, build Factory) {
	if _, s := startSetup(t, build, Setup{}); s.script != nil {
		return
	}
	alive := slices.Repeat([]string{"alive"}, 2*60*60/15)
	for name, c := range map[string]struct {
		pause time.Duration
		parts []string
		ended time.Duration // after which the adapter ends the answer; zero: never
		why   error
	}{
		"TwoHoursOfNothingEndAfterTwoMinutes": {15 * time.Second, alive, 2 * time.Minute, model.ErrUnanswered},
		"SilenceAfterThinkingEndsAfterAMinute": {15 * time.Second, append([]string{"thought", "thought"}, alive...),
			90 * time.Second, nil},
		"SteadyStreamOfThreeMinutesPasses": {5 * time.Second, slices.Repeat([]string{"text"}, 36), 0, nil},
		"ReasoningOfThreeMinutesThenTextPass": {5 * time.Second, append(slices.Repeat([]string{"thought"}, 36),
			"text"), 0, nil},
		"LateBeginningPasses": {110 * time.Second, []string{"text"}, 0, nil},
		"AnswerOf100KBPasses": {10 * time.Millisecond, slices.Repeat([]string{"text"}, 20<<10),
			0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if len(c.parts) > 10_000 {
				needs.All(t, "many pieces")
			}
			synctest.Test(t, func(t *testing.T) {
				m := build(t, &Setup{BaseURL: "http://house",
					Client: &http.Client{Transport: pacedTransport(c.pause, c.parts, c.ended == 0)}})
				began := time.Now()
				resp, err := m.Chat(t.Context(), question(), nil)
				took := time.Since(began)
				if c.ended == 0 {
					assert.That(t, err == nil && resp.Text != "" && resp.Finish == model.FinishStop &&
						took == c.pause*time.Duration(len(c.parts)), "got %d bytes, %v after %v", len(resp.Text), err, took)
					return
				}
				_ = wantFailure(t, err, m, model.Timeout, "")
				assert.That(t, took == c.ended && (c.why == nil || errors.Is(err, c.why)),
					"%v after %v; want %v after %v", err, took, c.why, c.ended)
			})
		})
	}
	for input, believed := range map[int]int{-1: 0, 9_000_000_000_000_000_000: 0, 100_000_001: 0, 17: 17,
		90_000_000: 16 << 10} {
		m, _ := startSetup(t, build, Setup{}, Answer{Chunks: []string{"word "}, Usage: model.Usage{InputTokens: input,
			OutputTokens: 3}})
		resp, err := m.Chat(t.Context(), question(), nil)
		if u := resp.Usage; err != nil || u.InputTokens < 0 || u.InputTokens > believed || input > 0 &&
			(resp.Reported != nil) != (input != u.InputTokens) {
			t.Errorf("%d tokens of input: %+v, reported %+v, %v", input, u, resp.Reported, err)
		}
	}
}
