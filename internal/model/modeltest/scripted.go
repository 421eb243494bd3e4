package modeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/model"
)

// Turn is what a Scripted model does with one request: it emits its text, then fails, hangs or finishes.
type Turn struct {
	// Text is emitted word by word, or in Chunks if these are given.
	Text   string
	Chunks []string

	// ToolCalls without an ID are given one: call_1, call_2, counted over the whole script.
	ToolCalls []model.ToolCall

	// Finish defaults to FinishTools if there are calls and to FinishStop if not.
	Finish model.Finish
	Usage  model.Usage

	// Err, if set, is returned after the text. An error that is no *model.Error becomes one of its kind.
	Err error

	// Hang waits, after the text, until the request is cancelled.
	Hang bool

	// Func, if set, gets the request and returns the turn that replaces this one.
	Func func(model.Request) Turn
}

// Say is a turn that answers with text.
func Say(text string) Turn { return Turn{Text: text} }

// Call is a turn that calls one tool with arguments, a JSON object.
func Call(name, arguments string) Turn { return SayAndCall("", name, arguments) }

// SayAndCall is a turn with text and a call.
func SayAndCall(text, name, arguments string) Turn { return Say(text).AndCall(name, arguments) }

// Fail is a turn that fails with this kind.
func Fail(kind model.Kind) Turn {
	return Turn{Err: &model.Error{Kind: kind, Message: "scripted failure"}}
}

// Func is a turn that depends on the request.
func Func(f func(model.Request) Turn) Turn { return Turn{Func: f} }

// AndCall returns t with another call.
func (t Turn) AndCall(name, arguments string) Turn {
	t.ToolCalls = append(slices.Clip(t.ToolCalls), model.ToolCall{Name: name, Arguments: arguments})
	return t
}

// Scripted is a model that plays the turns of a script, one for each request in the order of arrival, and records the
// requests.
type Scripted struct {
	tb      testing.TB
	id      string
	local   bool
	hanging chan struct{}

	mu       sync.Mutex
	turns    []Turn
	calls    int
	requests []model.Request
}

// Script returns a local model called "scripted:test" that plays turns. A request beyond the last turn fails the test
// and is answered with an Invalid error.
func Script(tb testing.TB, turns ...Turn) *Scripted {
	return &Scripted{tb: tb, id: "scripted:test", local: true, hanging: make(chan struct{}, maxHanging), turns: turns}
}

// As gives the model another stamp, and says whether it is local. Call it before the first request.
func (s *Scripted) As(id string, local bool) *Scripted {
	s.id, s.local = id, local
	return s
}

// Add appends turns to the script.
func (s *Scripted) Add(turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, turns...)
}

// Requests returns the requests so far, in the order of arrival.
func (s *Scripted) Requests() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Left returns how many turns were not played.
func (s *Scripted) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns)
}

// Hanging has a value for each request that reached the Hang of its turn.
func (s *Scripted) Hanging() <-chan struct{} { return s.hanging }

// ID is "scripted:test", or what As has set.
func (s *Scripted) ID() string { return s.id }

// Local is true, or what As has set.
func (s *Scripted) Local() bool { return s.local }

// Chat plays the next turn.
func (s *Scripted) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	resp := model.Response{Model: s.id, Attempts: 1}
	if err := ctx.Err(); err != nil {
		return resp, s.ownError(err)
	}
	t, err := s.nextTurn(req)
	if err != nil {
		return resp, err
	}
	resp.Usage = t.Usage
	for _, chunk := range t.chunks() {
		if ctx.Err() != nil {
			return resp, s.ownError(ctx.Err())
		}
		resp.Text += chunk
		if emit == nil {
			continue
		}
		if err := emit(model.Delta{Text: chunk}); err != nil {
			return resp, &model.Error{Kind: model.Cancelled, Model: s.id, Message: "the receiver ended the answer",
				Err: err}
		}
	}
	resp.ToolCalls = t.ToolCalls
	if t.Hang {
		s.hanging <- struct{}{}
		<-ctx.Done()
		return resp, s.ownError(ctx.Err())
	}
	if t.Err != nil {
		return resp, s.ownError(t.Err)
	}
	resp.Finish = t.Finish.OrInferred(t.ToolCalls)
	return resp, nil
}

func (t Turn) chunks() []string {
	if len(t.Chunks) > 0 {
		return t.Chunks
	}
	if t.Text == "" {
		return nil
	}
	return strings.SplitAfter(t.Text, " ")
}

func (s *Scripted) ownError(err error) *model.Error {
	failed := &model.Error{Kind: model.KindOf(err), Err: err}
	if given, is := errors.AsType[*model.Error](err); is {
		*failed = *given
	}
	failed.Model = s.id
	return failed
}

// nextTurn records req and returns the turn for it, its calls with ids.
func (s *Scripted) nextTurn(req model.Request) (Turn, error) {
	s.mu.Lock()
	req.Messages = slices.Clone(req.Messages)
	req.Tools = slices.Clone(req.Tools)
	s.requests = append(s.requests, req)
	n := len(s.requests)
	if len(s.turns) == 0 {
		s.mu.Unlock()
		s.tb.Errorf("modeltest: the script of %s is over: request %d is one too many\n%s", s.id, n, describe(req))
		return Turn{}, s.ownError(&model.Error{Kind: model.Invalid, Message: "the script is over"})
	}
	t := s.turns[0]
	s.turns = s.turns[1:]
	s.mu.Unlock()

	for t.Func != nil { // without the lock, so that it may look at Requests
		t = t.Func(req)
	}
	t.ToolCalls = slices.Clone(t.ToolCalls)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range t.ToolCalls {
		s.calls++
		if t.ToolCalls[i].ID == "" {
			t.ToolCalls[i].ID = fmt.Sprintf("call_%d", s.calls)
		}
	}
	return t, nil
}

// describe returns a request's purpose and last message, for the output of a failed test.
func describe(req model.Request) string {
	text := fmt.Sprintf("  purpose %q, %d messages, %d tools", req.Purpose, len(req.Messages), len(req.Tools))
	if len(req.Messages) > 0 {
		last := req.Messages[len(req.Messages)-1]
		text += fmt.Sprintf("\n  last message, from %s: %.300q", last.Role, last.Text)
	}
	return text
}
