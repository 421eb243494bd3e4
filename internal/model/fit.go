package model

import (
	"context"
	"errors"
	"net/http"
	"slices"
)

// nearWindow is the part of a window from which on a request may be too long for it: its tokens are only estimated.
const nearWindow = 0.7

// WithWindow returns m, whose refusal of a request near its window is of kind ContextLength, although the provider says
// so in no words that are known. window gives the window in tokens, 0 if it is not known; it is asked only then.
func WithWindow(m Model, window func(ctx context.Context) int) Model { return &windowed{m, window} }

type windowed struct {
	Model
	window func(ctx context.Context) int
}

func (m *windowed) Chat(ctx context.Context, req Request, emit func(Delta) error) (Response, error) {
	resp, err := m.Model.Chat(ctx, req, emit)
	failed, is := errors.AsType[*Error](err)
	if !is || failed.Kind != Invalid || !slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge,
		http.StatusUnprocessableEntity}, failed.Status) {
		return resp, err
	}
	if window := m.window(ctx); window > 0 && float64(req.Tokens()) >= nearWindow*float64(window) {
		full := *failed
		full.Kind = ContextLength
		err = &full
	}
	return resp, err
}

// Shorter is how many tokens a request may have, by estimate, in place of one with so many that did not fit into the
// model's window. It is half of them: the estimate may be far off, and the request is shortened only once.
func Shorter(tokens int) int { return tokens / 2 }

// CutOnce returns m for one request, which begins with so many messages. If the request does not fit into the model's
// window, cut gives these messages with so many tokens less, as far as it can spare any, and it is sent once more.
// Requests after that, with further messages, are sent with the shorter ones at once. cut returns nil if nothing can be
// spared; then the failure stands.
func CutOnce(m Model, messages int, cut func(tokens int) []Message) Model {
	return &cutting{Model: m, begin: messages, cut: cut}
}

type cutting struct {
	Model
	begin   int
	cut     func(tokens int) []Message
	shorter []Message // nil: not cut
}

func (m *cutting) Chat(ctx context.Context, req Request, emit func(Delta) error) (Response, error) {
	added := req.Messages[m.begin:]
	if m.shorter != nil {
		req.Messages = slices.Concat(m.shorter, added)
	}
	out := relay{emit: emit}
	total, err := out.retractAndAsk(ctx, m.Model, req, Response{Model: m.ID()})
	if m.shorter != nil || KindOf(err) != ContextLength || ctx.Err() != nil {
		return total, err
	}
	if m.shorter = m.cut(req.Tokens() - Shorter(req.Tokens())); m.shorter == nil {
		return total, err
	}
	req.Messages = slices.Concat(m.shorter, added)
	return out.retractAndAsk(ctx, m.Model, req, total)
}
