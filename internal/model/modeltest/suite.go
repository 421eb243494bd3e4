package modeltest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// Suite checks what package model promises of every adapter.
func Suite(t *testing.T, build Factory) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Factory)
	}{
		{"TextIsWhatWasEmittedInOrder", textIsWhatWasEmitted},
		{"EmitMayBeNil", emitMayBeNil},
		{"ParallelToolCallsComeWholeAndInOrder", parallelCalls},
		{"CallWithoutArgumentsHasAnEmptyObject", callWithoutArguments},
		{"UsageIsReported", usageIsReported},
		{"FinishIsToldApart", finishIsToldApart},
		{"LimitOfOutputThatLeftNothingIsOutputLength", nothingButLength},
		{"WholeRequestIsSentWithoutPurposeAndFacts", wholeRequestIsSent},
		{"AnswerGoesBackWithItsResults", answerGoesBack},
		{"FailedResultIsToldApart", failedResultIsToldApart},
		{"OddTurnsAreSentInAFormThatIsAccepted", oddTurnsAreSent},
		{"WrongRequestIsInvalidAndNotSent", wrongRequestIsNotSent},
		{"CallsThatShareAnIDAreToldApart", sharedIDs},
		{"SchemaIsForTheProviderToEnforce", schemaIsEnforced},
		{"StructuredAnswerIsRepairedOnce", structuredAnswer},
		{"FailureHasItsKindAndIsNotRetried", failureHasItsKind},
		{"RetryAfterIsPassedOn", retryAfterIsPassedOn},
		{"CutStreamIsServerWithWhatHadArrived", brokenStream(Cut, model.Server)},
		{"GarbageIsGarbledWithWhatHadArrived", brokenStream(Garbage, model.Garbled)},
		{"SilenceIsTimeoutWithWhatHadArrived", brokenStream(Hang, model.Timeout)},
		{"CancelEndsTheRequest", cancelEndsTheRequest},
		{"DeadlineOfTheCallerEndsTheRequest", deadlineEndsTheRequest},
		{"CancelledContextEmitsNothing", cancelledContext},
		{"ErrorFromEmitEndsTheRequest", emitErrorEndsTheRequest},
		{"ConcurrentAnswersAreNotMixed", concurrentAnswers},
		{"SilenceBeforeTheFirstPartIsBoundedByFirstByteNotByIdle", silenceBeforeTheFirstPart},
		{"StreamLeftOpenAfterTheAnswerIsNoFailure", streamLeftOpen},
		{"ConnectionIsUsedAgain", connectionIsUsedAgain},
		{"KeyIsSentAndAskedForBeforeEveryRequest", keyIsAskedFor},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, build) })
	}
}

func textIsWhatWasEmitted(t *testing.T, build Factory) {
	s := start(t, build, Stream("Grüße", ", ", "<signal type=\"x\">", "\n\"quoted\" 🚀", " end"))
	got := s.ask(t.Context(), nil)
	want := "Grüße, <signal type=\"x\">\n\"quoted\" 🚀 end"
	if got.err != nil || got.resp.Text != want || got.text() != want {
		t.Errorf("text %q, emitted %q, error %v; want %q twice", got.resp.Text, got.text(), got.err, want)
	}
	if got.resp.Model != s.Model.ID() || got.resp.Attempts != 1 {
		t.Errorf("stamped %q in %d attempts; want %q in 1", got.resp.Model, got.resp.Attempts, s.Model.ID())
	}
	if got.resp.Finish != model.FinishStop || len(got.resp.ToolCalls) != 0 {
		t.Errorf("finish %q with calls %v; want stop and none", got.resp.Finish, got.resp.ToolCalls)
	}
}

func emitMayBeNil(t *testing.T, build Factory) {
	s := start(t, build, Stream("one ", "two"))
	resp, err := s.Model.Chat(t.Context(), question(), nil)
	if err != nil || resp.Text != "one two" {
		t.Errorf("got %q, %v", resp.Text, err)
	}
}

func parallelCalls(t *testing.T, build Factory) {
	calls := []model.ToolCall{
		{ID: "call_a", Name: "code_search", Arguments: `{"q":"needle in a haystack"}`},
		{ID: "call_b", Name: "web_fetch", Arguments: `{"url":"https://example.org/ü","n":3}`},
		{ID: "call_c", Name: "code_search", Arguments: `{"q":"x"}`},
	}
	s := start(t, build, Answer{Chunks: []string{"Let me ", "look."}, Calls: calls})
	got := s.ask(t.Context(), nil)
	if got.err != nil || got.resp.Text != "Let me look." || got.resp.Finish != model.FinishTools {
		t.Errorf("got %+v, %v", got.resp, got.err)
	}
	if len(got.resp.ToolCalls) != len(calls) {
		t.Fatalf("got calls %v; want %v", got.resp.ToolCalls, calls)
	}
	ids := map[string]bool{}
	for i, c := range got.resp.ToolCalls {
		ids[c.ID] = true
		if c.Name != calls[i].Name || c.Arguments != calls[i].Arguments {
			t.Errorf("call %d is %v; want %v", i, c, calls[i])
		}
	}
	if len(ids) != len(calls) || ids[""] {
		t.Errorf("the ids are not distinct: %v", got.resp.ToolCalls)
	}
}

