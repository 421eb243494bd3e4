package modeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/model"
)

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
