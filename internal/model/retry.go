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
	defaultPatience = 2 * time.Minute
)

// The waits between attempts. The first is quick where something has failed, and patient where the provider has too
// much to do. Each further one is twice as long, up to mostWait; each is shortened at random by up to half, so that
// many clients do not return at once.
const (
	quickWait   = 500 * time.Millisecond
	patientWait = 2 * time.Second
	mostWait    = 30 * time.Second
)

// MostAsked is the longest wait that a provider may ask for; an answer that is to come later is none for somebody who
// waits.
const MostAsked = 90 * time.Second

// hurry is the patience with a model where another one could answer.
const hurry = 5 * time.Second

// RetryPolicy says how often and how patiently a request is repeated.
type RetryPolicy struct {
	// Attempts bounds those requests for one answer that fail by Timeout or Server; zero: 3.
	Attempts int

	// Patience bounds the waits after RateLimit and Overloaded, all of one answer's together; zero: 2 min, negative:
	// none.
	Patience time.Duration
}

// Retry returns m with its retryable failures repeated as p says:
//   - Once text has come, nothing is repeated but an answer whose connection was lost.
//   - A wait is never shorter than the provider's RetryAfter. If that is longer than MostAsked, the failure is returned
//     at once.
//   - A model that began no answer in time is asked once more at most, and one whose answer had no end never.
//   - Each wait is emitted. Text of a failed attempt is retracted before the next one begins.
//   - Response.Usage and Response.Attempts count all attempts, whether or not the last one succeeded.
//   - When the context is done no attempt begins, and a wait ends at once.
func Retry(m Model, p RetryPolicy) Model {
	return &retrying{Model: m, policy: p}
}

// hurried is m with less patience, if it has any.
func hurried(m Model) Model {
	r, ok := m.(*retrying)
	if !ok {
		return m
	}
	p := r.policy
	p.Patience = min(cmp.Or(p.Patience, defaultPatience), hurry)
	return Retry(r.Model, p)
}

type retrying struct {
	Model
	policy RetryPolicy
}

// patience is what is left of a policy in the course of an answer.
type patience struct {
	RetryPolicy
	waits    int // after RateLimit and Overloaded
	failures int // others
}

// after says whether an attempt that failed so, perhaps after some text, is worth repeating, and after how long; random
// is in [0,1).
func (p *patience) after(failed *Error, text bool, random float64) (wait time.Duration, again bool) {
	if !failed.Retryable() || failed.RetryAfter > MostAsked || text && !failed.Lost || errors.Is(failed, ErrEndless) {
		return 0, false
	}
	if failed.Kind == RateLimit || failed.Kind == Overloaded {
		wait = backoff(patientWait, p.waits, failed, random)
		p.waits++
		p.Patience -= wait
		return wait, p.Patience >= 0
	}
	wait = backoff(quickWait, p.failures, failed, random)
	p.failures++
	p.Attempts--
	if errors.Is(failed, ErrUnanswered) {
		p.Attempts = min(p.Attempts, 1)
	}
	return wait, p.Attempts > 0
}

// backoff is the wait after as many of its sort.
func backoff(first time.Duration, before int, failed *Error, random float64) time.Duration {
	d := first
	for ; before > 0 && d < mostWait; before-- {
		d *= 2
	}
	d = min(d, mostWait)
	return max(d-time.Duration(random*float64(d)/2), failed.RetryAfter)
}

func (r *retrying) Chat(ctx context.Context, req Request, emit func(Delta) error) (Response, error) {
	said := relay{emit: emit}
	total := Response{Model: r.ID()} // with what all attempts have cost
	err := r.policy.repeat(ctx, r.ID(), func() (text bool, err error) {
		total, err = said.ask(ctx, r.Model, req, total)
		return total.Text != "", err
	}, func(w Wait) error {
		return said.tell(r.ID(), Delta{Wait: &w})
	})
	return total, err
}

// Do makes attempts at what has no text on its way, such as a transcription, until one succeeds or fails for good: as
// often and as patiently as Retry does with a model of that ID. tell, which may be nil, is told of each wait; its error
// ends the attempts.
func (p RetryPolicy) Do(ctx context.Context, id string, attempt func() error, tell func(Wait) error) error {
	if tell == nil {
		tell = func(Wait) error { return nil }
	}
	return p.repeat(ctx, id, func() (bool, error) { return false, attempt() }, tell)
}

// repeat makes attempts, each of which says whether text has come of it.
func (p RetryPolicy) repeat(
	ctx context.Context, id string, attempt func() (text bool, err error), tell func(Wait) error,
) error {
	p.Attempts, p.Patience = cmp.Or(max(p.Attempts, 0), defaultAttempts), cmp.Or(p.Patience, defaultPatience)
	left := patience{RetryPolicy: p}
	if err := ctx.Err(); err != nil {
		return &Error{Kind: KindOf(err), Model: id, Err: err}
	}
	for made, unsent := 1, true; ; made++ {
		text, err := attempt()
		var failed *Error
		if !errors.As(err, &failed) {
			return err
		}
		unsent = unsent && failed.Unsent
		failed.Unsent = unsent
		wait, again := left.after(failed, text, rand.Float64())
		if !again {
			return final(failed, err)
		}
		if ctx.Err() == nil {
			if told := tell(Wait{Until: time.Now().Add(wait), Model: id, Kind: failed.Kind,
				Attempt: made}); told != nil {
				return told
			}
		}
		if gone := pause(ctx, id, wait, failed); gone != nil {
			return gone
		}
	}
}

// pause waits between a failed attempt and the next. The error is that of a caller who has withdrawn the request.
func pause(ctx context.Context, id string, wait time.Duration, failed *Error) error {
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
	return &Error{Kind: KindOf(err), Model: id, Message: message, Err: err}
}

// final is the last attempt's error, with what there is to add.
func final(failed *Error, err error) error {
	if !failed.Retryable() || failed.RetryAfter <= MostAsked {
		return err
	}
	return noted(err, fmt.Sprintf("it asks to wait %v, longer than the %v allowed", failed.RetryAfter, MostAsked))
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

// ask asks m, once what was emitted is withdrawn. Usage, Attempts and Tries of the response are those of the one
// before, too.
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
		if d.Retract || d.Text != "" {
			r.emitted = !d.Retract
		}
		return r.emit(d)
	}
}

// retract withdraws what was emitted.
func (r *relay) retract(model string) error {
	if !r.emitted {
		return nil
	}
	r.emitted = false
	return r.tell(model, Delta{Retract: true})
}

// tell emits what is no text. An error is the receiver's, who wants no more.
func (r *relay) tell(model string, d Delta) error {
	if r.emit == nil {
		return nil
	}
	if err := r.emit(d); err != nil {
		return &Error{Kind: Cancelled, Model: model, Message: "the receiver ended the answer: " + err.Error(), Err: err}
	}
	return nil
}