func callWithoutArguments(t *testing.T, build Factory) {
	s := start(t, build, Answer{Calls: []model.ToolCall{{ID: "call_a", Name: "list"}}})
	got := s.ask(t.Context(), nil)
	if got.err != nil || len(got.resp.ToolCalls) != 1 || got.resp.ToolCalls[0].Arguments != "{}" {
		t.Errorf("got %v, %v; want one call with {}", got.resp.ToolCalls, got.err)
	}
}

func usageIsReported(t *testing.T, build Factory) {
	want := model.Usage{InputTokens: 120, OutputTokens: 34, CachedTokens: 64}
	s := start(t, build, Answer{Chunks: []string{"counted"}, Usage: want})
	if s.NoCachedTokens {
		want.CachedTokens = 0
	}
	if got := s.ask(t.Context(), nil); got.err != nil || got.resp.Usage != want {
		t.Errorf("got %+v, %v; want %+v", got.resp.Usage, got.err, want)
	}
}

func finishIsToldApart(t *testing.T, build Factory) {
	for _, want := range []model.Finish{model.FinishStop, model.FinishLength, model.FinishFilter} {
		s := start(t, build, Answer{Chunks: []string{"text"}, Finish: want})
		if got := s.ask(t.Context(), nil); got.err != nil || got.resp.Finish != want {
			t.Errorf("finish %q, error %v; want %q", got.resp.Finish, got.err, want)
		}
	}
}

func nothingButLength(t *testing.T, build Factory) {
	s := startBeforeAProvider(t, build, Answer{Finish: model.FinishLength, Usage: model.Usage{InputTokens: 9, OutputTokens: 64}})
	got := s.ask(t.Context(), nil)
	got.failedAs(t, s.Model, model.OutputLength)
	if len(got.deltas) != 0 || got.resp.Usage.OutputTokens != 64 || got.resp.Attempts != 1 {
		t.Errorf("emitted %v, got %+v", got.deltas, got.resp)
	}
}

func failureHasItsKind(t *testing.T, build Factory) {
	for _, kind := range []model.Kind{
		model.RateLimit, model.Overloaded, model.Payment, model.Auth, model.ContextLength, model.Timeout, model.Server, model.Refused,
		model.Invalid,
	} {
		s := start(t, build, Answer{Fail: kind})
		got := s.ask(t.Context(), nil)
		got.failedAs(t, s.Model, kind)
		if len(got.deltas) != 0 || got.resp.Text != "" {
			t.Errorf("%s: emitted %v", kind, got.deltas)
		}
		if s.Sent != nil && (len(s.Sent()) != 1 || got.resp.Attempts != 1 || got.resp.Model != s.Model.ID()) {
			t.Errorf("%s: %d requests were made, %d are counted, of %q; want 1 of %q",
				kind, len(s.Sent()), got.resp.Attempts, got.resp.Model, s.Model.ID())
		}
	}
}

func retryAfterIsPassedOn(t *testing.T, build Factory) {
	s := start(t, build, Answer{Fail: model.RateLimit, RetryAfter: 7 * time.Second})
	got := s.ask(t.Context(), nil)
	got.failedAs(t, s.Model, model.RateLimit)
	var e *model.Error
	if errors.As(got.err, &e) && e.RetryAfter != 7*time.Second {
		t.Errorf("retry after %v; want 7s", e.RetryAfter)
	}
}

func brokenStream(how Break, kind model.Kind) func(*testing.T, Factory) {
	return func(t *testing.T, build Factory) {
		setup := Setup{Answers: []Answer{{Chunks: []string{"half an ", "answer"}, Break: how}}}
		if how == Hang {
			setup.Idle = 100 * time.Millisecond
		}
		s := startWith(t, build, setup)
		got := s.ask(t.Context(), nil)
		got.failedAs(t, s.Model, kind)
		var e *model.Error
		if errors.As(got.err, &e) && e.Lost != (how == Cut) {
			t.Errorf("lost %v after %s", e.Lost, how)
		}
		if got.resp.Text != "half an answer" || got.text() != got.resp.Text {
			t.Errorf("kept %q, emitted %q; want both to be what had arrived", got.resp.Text, got.text())
		}
		if how == Hang {
			s.ended("the end of the silent request")
		}
	}
}

