package modeltest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

// Setup is what a model is built for. What it asks is at BaseURL, over Client if that is not nil.
type Setup struct {
	BaseURL         string
	Client          *http.Client
	Key             func(ctx context.Context) (string, error) // no error may show the key
	FirstByte, Idle time.Duration                             // zero: as the adapter has it

	server  *Server
	answers []Answer
	script  *Scripted
}

// Factory builds a model that lasts as long as t.
type Factory func(t testing.TB, s *Setup) model.Model

// Script is for a model that has no wire on which a stream could break: it gives the same answers, a broken one as the
// error that it becomes. What is about requests is then not checked.
func (s *Setup) Script(tb testing.TB) *Scripted {
	s.script = Script(tb)
	for _, a := range s.answers {
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
		s.script.Add(t)
	}
	return s.script
}

// patience is how long the suite waits for what must happen at once.
const patience = time.Minute

// canaryKey is a key that no error may show.
const canaryKey = "sk-canary-c0ffee0123456789"

// startSetup makes a server with these answers, and what is built before it.
func startSetup[M any](t *testing.T, build func(testing.TB, *Setup) M, setup Setup, answers ...Answer) (M, *Setup) {
	t.Helper()
	setup.answers, setup.server = answers, NewServer(t, answers...)
	setup.BaseURL, setup.server.Check = setup.server.BaseURL, checkRules
	if setup.Key == nil {
		setup.Key = func(context.Context) (string, error) { return canaryKey, nil }
	}
	return build(t, &setup), &setup
}

// hanging has a value for each request that hangs.
func (s *Setup) hanging() <-chan struct{} {
	if s.script != nil {
		return s.script.Hanging()
	}
	return s.server.Hanging()
}

// awaitEnded waits for the end of a request, where a provider sees it.
func (s *Setup) awaitEnded(t *testing.T) {
	t.Helper()
	if s.script == nil {
		await(t, s.server.Ended(), "the end of the request")
	}
}

// outcome is one Chat and what it emitted.
type outcome struct {
	resp model.Response
	err  error
	text string // emitted since the last retract
	n    int    // deltas
}

// chat calls Chat and watches how emit is called; answer, if not nil, is what emit returns.
func chat(ctx context.Context, t *testing.T, m model.Model, answer error) (out outcome) {
	var busy, over atomic.Bool
	out.resp, out.err = m.Chat(ctx, question(), func(d model.Delta) error {
		if over.Load() || !busy.CompareAndSwap(false, true) {
			t.Error("emit was called after Chat had returned, or while another call was under way")
			return nil
		}
		defer busy.Store(false)
		if d.Retract {
			out.text = ""
		}
		out.text += d.Text
		out.n++
		return answer
	})
	over.Store(true)
	return out
}

