// Package offline is the model that needs no key, no network and no weights: it hands each request to the rule that a
// room registered for its purpose.
//
// It is the model if no other is configured, never a replacement for one that failed. It knows nothing itself: a rule
// answers from Request.Facts, so that nobody parses a prompt. Answers come in pieces, as from a hosted model, and are
// the same for the same request. A rule's failure is an *model.Error: Invalid unless the rule says otherwise, since
// repeating a rule changes nothing.
package offline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"sibyl/internal/model"
)

// Rule answers the requests of one purpose from their Facts. It may leave empty what New's model fills in. It must be
// safe for concurrent use, and end its waits with ctx.
type Rule func(ctx context.Context, req model.Request) (model.Response, error)

// New returns the model that answers by rules, keyed by Request.Purpose. What a rule leaves empty is filled in: the
// stamp, the finish, ids of calls that are unique in the conversation, and usage estimated as characters / 4.
func New(rules map[string]Rule) model.Model {
	return offline{maps.Clone(rules)}
}

type offline struct{ rules map[string]Rule }

func (offline) ID() string { return model.OfflineRules }

func (offline) Local() bool { return true }

func (o offline) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	rule := o.rules[req.Purpose]
	if rule == nil {
		return model.Response{Model: model.OfflineRules},
			invalidError("there is no rule for the purpose %q; there are rules for %s",
				req.Purpose, o.purposes())
	}
	if err := ctx.Err(); err != nil {
		return model.Response{Model: model.OfflineRules}, ownError(err)
	}
	resp, err := rule(ctx, req)
	if err != nil {
		return model.Response{Model: model.OfflineRules}, ownError(err)
	}
	if err := completeResponse(&resp, req); err != nil {
		return model.Response{Model: model.OfflineRules}, err
	}
	return emitWords(ctx, resp, emit)
}

func (o offline) purposes() string {
	if len(o.rules) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(o.rules)), ", ")
}

// completeResponse fills in what a rule may leave empty and checks the calls against the tools that were offered.
func completeResponse(resp *model.Response, req model.Request) error {
	resp.Model = model.OfflineRules
	resp.Attempts = 1
	resp.ToolCalls = slices.Clone(resp.ToolCalls)
	earlier := 0
	for _, msg := range req.Messages {
		earlier += len(msg.ToolCalls)
	}
	for i := range resp.ToolCalls {
		call := &resp.ToolCalls[i]
		if !slices.ContainsFunc(req.Tools, func(t model.Tool) bool { return t.Name == call.Name }) {
			return invalidError("the rule for %q calls the tool %q, which was not offered", req.Purpose, call.Name)
		}
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d", earlier+i+1)
		}
		if call.Arguments == "" {
			call.Arguments = "{}"
		}
	}
	resp.Finish = resp.Finish.OrInferred(resp.ToolCalls)
	if resp.Usage == (model.Usage{}) {
		resp.Usage = estimateUsage(*resp, req)
	}
	return nil
}

func estimateUsage(resp model.Response, req model.Request) model.Usage {
	in := utf8.RuneCountInString(req.System)
	for _, msg := range req.Messages {
		in += utf8.RuneCountInString(msg.Text) + callChars(msg.ToolCalls)
	}
	for _, t := range req.Tools {
		in += utf8.RuneCountInString(t.Name) + utf8.RuneCountInString(t.Description) + utf8.RuneCount(t.Schema)
	}
	out := utf8.RuneCountInString(resp.Text) + callChars(resp.ToolCalls)
	return model.Usage{InputTokens: tokens(in), OutputTokens: tokens(out)}
}

func callChars(calls []model.ToolCall) int {
	n := 0
	for _, c := range calls {
		n += utf8.RuneCountInString(c.Name) + utf8.RuneCountInString(c.Arguments)
	}
	return n
}

func tokens(chars int) int { return (chars + 3) / 4 }

// emitWords emits the text word by word. If that breaks off, the response holds what was emitted.
func emitWords(ctx context.Context, resp model.Response, emit func(model.Delta) error) (model.Response, error) {
	if emit == nil {
		return resp, nil
	}
	sent := 0
	for word := range strings.SplitAfterSeq(resp.Text, " ") {
		if word == "" {
			continue
		}
		err := ctx.Err()
		if err == nil {
			sent += len(word)
			if err = emit(model.Delta{Text: word}); err == nil {
				continue
			}
			err = &model.Error{Kind: model.Cancelled, Message: "the receiver ended the answer: " + err.Error(),
				Err: err}
		}
		return model.Response{Model: model.OfflineRules, Attempts: 1, Text: resp.Text[:sent]}, ownError(err)
	}
	return resp, nil
}

func invalidError(format string, args ...any) *model.Error {
	return &model.Error{Kind: model.Invalid, Model: model.OfflineRules, Message: fmt.Sprintf(format, args...)}
}

// ownError returns err as an error of this model.
func ownError(err error) *model.Error {
	failed := &model.Error{Kind: model.Invalid, Message: err.Error(), Err: err}
	var given *model.Error
	switch {
	case errors.As(err, &given):
		*failed = *given
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		failed.Kind = model.KindOf(err)
	}
	failed.Model = model.OfflineRules
	return failed
}
