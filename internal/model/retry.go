package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
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
	return &retrying{Model: m, policy: p}
}

// repeats says whether a request that failed so is worth repeating within p.
func (p RetryPolicy) repeats(failed *Error) bool {
	return failed.Retryable() && failed.RetryAfter <= p.Max
}

// wait is the time between the failed attempt, counted from 1, and the next; random is in [0,1).
func (p RetryPolicy) wait(attempt int, failed *Error, random float64) time.Duration {
	d := p.Base
	for i := 1; i < attempt && d < p.Max; i++ {
		d *= 2
	}
	d = min(d, p.Max)
	d -= time.Duration(random * float64(d) / 2)
	return max(d, failed.RetryAfter)
}

type retrying struct {
	Model
	policy RetryPolicy
}

func (r *retrying) Chat(ctx context.Context, req Request, emit func(Delta) error) (Response, error) {
	said := relay{emit: emit}
	total := Response{Model: r.ID()} // with what all attempts have cost
	if err := ctx.Err(); err != nil {
		return total, &Error{Kind: KindOf(err), Model: r.ID(), Err: err}
	}
	for attempt := 1; ; attempt++ {
		var err error
		total, err = said.ask(ctx, r.Model, req, total)
		var failed *Error
		if !errors.As(err, &failed) {
			return total, err
		}
		if attempt == r.policy.Attempts || !r.policy.repeats(failed) {
			return total, r.policy.final(failed, err)
		}
		if gone := r.pause(ctx, attempt, failed); gone != nil {
			return total, gone
		}
	}
}

// pause waits between a failed attempt and the next. The error is that of a caller who has withdrawn the request.
func (r *retrying) pause(ctx context.Context, attempt int, failed *Error) error {
	wait := r.policy.wait(attempt, failed, rand.Float64())
	if r.policy.Notify != nil && ctx.Err() == nil {
		r.policy.Notify(attempt, failed, wait)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	err := ctx.Err()
	switch {
	case err == nil:
		return nil
	case errors.Is(failed, err):
		return failed
	}
	message := fmt.Sprintf("%v before another attempt; the last one failed: %s: %s", err, failed.Kind, failed.text())
	return &Error{Kind: KindOf(err), Model: r.ID(), Message: message, Err: err}
}

// final is the last attempt's error, with what the policy has to add.
func (p RetryPolicy) final(failed *Error, err error) error {
	if !failed.Retryable() || failed.RetryAfter <= p.Max {
		return err
	}
	return noted(err, fmt.Sprintf("it asks to wait %v, longer than the %v allowed", failed.RetryAfter, p.Max))
}

// text is what e says beside its kind.
func (e *Error) text() string {
	if e.Message == "" && e.Err != nil {
		return e.Err.Error()
	}
	return e.Message
}

// relay passes text on to a receiver, and withdraws what it has passed on before something else is tried.
type relay struct {
	emit    func(Delta) error // nil: nobody listens
	emitted bool              // text that is not retracted
}

// ask asks m, once what was emitted is withdrawn. Usage, Attempts and Tries of the response are those of the one before, too.
func (r *relay) ask(ctx context.Context, m Model, req Request, before Response) (Response, error) {
	resp := Response{Model: before.Model}
	err := r.retract(m.ID())
	if err == nil {
		resp, err = m.Chat(ctx, req, r.receiver())
	}
	resp.Usage, resp.Attempts = resp.Usage.Add(before.Usage), resp.Attempts+before.Attempts
	resp.Tries = append(before.Tries[:len(before.Tries):len(before.Tries)], resp.Tries...)
	return resp, err
}

// receiver is emit, watched for text that may have to be retracted.
func (r *relay) receiver() func(Delta) error {
	if r.emit == nil {
		return nil
	}
	return func(d Delta) error {
		r.emitted = !d.Retract
		return r.emit(d)
	}
}

// retract withdraws what was emitted. An error is the receiver's, who wants no more.
func (r *relay) retract(model string) error {
	if !r.emitted {
		return nil
	}
	r.emitted = false
	if err := r.emit(Delta{Retract: true}); err != nil {
		return &Error{Kind: Cancelled, Model: model, Message: "the receiver ended the answer: " + err.Error(), Err: err}
	}
	return nil
}