// wantFailure checks an error's form.
func wantFailure(t *testing.T, err error, m model.Model, kind model.Kind, says string) *model.Error {
	t.Helper()
	var e *model.Error
	assert.Require(t, errors.As(err, &e) && e.Kind == kind && strings.Contains(err.Error(), says) && (m == nil ||
		e.Model == m.ID()), "error %#v; want an *model.Error of kind %s that says %q", err, kind, says)
	for ; err != nil; err = errors.Unwrap(err) {
		assert.That(t, !strings.Contains(err.Error(), canaryKey), "the error shows the key: %v", err)
	}
	return e
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

// check is one answer, and what has to come of it.
type check struct {
	name   string
	answer Answer
	want   model.Response
	kind   model.Kind // of the error
	says   string

	setup    Setup
	provider bool // a model without one can't be brought to it
}

// counted is at least so many bytes of a text with numbers between, which does not repeat.
func counted(text string, size int) string {
	var b strings.Builder
	for n := 0; b.Len() < size; n++ {
		fmt.Fprintf(&b, "%s%d ", text, n)
	}
	return b.String()
}

func checks() []check {
	long, lines := counted("x", 2<<20), counted("ü🚀\n", 1<<17)
	calls := []model.ToolCall{
		{ID: "call_a", Name: "code_search", Arguments: `{"q":"needle in a haystack"}`},
		{ID: "call_b", Name: "web_fetch", Arguments: `{"url":"https://example.org/ü","n":3}`},
		{ID: "call_c", Name: "list", Arguments: "{}"},
	}
	half := Answer{Chunks: []string{"half an ", "answer"}}
	broken := func(how Break) Answer { a := half; a.Break = how; return a }
	text := model.Response{Text: "half an answer"}
	usage := model.Usage{InputTokens: 120, OutputTokens: 34, CachedTokens: 64}
	all := []check{
		{name: "TextIsWhatWasEmittedInOrder", answer: Stream("Grüße", ", ", "<signal type=\"x\">", "\n\"quoted\" 🚀",
			" end"),
			want: model.Response{Text: "Grüße, <signal type=\"x\">\n\"quoted\" 🚀 end", Finish: model.FinishStop}},
		{name: "LongLineIsReadWhole", answer: Stream(lines, "end"),
			want: model.Response{Text: lines + "end", Finish: model.FinishStop}},
		{name: "ParallelToolCallsComeWholeAndInOrder", answer: Answer{Chunks: []string{"Let me ", "look."},
			Calls: calls},
			want: model.Response{Text: "Let me look.", ToolCalls: calls, Finish: model.FinishTools}},
		{name: "CallWithoutArgumentsHasAnEmptyObject",
			answer: Answer{Calls: []model.ToolCall{{ID: "call_a", Name: "list"}}},
			want: model.Response{ToolCalls: []model.ToolCall{{Name: "list", Arguments: "{}"}},
				Finish: model.FinishTools}},
		{name: "CallsThatShareAnIDAreToldApart", provider: true,
			answer: Answer{Calls: []model.ToolCall{{ID: "call_a", Name: "list"}, {ID: "call_a", Name: "list"},
				{Name: "list"}}},
			want: model.Response{ToolCalls: slices.Repeat([]model.ToolCall{{Name: "list", Arguments: "{}"}}, 3),
				Finish: model.FinishTools}},
		{name: "UsageIsReported", answer: Answer{Chunks: []string{"counted"}, Usage: usage},
			want: model.Response{Text: "counted", Finish: model.FinishStop, Usage: usage}},
		{name: "LengthIsTold", answer: Answer{Chunks: []string{"text"}, Finish: model.FinishLength},
			want: model.Response{Text: "text", Finish: model.FinishLength}},
		{name: "FilterIsTold", answer: Answer{Chunks: []string{"text"}, Finish: model.FinishFilter},
			want: model.Response{Text: "text", Finish: model.FinishFilter}},
		{name: "StreamLeftOpenAfterTheAnswerIsNoFailure", answer: broken(Open),
			setup: Setup{Idle: 10 * time.Second}, want: model.Response{Text: text.Text,
				Finish: model.FinishStop}},
		{name: "LimitOfOutputThatLeftNothingIsOutputLength", provider: true, answer: Answer{Finish: model.FinishLength},
			kind: model.OutputLength},
		{name: "FilterThatLeftNothingIsRefused", provider: true, answer: Answer{Finish: model.FinishFilter},
			kind: model.Refused},
		{name: "CutStreamIsServerWithWhatHadArrived", answer: broken(Cut), kind: model.Server, want: text},
		{name: "GarbageIsGarbledWithWhatHadArrived", answer: broken(Garbage), kind: model.Garbled, want: text},
		{name: "SilenceIsTimeoutWithWhatHadArrived", answer: broken(Hang), setup: Setup{Idle: time.Second},
			kind: model.Timeout, want: text},
		{name: "SilenceBeforeTheFirstPartIsBoundedByFirstByteNotByIdle", provider: true, answer: Answer{Break: Hang},
			setup: Setup{Idle: time.Millisecond, FirstByte: 60 * time.Millisecond}, kind: model.Timeout,
			says: "limit 60ms"},
		{name: "MoreThan256CallsAreGarbled", provider: true,
			answer: Answer{Calls: slices.Repeat([]model.ToolCall{{Name: "list"}}, 257)}, kind: model.Garbled,
			says: "256"},
		{name: "TextAbove1MBIsGarbled", provider: true, answer: Stream(long), kind: model.Garbled, says: "1 MB"},
		{name: "CallAbove1MBIsGarbled", provider: true,
			answer: Answer{Calls: []model.ToolCall{{Name: "list", Arguments: `"` + long[:1<<20] + `"`}}},
			kind:   model.Garbled, says: "1 MB"},
		{name: "LineAbove8MBIsGarbled", provider: true, answer: Stream(strings.Repeat(long, 5)), kind: model.Garbled,
			says: "8 MB"},
		{name: "TextThatRepeatsIsEndedWithWhatCameBefore", provider: true,
			answer: Answer{Chunks: append([]string{"It is 391.\n\n"}, slices.Repeat([]string{"I am ", "here to help. "},
				158)...), Break: Hang}, // the last of them shows it
			want: model.Response{Text: "It is 391.\n\nI am here to help.", Finish: model.FinishRepeated}},
		{name: "SignsThatRepeatAreRepeatedAndWithdrawn", provider: true,
			answer: Answer{Chunks: slices.Repeat([]string{"!!!!"}, 1500), Break: Hang}, kind: model.Repeated,
			says: "again and again"},
		{name: "ElementsOfATemplateThatRepeatAreNoticedEarly", provider: true, kind: model.Repeated,
			answer: Answer{Chunks: []string{"<" + "|im_start|" + ">user\n" + strings.Repeat("<"+"|im_end|"+">user\n", 71)},
				Break: Hang}},
		{name: "ThinkingInTheTextThatRepeatsIsRepeated", provider: true, kind: model.Repeated,
			answer: Answer{Chunks: append([]string{"<", "think>"}, slices.Repeat([]string{"So it is. "}, 300)...)}},
		{name: "CallThatRepeatsIsRepeated", provider: true, answer: Answer{Calls: []model.ToolCall{{Name: "list",
			Arguments: `{"q":"` + strings.Repeat("look for it ", 400) + `"}`}}}, kind: model.Repeated},
		{name: "CallThatRepeatsLeavesTheTextBefore", provider: true, answer: Answer{Chunks: []string{"Let me look."},
			Calls: []model.ToolCall{{Name: "list", Arguments: `{"q":"` + strings.Repeat("look for it ", 400) + `"}`}}},
			want: model.Response{Text: "Let me look.", Finish: model.FinishRepeated}},
		{name: "RetryAfterIsPassedOn", answer: Answer{Fail: model.RateLimit, RetryAfter: 7 * time.Second},
			kind: model.RateLimit},
	}
	for _, kind := range []model.Kind{model.RateLimit, model.Overloaded, model.Payment, model.Auth, model.ContextLength,
		model.Timeout, model.Server,
		model.Refused, model.Invalid} {
		all = append(all, check{name: "FailureHasItsKindAndIsNotRetried/" + string(kind), answer: Answer{Fail: kind},
			kind: kind})
	}
	return all
}

// Suite checks what package model promises of every adapter.
func Suite(t *testing.T, build Factory) {
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) { c.run(t, build) })
	}
	for _, c := range []struct {
		name string
		run  func(*testing.T, Factory)
	}{
		{"WholeRequestIsSentWithoutPurposeAndFacts", wholeRequestIsSent},
		{"PicturesAreSentAsTheyAreBeforeTheWords", picturesAreSent},
		{"AnswerGoesBackWithItsResults", answerGoesBack},
		{"FailedResultIsToldApart", failedResultIsToldApart},
		{"OddTurnsAreSentInAFormThatIsAccepted", oddTurnsAreSent},
		{"WrongRequestIsInvalidAndNotSent", wrongRequestIsNotSent},
		{"SchemaIsForTheProviderToEnforce", schemaIsEnforced},
		{"StructuredAnswerIsRepairedOnce", structuredAnswer},
		{"CancelEndsTheRequest", cancelEndsTheRequest},
		{"DeadlineOfTheCallerEndsTheRequest", deadlineEndsTheRequest},
		{"ErrorFromEmitEndsTheRequest", emitErrorEndsTheRequest},
		{"ThinkingThatRepeatsIsRepeated", repeatedThinking},
		{"BoundEndsTheAnswer", boundEndsTheAnswer},
		{"ConcurrentAnswersAreNotMixed", concurrentAnswers},
		{"ConnectionIsUsedAgainAndTheKeyAskedFor", connectionAndKey},
		{"WaitsAreForProgress", waitsAreForProgress},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, build) })
	}
}

