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

// The waits between attempts. The first is short after a failure, and longer if the provider has too much to do. Each
// further one is twice as long, up to maxWait; each is shortened at random by up to half, so that many clients do not
// return at once.
const (
	quickWait   = 500 * time.Millisecond
	patientWait = 2 * time.Second
	maxWait     = 30 * time.Second
)

// MaxRetryAfter is the longest wait that a provider may ask for. For a later answer nobody would wait.
const MaxRetryAfter = 90 * time.Second

// hurriedPatience is the RetryPolicy.Patience with a model if another one could answer.
const hurriedPatience = 5 * time.Second

// RetryPolicy says how often and how patiently a request is repeated.
type RetryPolicy struct {
	// Attempts bounds those requests for one answer that fail by Timeout, Server or Garbled; zero: 3.
	Attempts int

	// Patience bounds the sum of the waits after RateLimit and Overloaded, for one answer; zero: 2 min, negative: none.
	Patience time.Duration

	sampled bool // each attempt is a new sample of a model, so one that is Garbled is repeated
}

// Retry returns m with its retryable failures repeated as p says:
//   - Once text has come, an answer is repeated only if it broke off or is Garbled.
//   - A wait is never shorter than the provider's RetryAfter. If that is longer than MaxRetryAfter, the failure is
//     returned at once.
//   - A model that began no answer in time is asked once more at most; one whose answer had no end is not asked again.
//   - Each wait is emitted. Text of a failed attempt is retracted before the next one begins.
//   - Response.Usage and Response.Attempts count all attempts, whether or not the last one succeeded.
//   - A model that has only thought is asked once for its answer.
//   - When the context is done no attempt begins, and a wait ends at once.
func Retry(m Model, p RetryPolicy) Model {
	return &retrying{Model: m, policy: p}
}

// withLessPatience returns m with less patience, if it retries at all.
func withLessPatience(m Model) Model {
	r, ok := m.(*retrying)
	if !ok {
		return m
	}
	p := r.policy
	p.Patience = min(cmp.Or(p.Patience, defaultPatience), hurriedPatience)
	return Retry(r.Model, p)
}

type retrying struct {
	Model
	policy RetryPolicy
}

// retryBudget is what is left of a policy during an answer.
type retryBudget struct {
	RetryPolicy
	throttled int // attempts that failed by RateLimit or Overloaded
	failures  int // attempts that failed otherwise
}

