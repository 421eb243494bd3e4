package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind sorts the ways a request can fail by what the caller can do about it.
type Kind string

// The kinds of failure. Only RateLimit, Timeout and Server are worth another try.
const (
	RateLimit     Kind = "rate_limit"     // too many requests, or a quota: wait
	Auth          Kind = "auth"           // the key is missing, wrong or may not use this model
	ContextLength Kind = "context_length" // the request does not fit into the model's window
	Timeout       Kind = "timeout"        // no answer, or silence in the middle of one, past the deadline
	Server        Kind = "server"         // the provider failed, could not be reached, or cut the stream
	Refused       Kind = "refused"        // the provider will not answer this content
	Invalid       Kind = "invalid"        // the request was wrong: unknown model, bad argument
	Garbled       Kind = "garbled"        // the answer is not what the protocol promises
	Cancelled     Kind = "cancelled"      // the caller withdrew the request
)

// Error is a failed request. Its text names provider and model and never holds a key.
type Error struct {
	Kind       Kind
	Model      string        // "provider:model"
	Status     int           // HTTP status; 0 where there was none
	RetryAfter time.Duration // what the provider asked for; 0 where it asked nothing
	Message    string        // the provider's own words, shortened
	Err        error
}

func (e *Error) Error() string {
	text := e.Message
	if text == "" && e.Err != nil {
		text = e.Err.Error()
	}
	who := strings.TrimSuffix(e.Model, ":") // a provider that was asked for its models
	if e.Status != 0 {
		return fmt.Sprintf("%s: %s (HTTP %d): %s", who, e.Kind, e.Status, text)
	}
	return fmt.Sprintf("%s: %s: %s", who, e.Kind, text)
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable says whether the same request may succeed later.
func (e *Error) Retryable() bool {
	return e.Kind == RateLimit || e.Kind == Timeout || e.Kind == Server
}

// KindOf returns the kind of err: Cancelled or Timeout for a bare context error, Server for anything unknown.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Server
}