func (c check) run(t *testing.T, build Factory) {
	m, s := startSetup(t, build, c.setup, c.answer)
	if c.provider && s.script != nil {
		return
	}
	got := chat(t.Context(), t, m, nil)
	assert.That(t, got.text == got.resp.Text && got.resp.Text == c.want.Text,
		"text %.100q, emitted %.100q; want %.100q twice", got.resp.Text, got.text, c.want.Text)
	if s.script == nil && (len(s.server.Requests()) > 1 || got.resp.Attempts != 1 || got.resp.Model != m.ID()) {
		t.Errorf("%d requests were made, %d are counted, of %q; want one of %q", len(s.server.Requests()),
			got.resp.Attempts, got.resp.Model, m.ID())
	}
	// the time-out may come before it
	if c.answer.Break == Open || c.answer.Break == Hang && s.script == nil && len(s.server.Requests()) > 0 {
		s.awaitEnded(t)
	}
	if c.kind != "" {
		e := wantFailure(t, got.err, m, c.kind, c.says)
		assert.That(t, e.Lost == (c.answer.Break == Cut) && e.RetryAfter == c.answer.RetryAfter,
			"lost %v, retry after %v", e.Lost, e.RetryAfter)
		return
	}
	if s.script == nil && s.server.Last().Path == "/api/chat" { // whose protocol has none
		c.want.Usage.CachedTokens = 0
	}
	ids := map[string]bool{"": true}
	for i, given := range got.resp.ToolCalls {
		assert.That(t, !ids[given.ID] && (i != 0 || given.ID == "call_a"), "%q is no id of call %d", given.ID, i)
		ids[given.ID] = true
	}
	diff := gocmp.Diff(c.want, got.resp, cmpopts.IgnoreFields(model.ToolCall{}, "ID"),
		cmpopts.IgnoreFields(model.Response{}, "Model", "Attempts", "Native"))
	assert.That(t, got.err == nil && diff == "", "error %v, response (-want +got):\n%.1000s", got.err, diff)
}