// nextWait says whether an attempt that failed so is to be repeated, and after how long. hasText says that text had
// come; random is in [0,1).
func (p *retryBudget) nextWait(failed *Error, hasText bool, random float64) (wait time.Duration, again bool) {
	if !failed.Retryable() || failed.RetryAfter > MaxRetryAfter || errors.Is(failed, ErrEndless) ||
		failed.Kind == Garbled && !p.sampled || hasText && !failed.Lost && failed.Kind != Garbled {
		return 0, false
	}
	if failed.Kind == RateLimit || failed.Kind == Overloaded {
		wait = backoff(patientWait, p.throttled, failed, random)
		p.throttled++
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

// backoff returns the wait before the next attempt, if there were that many earlier waits of this sort.
func backoff(first time.Duration, earlier int, failed *Error, random float64) time.Duration {
	d := first
	for ; earlier > 0 && d < maxWait; earlier-- {
		d *= 2
	}
	d = min(d, maxWait)
	return max(d-time.Duration(random*float64(d)/2), failed.RetryAfter)
}

func (r *retrying) Chat(ctx context.Context, req Request, emit func(Delta) error) (Response, error) {
	out := relay{emit: emit}
	total := Response{Model: r.ID()} // with the usage of all attempts
	policy := r.policy
	policy.sampled = true
	err := policy.repeat(ctx, r.ID(), func() (text bool, err error) {
		total, err = out.retractAndAsk(ctx, r.Model, req, total)
		if err == nil && total.isThinkingAlone() {
			if total, err = out.retractAndAsk(ctx, r.Model, req.forAnswerAlone(), total); err == nil &&
				total.isThinkingAlone() {
				err = &Error{Kind: Garbled, Model: r.ID(), Err: ErrOnlyThought, Message: "the model has twice thought and " +
					"given no answer: set less think for the provider, or choose another model"}
			}
		}
		return total.Text != "", err
	}, func(w Wait) error {
		return out.emitNotice(r.ID(), Delta{Wait: &w})
	})
	return total, err
}

// answerAlone asks a model for its answer that has only thought.
const answerAlone = "Your last reply was thinking alone, and nobody can read that. Write the answer itself, at once."

// forAnswerAlone returns the request with answerAlone at its end. It goes into the last message if that is the user's,
// since some models take no two of them in a row.
func (r Request) forAnswerAlone() Request {
	n := len(r.Messages)
	r.Messages = r.Messages[:n:n]
	if n > 0 && r.Messages[n-1].Role == User {
		r.Messages = append([]Message(nil), r.Messages...)
		r.Messages[n-1].Text += "\n\n" + answerAlone
		return r
	}
	r.Messages = append(r.Messages, Message{Role: User, Text: answerAlone})
	return r
}

// Do makes attempts at something that streams no text, such as a transcription, until one succeeds or fails for good:
// as often and as patiently as Retry does with a model of that ID, but not after Garbled. onWait, which may be nil,
// gets each wait; its error ends the attempts.
func (p RetryPolicy) Do(ctx context.Context, id string, attempt func() error, onWait func(Wait) error) error {
	if onWait == nil {
		onWait = func(Wait) error { return nil }
	}
	return p.repeat(ctx, id, func() (bool, error) { return false, attempt() }, onWait)
}

// repeat makes attempts until one succeeds or fails for good. text says whether an attempt has streamed text.
func (p RetryPolicy) repeat(
	ctx context.Context, id string, attempt func() (text bool, err error), onWait func(Wait) error,
) error {
	p.Attempts, p.Patience = cmp.Or(max(p.Attempts, 0), defaultAttempts), cmp.Or(p.Patience, defaultPatience)
	left := retryBudget{RetryPolicy: p}
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
		wait, retry := left.nextWait(failed, text, rand.Float64())
		if !retry {
			return finalError(failed, err)
		}
		if ctx.Err() == nil {
			if waitErr := onWait(Wait{Until: time.Now().Add(wait), Model: id, Kind: failed.Kind,
				Attempt: made}); waitErr != nil {
				return waitErr
			}
		}
		if withdrawn := pause(ctx, id, wait, failed); withdrawn != nil {
			return withdrawn
		}
	}
}

// pause waits between a failed attempt and the next. It fails only if the caller withdraws the request.
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

// finalError returns the last attempt's error, with a note if the provider asked for too long a wait.
func finalError(failed *Error, err error) error {
	if !failed.Retryable() || failed.RetryAfter <= MaxRetryAfter {
		return err
	}
	return withNote(err, fmt.Sprintf("it asks to wait %v, longer than the %v allowed", failed.RetryAfter, MaxRetryAfter))
}

// text returns what e says besides its kind.
func (e *Error) text() string {
	if e.Message == "" && e.Err != nil {
		return e.Err.Error()
	}
	return e.Message
}

// relay passes text on to a receiver, and retracts it before another attempt or another model.
type relay struct {
	emit    func(Delta) error // nil: there is no receiver
	emitted bool              // text or thinking that is not retracted
}

// retractAndAsk retracts what was emitted, and asks m. Usage, Attempts and Tries include those of the response before.
func (r *relay) retractAndAsk(ctx context.Context, m Model, req Request, before Response) (Response, error) {
	resp := Response{Model: before.Model}
	err := r.retract(m.ID())
	if err == nil {
		resp, err = m.Chat(ctx, req, r.receiver())
	}
	resp.Usage, resp.Attempts = resp.Usage.Add(before.Usage), resp.Attempts+before.Attempts
	resp.Tries = append(before.Tries[:len(before.Tries):len(before.Tries)], resp.Tries...)
	return resp, err
}

// receiver wraps emit, and notes whether there is text that may have to be retracted.
func (r *relay) receiver() func(Delta) error {
	if r.emit == nil {
		return nil
	}
	return func(d Delta) error {
		if d.Retract || d.Text != "" || d.Thinking != "" {
			r.emitted = !d.Retract
		}
		return r.emit(d)
	}
}

// retract withdraws the text that was emitted, if there is any.
func (r *relay) retract(model string) error {
	if !r.emitted {
		return nil
	}
	r.emitted = false
	return r.emitNotice(model, Delta{Retract: true})
}

// emitNotice emits a Delta without text. An error means that the receiver wants no more.
func (r *relay) emitNotice(model string, d Delta) error {
	if r.emit == nil {
		return nil
	}
	if err := r.emit(d); err != nil {
		return &Error{Kind: Cancelled, Model: model, Message: "the receiver ended the answer: " + err.Error(), Err: err}
	}
	return nil
}