func cancelEndsTheRequest(t *testing.T, build Factory) {
	s := start(t, build, Answer{Chunks: []string{"first "}, Break: Hang})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan outcome, 1)
	go func() { done <- s.ask(ctx, nil) }()
	await(t, s.Hanging, "the request to hang")
	cancel()
	got := await(t, done, "Chat to return")
	got.failedAs(t, s.Model, model.Cancelled)
	if !errors.Is(got.err, context.Canceled) || got.text() != got.resp.Text {
		t.Errorf("error %v, kept %q, emitted %q", got.err, got.resp.Text, got.text())
	}
	s.ended("the request to end")
}

func deadlineEndsTheRequest(t *testing.T, build Factory) {
	s := start(t, build, Answer{Break: Hang})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	got := s.ask(ctx, nil)
	got.failedAs(t, s.Model, model.Timeout)
	if !errors.Is(got.err, context.DeadlineExceeded) {
		t.Errorf("error %v does not wrap the context's", got.err)
	}
}

func cancelledContext(t *testing.T, build Factory) {
	s := start(t, build, Stream("never"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := s.ask(ctx, nil)
	got.failedAs(t, s.Model, model.Cancelled)
	if len(got.deltas) != 0 {
		t.Errorf("emitted %v", got.deltas)
	}
}

func emitErrorEndsTheRequest(t *testing.T, build Factory) {
	s := start(t, build, Answer{Chunks: []string{"first ", "second "}, Break: Hang})
	full := errors.New("the receiver is full")
	got := s.ask(t.Context(), func(model.Delta) error { return full })
	got.failedAs(t, s.Model, model.Cancelled)
	if !errors.Is(got.err, full) || len(got.deltas) != 1 {
		t.Errorf("error %v after %d deltas; want the receiver's after 1", got.err, len(got.deltas))
	}
	s.ended("the request to end")
}

func concurrentAnswers(t *testing.T, build Factory) {
	const n = 16
	var answers []Answer
	var want []string
	for i := range n {
		mark := fmt.Sprintf("[%d]", i)
		answers = append(answers, Stream(slices.Repeat([]string{mark}, 20)...))
		want = append(want, strings.Repeat(mark, 20))
	}
	s := start(t, build, answers...)
	results := make(chan outcome, n)
	for range n {
		go func() { results <- s.ask(t.Context(), nil) }()
	}
	var got []string
	for range n {
		r := await(t, results, "an answer")
		if r.err != nil || r.text() != r.resp.Text {
			t.Errorf("error %v, text %q, emitted %q", r.err, r.resp.Text, r.text())
		}
		got = append(got, r.resp.Text)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q; want %q", got, want)
	}
}

func silenceBeforeTheFirstPart(t *testing.T, build Factory) {
	s := startWith(t, build, Setup{Answers: []Answer{{Break: Hang}}, Idle: time.Millisecond, FirstByte: 60 * time.Millisecond})
	if s.Sent == nil {
		t.Skip("the model has no provider")
	}
	got := s.ask(t.Context(), nil)
	got.failedAs(t, s.Model, model.Timeout)
	if !strings.Contains(got.err.Error(), "limit 60ms") {
		t.Errorf("got %v; want the time-out of 60ms", got.err)
	}
	if len(s.Sent()) > 0 { // the time-out may come before the request does
		await(t, s.Ended, "the end of the silent request")
	}
}

func streamLeftOpen(t *testing.T, build Factory) {
	s := startWith(t, build, Setup{Answers: []Answer{{Chunks: []string{"all"}, Break: Open}}, Idle: 500 * time.Millisecond})
	got := s.ask(t.Context(), nil)
	if got.err != nil || got.resp.Text != "all" || got.resp.Finish != model.FinishStop {
		t.Errorf("got %+v, %v", got.resp, got.err)
	}
	s.ended("the end of the request that was left open")
}

func connectionIsUsedAgain(t *testing.T, build Factory) {
	const n = 5
	s := startBeforeAProvider(t, build, slices.Repeat([]Answer{Stream("a")}, n)...)
	for range n {
		if got := s.ask(t.Context(), nil); got.err != nil {
			t.Fatal(got.err)
		}
	}
	if s.Connections() == n {
		t.Error("every answer took a connection of its own")
	}
}

func keyIsAskedFor(t *testing.T, build Factory) {
	keys := []string{"first", " second\n", ""}
	left := keys
	s := build(t, Setup{Answers: slices.Repeat([]Answer{Stream("a")}, len(keys)), Key: func(context.Context) (string, error) {
		key := left[0]
		left = left[1:]
		return key, nil
	}})
	if s.Sent == nil {
		t.Skip("the model has no provider")
	}
	for _, want := range keys {
		if _, err := s.Model.Chat(t.Context(), question(), nil); err != nil || s.SentKey() != strings.TrimSpace(want) {
			t.Errorf("sent %q, %v; want %q", s.SentKey(), err, want)
		}
	}
}

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