// repeatedThinking gives a stream of the same thought again and again.
func repeatedThinking(t *testing.T, build Factory) {
	if _, s := startSetup(t, build, Setup{}); s.script != nil {
		return
	}
	m := build(t, &Setup{BaseURL: "http://house", Client: &http.Client{Transport: transport(func(r *http.Request) io.Reader {
		way, _ := routeOf(r.URL.Path)
		thought := executeTemplate(way.name+"/begin", answerData{}) + executeTemplate(way.name+"/thought", "")
		return strings.NewReader(strings.Replace(thought, `"hm"`, `"`+strings.Repeat("So it is. ", 900)+`"`, 1))
	})}})
	resp, err := m.Chat(t.Context(), question(), nil)
	_ = wantFailure(t, err, m, model.Repeated, "")
	assert.Equal(t, resp.Text, "")
}

// boundEndsTheAnswer has an answer go on beyond its bound, at which the request ends, and the text stands.
func boundEndsTheAnswer(t *testing.T, build Factory) {
	long := counted("word ", 4000)
	answer := Answer{Chunks: []string{long[:100], long[100:]}, Break: Hang}
	m, s := startSetup(t, build, Setup{}, answer)
	if s.script != nil {
		return
	}
	req := question()
	req.Bound = 500
	resp, err := m.Chat(t.Context(), req, nil)
	assert.NoError(t, err)
	assert.That(t, resp.Finish == model.FinishLength && resp.Text == long, "%s after %d bytes", resp.Finish, len(resp.Text))
	s.awaitEnded(t)
}

