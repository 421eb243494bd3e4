package modeltest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/model"
)

// Setup is what a Factory is to build: a model before a fake provider that gives these answers, in this order.
type Setup struct {
	Answers []Answer

	// Key gives the API key to use, where the provider wants one. No error may show it.
	Key func(ctx context.Context) (string, error)

	// FirstByte is how long the beginning of an answer may be waited for, Idle how long it may be silent after it; zero: as the adapter
	// has it.
	FirstByte, Idle time.Duration
}

// Subject is a model under test, with a view on its fake provider.
type Subject struct {
	Model model.Model

	// Sent returns the bodies of the requests that the provider got. Nil for a model without a provider.
	Sent func() []string

	// Schema returns the schema that the provider was last asked to enforce, nil if none. Nil for a model without a provider.
	Schema func() json.RawMessage

	// SentKey returns the API key of the last request, Connections how many connections were opened. Nil as Schema is.
	SentKey     func() string
	Connections func() int

	// Hanging has a value for each request that reached an Answer's Hang, Ended for each of these that was seen to end.
	// Ended is nil for a model without a provider.
	Hanging, Ended <-chan struct{}

	// NoCachedTokens says that the provider's protocol does not tell how many tokens of the input were cached. They are
	// zero then, whatever an Answer's Usage holds.
	NoCachedTokens bool

	// What a transcriber is like: Tells is what it can tell of a transcript (nil: all), MaxAudio how many bytes it takes (zero:
	// model.MaxAudio), and NoRetryAfter says that its failures tell no time after which to ask again.
	Tells        func(model.Transcript) model.Transcript
	MaxAudio     int64
	NoRetryAfter bool
}

// Factory builds a Subject that lasts as long as t. It may skip t where its model cannot be brought to such an answer.
type Factory func(t *testing.T, s Setup) Subject

// Turns is a script that gives the same answers, for a model that has no wire on which a stream could break: such an
// answer becomes the error that a broken stream becomes.
func (s Setup) Turns() []Turn {
	turns := make([]Turn, 0, len(s.Answers))
	for _, a := range s.Answers {
		t := Turn{Chunks: a.Chunks, ToolCalls: slices.Clone(a.Calls), Finish: a.Finish, Usage: a.Usage}
		for i := range t.ToolCalls {
			t.ToolCalls[i].Arguments = cmp.Or(t.ToolCalls[i].Arguments, "{}")
		}
		switch {
		case a.Fail != "":
			t.Err = &model.Error{Kind: a.Fail, RetryAfter: a.RetryAfter}
		case a.Break == Cut:
			t.Err = &model.Error{Kind: model.Server, Lost: true}
		case a.Break == Garbage:
			t.Err = &model.Error{Kind: model.Garbled}
		case a.Break == Hang && s.Idle > 0:
			t.Err = &model.Error{Kind: model.Timeout}
		case a.Break == Hang:
			t.Hang = true
		}
		turns = append(turns, t)
	}
	return turns
}

// patience is how long the suite waits for what must happen at once.
const patience = 10 * time.Second

// canaryKey is a key that no error may show.
const canaryKey = "sk-canary-c0ffee0123456789"

func showCanary(context.Context) (string, error) { return canaryKey, nil }

// subject is a Subject in the course of a test.
type subject struct {
	Subject
	t *testing.T
}

// ended waits for the end of a request, where a provider sees it.
func (s subject) ended(what string) {
	s.t.Helper()
	if s.Ended != nil {
		await(s.t, s.Ended, what)
	}
}

func start(t *testing.T, build Factory, answers ...Answer) subject {
	t.Helper()
	return startWith(t, build, Setup{Answers: answers})
}

func startWith(t *testing.T, build Factory, setup Setup) subject {
	t.Helper()
	setup.Key = showCanary
	return subject{build(t, setup), t}
}

// outcome is one Chat and what it emitted.
type outcome struct {
	resp   model.Response
	err    error
	deltas []model.Delta
}

// ask calls Chat and watches how emit is called; answer, if not nil, is what emit returns.
func (s subject) ask(ctx context.Context, answer func(model.Delta) error) outcome {
	var out outcome
	var busy, over atomic.Bool
	emit := func(d model.Delta) error {
		if over.Load() {
			s.t.Error("emit was called after Chat had returned")
			return nil
		}
		if !busy.CompareAndSwap(false, true) {
			s.t.Error("emit was called while another call was under way")
			return nil
		}
		defer busy.Store(false)
		out.deltas = append(out.deltas, d)
		if answer != nil {
			return answer(d)
		}
		return nil
	}
	out.resp, out.err = s.Model.Chat(ctx, question(), emit)
	over.Store(true)
	return out
}

// text is what was emitted since the last retract.
func (o outcome) text() string {
	var text string
	for _, d := range o.deltas {
		if d.Retract {
			text = ""
		}
		text += d.Text
	}
	return text
}

// failedAs checks the error's form.
func (o outcome) failedAs(t *testing.T, m model.Model, kind model.Kind) {
	t.Helper()
	var e *model.Error
	if !errors.As(o.err, &e) {
		t.Fatalf("error %#v is no *model.Error; want kind %s", o.err, kind)
	}
	if e.Kind != kind || e.Model != m.ID() {
		t.Errorf("error of kind %s from %q: %v; want %s from %q", e.Kind, e.Model, e, kind, m.ID())
	}
	for err := o.err; err != nil; err = errors.Unwrap(err) {
		if strings.Contains(err.Error(), canaryKey) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

func question() model.Request {
	return model.Request{
		System:   "Answer.",
		Messages: []model.Message{{Role: model.User, Text: "What is it?"}},
		Tools:    []model.Tool{{Name: "code_search"}, {Name: "web_fetch"}, {Name: "list"}},
	}
}

// await receives from c, or fails the test if nothing comes.
func await[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
	}
	panic("unreachable")
}
