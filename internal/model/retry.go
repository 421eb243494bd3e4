package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
)

// What a RetryPolicy's zero fields stand for.
const (
	defaultAttempts = 3
	defaultBase     = 500 * time.Millisecond
	defaultMax      = 30 * time.Second
)

// RetryPolicy says how often and how patiently a request is repeated.
type RetryPolicy struct {
	// Attempts bounds the requests made for one answer, the first included; zero: 3.
	Attempts int

	// Base is the wait after the first failure. It doubles with each further one up to Max, and each wait is shortened
	// at random by up to half, so that many clients do not return at once. Zero: 500 ms and 30 s.
	Base, Max time.Duration

	// Notify, if set, is told before each wait which attempt failed, counted from 1, why, and how long the wait is.
	// It may be called by several answers at the same time.
	Notify func(attempt int, err *Error, wait time.Duration)
}

// Retry returns m with its retryable failures repeated as p says:
//   - A wait is never shorter than the provider's RetryAfter. If that is longer than Max, the failure is returned at once.
//   - Text of a failed attempt is retracted before the next one begins.
//   - Response.Usage and Response.Attempts count all attempts, whether or not the last one succeeded.
//   - When the context is done no attempt begins, and a wait ends at once.
func Retry(m Model, p RetryPolicy) Model {
	if p.Attempts <= 0 {
		p.Attempts = defaultAttempts
	}
	p.Base = cmp.Or(max(p.Base, 0), defaultBase)
	p.Max = cmp.Or(max(p.Max, 0), defaultMax)
	r := &retrying{Model: m, policy: p}
	r.executor = failsafe.With(retrypolicy.NewBuilder[Response]().
		WithMaxAttempts(p.Attempts).
		HandleIf(func(_ Response, err error) bool { return p.repeats(err) }).
		WithDelayFunc(func(e failsafe.ExecutionAttempt[Response]) time.Duration {
			return p.wait(e.Attempts(), e.LastError(), rand.Float64())
		}).
		OnRetryScheduled(func(e failsafe.ExecutionScheduledEvent[Response]) {
			var failed *Error
			if p.Notify != nil && errors.As(e.LastError(), &failed) {
				p.Notify(e.Attempts(), failed, e.Delay)
			}
		}).
		ReturnLastFailure().
		Build())
	return r
}

// repeats says whether a request that failed with err is worth repeating within p.
func (p RetryPolicy) repeats(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && failed.Retryable() && failed.RetryAfter <= p.Max
}

// wait is the time between the failed attempt, counted from 1, and the next; random is in [0,1).
func (p RetryPolicy) wait(attempt int, err error, random float64) time.Duration {
	d := p.Base
	for i := 1; i < attempt && d < p.Max; i++ {
		d *= 2
	}
	d = min(d, p.Max)
	d -= time.Duration(random * float64(d) / 2)
	var failed *Error
	if errors.As(err, &failed) {
		d = max(d, failed.RetryAfter)
	}
	return d
}

type retrying struct {
	Model
	policy   RetryPolicy
	executor failsafe.Executor[Response]
}

func (r *retrying) Chat(ctx context.Context, req Request, emit func(Delta) error) (Response, error) {
	s := sequence{retrying: r, req: req, relay: relay{emit: emit}}
	s.resp.Model = r.ID()
	if err := ctx.Err(); err != nil {
		return s.resp, &Error{Kind: KindOf(err), Model: r.ID(), Err: err}
	}
	_, _ = r.executor.WithContext(ctx).Get(func() (Response, error) { return s.attempt(ctx) })
	return s.resp, s.outcome(ctx)
}

// sequence is the attempts at one answer. It keeps their outcome itself, as the executor drops the response when the
// context ends.
type sequence struct {
	*retrying
	relay
	req  Request
	resp Response
	err  error
}

func (s *sequence) attempt(ctx context.Context) (Response, error) {
	if s.err = s.retract(s.ID()); s.err != nil {
		s.resp = Response{Model: s.ID(), Usage: s.resp.Usage, Attempts: s.resp.Attempts}
		return s.resp, s.err
	}
	before := s.resp
	s.resp, s.err = s.Model.Chat(ctx, s.req, s.receiver())
	s.resp.Usage = s.resp.Usage.Add(before.Usage)
	s.resp.Attempts += before.Attempts
	return s.resp, s.err
}

// outcome is the last attempt's error, with what the policy has to add.
func (s *sequence) outcome(ctx context.Context) error {
	var failed *Error
	if !errors.As(s.err, &failed) {
		return s.err
	}
	if err := ctx.Err(); err != nil && s.policy.repeats(failed) && !errors.Is(failed, err) {
		message := fmt.Sprintf("%v before another attempt; the last one failed: %s: %s", err, failed.Kind, failed.text())
		return &Error{Kind: KindOf(err), Model: s.ID(), Message: message, Err: err}
	}
	if failed.Retryable() && failed.RetryAfter > s.policy.Max {
		hinted := *failed
		hinted.Message = fmt.Sprintf("%s (asks to wait %v, longer than the %v allowed)",
			failed.text(), failed.RetryAfter, s.policy.Max)
		return &hinted
	}
	return s.err
}

// text is what e says beside its kind.
func (e *Error) text() string {
	if e.Message == "" && e.Err != nil {
		return e.Err.Error()
	}
	return e.Message
}