func cancelEndsTheRequest(t *testing.T, build Factory) {
	m, s := startSetup(t, build, Setup{}, Answer{Chunks: []string{"first "}, Break: Hang})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan outcome, 1)
	go func() { done <- chat(ctx, t, m, nil) }()
	await(t, s.hanging(), "the request to hang")
	cancel()
	got := await(t, done, "Chat to return")
	_ = wantFailure(t, got.err, m, model.Cancelled, "")
	assert.That(t, errors.Is(got.err, context.Canceled) && got.text == got.resp.Text,
		"error %v, kept %q, emitted %q", got.err, got.resp.Text, got.text)
	s.awaitEnded(t)
	again := chat(ctx, t, m, nil)
	_ = wantFailure(t, again.err, m, model.Cancelled, "")
	assert.That(t, again.n == 0, "emitted %q for who had withdrawn before", again.text)
}

func deadlineEndsTheRequest(t *testing.T, build Factory) {
	m, _ := startSetup(t, build, Setup{}, Answer{Break: Hang})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	got := chat(ctx, t, m, nil)
	_ = wantFailure(t, got.err, m, model.Timeout, "")
	assert.That(t, errors.Is(got.err, context.DeadlineExceeded), "error %v does not wrap the context's", got.err)
}

func emitErrorEndsTheRequest(t *testing.T, build Factory) {
	m, s := startSetup(t, build, Setup{}, Answer{Chunks: []string{"first ", "second "}, Break: Hang})
	full := errors.New("the receiver is full")
	got := chat(t.Context(), t, m, full)
	_ = wantFailure(t, got.err, m, model.Cancelled, "")
	assert.That(t, errors.Is(got.err, full) && got.n == 1,
		"error %v after %d deltas; want the receiver's after 1", got.err, got.n)
	s.awaitEnded(t)
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
	m, _ := startSetup(t, build, Setup{}, answers...)
	results := make(chan outcome, n)
	for range n {
		go func() { results <- chat(t.Context(), t, m, nil) }()
	}
	var got []string
	for range n {
		r := await(t, results, "an answer")
		assert.That(t, r.err == nil && r.text == r.resp.Text, "error %v, text %q, emitted %q", r.err, r.resp.Text, r.text)
		got = append(got, r.resp.Text)
	}
	slices.Sort(want)
	slices.Sort(got)
	assert.That(t, slices.Equal(got, want), "got %q; want %q", got, want)
}

func connectionAndKey(t *testing.T, build Factory) {
	keys := []string{"first", " second\n", "", "fourth"}
	asked := 0
	m, s := startSetup(t, build, Setup{Key: func(context.Context) (string, error) { asked++; return keys[asked-1], nil }},
		slices.Repeat([]Answer{Stream("a")}, len(keys))...)
	for _, want := range keys {
		_, err := m.Chat(t.Context(), question(), nil) // to whom nobody listens
		assert.That(t, err == nil && (s.script != nil || s.server.Last().Key() == strings.TrimSpace(want)),
			"%v; want the key %q to be sent", err, want)
	}
	assert.That(t, s.script != nil || int(s.server.connections.Load()) != len(keys),
		"every answer took a connection of its own")
}
