package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRetryKeepsTheContract(t *testing.T) {
	modeltest.Suite(t, func(t *testing.T, s modeltest.Setup) modeltest.Subject {
		script := modeltest.Script(t, s.Turns()...)
		m := model.Retry(script, model.RetryPolicy{Attempts: 1})
		return modeltest.Subject{Model: m, Hanging: script.Hanging()}
	})
}

func failing(kind model.Kind, retryAfter time.Duration, chunks ...string) modeltest.Turn {
	return modeltest.Turn{
		Chunks: chunks, Usage: model.Usage{InputTokens: 10, OutputTokens: len(chunks)},
		Err: &model.Error{Kind: kind, RetryAfter: retryAfter, Message: "scripted"},
	}
}

// recorded is one answer, what it emitted, the waits that were announced and how long it took.
type recorded struct {
	resp    model.Response
	err     error
	emitted []string // "retract" for a retract
	waits   []time.Duration
	took    time.Duration
}

// play asks a retrying model on a clock that stands still but for waits.
func play(t *testing.T, p model.RetryPolicy, turns ...modeltest.Turn) recorded {
	t.Helper()
	var out recorded
	synctest.Test(t, func(t *testing.T) {
		p.Notify = func(attempt int, err *model.Error, wait time.Duration) {
			if attempt != len(out.waits)+1 || err == nil {
				t.Errorf("notified of attempt %d, %v after %d waits", attempt, err, len(out.waits))
			}
			out.waits = append(out.waits, wait)
		}
		script := modeltest.Script(t, turns...)
		begin := time.Now()
		out.resp, out.err = model.Retry(script, p).Chat(t.Context(), model.Request{}, func(d model.Delta) error {
			if d.Retract {
				out.emitted = append(out.emitted, "retract")
				return nil
			}
			out.emitted = append(out.emitted, d.Text)
			return nil
		})
		out.took = time.Since(begin)
		if script.Left() != 0 {
			t.Errorf("%d turns were not asked for", script.Left())
		}
	})
	return out
}

func TestRetryableFailuresAreRepeatedAndTheirTextRetracted(t *testing.T) {
	good := modeltest.Turn{Chunks: []string{"whole"}, Usage: model.Usage{InputTokens: 10, OutputTokens: 5}}
	got := play(t, model.RetryPolicy{Attempts: 4},
		failing(model.Server, 0, "ha", "lf"), failing(model.Timeout, 0), failing(model.RateLimit, 0, "x"), good)
	if got.err != nil {
		t.Fatal(got.err)
	}
	want := model.Response{
		Text: "whole", Finish: model.FinishStop, Model: "scripted:test", Attempts: 4,
		Usage: model.Usage{InputTokens: 40, OutputTokens: 8},
	}
	if diff := cmp.Diff(want, got.resp); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	// Nothing is retracted where nothing stood.
	if diff := cmp.Diff([]string{"ha", "lf", "retract", "x", "retract", "whole"}, got.emitted); diff != "" {
		t.Errorf("emitted (-want +got):\n%s", diff)
	}
}

func TestWaitsDoubleUpToMaxWithinTheirJitterAndAreKept(t *testing.T) {
	got := play(t, model.RetryPolicy{Attempts: 6, Base: time.Second, Max: 5 * time.Second},
		failing(model.Server, 0), failing(model.Server, 0), failing(model.Server, 0),
		failing(model.Server, 0), failing(model.Server, 0), modeltest.Say("ok"))
	if got.err != nil || len(got.waits) != 5 {
		t.Fatalf("error %v after waits %v", got.err, got.waits)
	}
	var sum, unshortened time.Duration
	for i, full := range []time.Duration{1, 2, 4, 5, 5} {
		full *= time.Second
		unshortened += full
		if got.waits[i] > full || got.waits[i] < full/2 {
			t.Errorf("wait %d is %v; want between %v and %v", i+1, got.waits[i], full/2, full)
		}
		sum += got.waits[i]
	}
	if got.took != sum || sum == unshortened {
		t.Errorf("took %v; the announced waits are %v together, without jitter they would be %v", got.took, sum, unshortened)
	}
}

func TestWaitIsNeverShorterThanRetryAfter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		after := time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(rt, "retry after"))
		got := play(t, model.RetryPolicy{Base: time.Millisecond, Max: time.Minute},
			failing(model.RateLimit, after), modeltest.Say("ok"))
		if got.err != nil || got.took < after || got.took > max(after, time.Millisecond) {
			rt.Fatalf("asked to wait %v; waited %v, error %v", after, got.took, got.err)
		}
	})
}

func TestRetryAfterBeyondMaxGivesUpAtOnceAndSaysWhy(t *testing.T) {
	got := play(t, model.RetryPolicy{Max: 30 * time.Second}, failing(model.RateLimit, 2*time.Minute, "half"))
	var e *model.Error
	if !errors.As(got.err, &e) || e.Kind != model.RateLimit || e.RetryAfter != 2*time.Minute || got.took != 0 {
		t.Errorf("error %v after %v; want the rate limit at once", got.err, got.took)
	}
	for _, want := range []string{"scripted", "2m0s", "30s"} {
		if !strings.Contains(fmt.Sprint(got.err), want) {
			t.Errorf("error %q does not say %q", got.err, want)
		}
	}
	if got.resp.Text != "half" || got.resp.Attempts != 1 {
		t.Errorf("response %+v; want what had arrived in one attempt", got.resp)
	}
}

func TestOtherFailuresAreNotRepeated(t *testing.T) {
	for _, kind := range []model.Kind{
		model.Auth, model.ContextLength, model.Refused, model.Invalid, model.Garbled, model.Cancelled,
	} {
		got := play(t, model.RetryPolicy{}, failing(kind, 0, "half"))
		if model.KindOf(got.err) != kind || got.resp.Attempts != 1 || got.resp.Text != "half" || got.took != 0 {
			t.Errorf("%s: %v, %+v after %v", kind, got.err, got.resp, got.took)
		}
	}
}

func TestLastFailureIsReturnedWithTheCountOfAllAttempts(t *testing.T) {
	got := play(t, model.RetryPolicy{Attempts: 2}, failing(model.Server, 0, "first"), failing(model.Timeout, 0, "se", "cond"))
	if model.KindOf(got.err) != model.Timeout || got.resp.Attempts != 2 || got.resp.Text != "second" {
		t.Errorf("error %v, response %+v", got.err, got.resp)
	}
	if got.resp.Usage != (model.Usage{InputTokens: 20, OutputTokens: 3}) || got.resp.Model != "scripted:test" {
		t.Errorf("response %+v", got.resp)
	}
	if diff := cmp.Diff([]string{"first", "retract", "se", "cond"}, got.emitted); diff != "" {
		t.Errorf("emitted (-want +got):\n%s", diff)
	}
}

func TestCancelEndsAWaitAtOnceAndKeepsWhatHadArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		script := modeltest.Script(t, failing(model.Server, time.Hour, "half"))
		m := model.Retry(script, model.RetryPolicy{Max: 2 * time.Hour})
		done := make(chan error)
		var resp model.Response
		go func() {
			var err error
			resp, err = m.Chat(ctx, model.Request{}, nil)
			done <- err
		}()
		synctest.Wait()
		begin := time.Now()
		cancel()
		err := <-done
		if model.KindOf(err) != model.Cancelled || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "scripted") {
			t.Errorf("error %v; want cancelled, telling the last failure", err)
		}
		if time.Since(begin) != 0 || resp.Text != "half" || resp.Attempts != 1 {
			t.Errorf("returned %+v after %v", resp, time.Since(begin))
		}
	})
}

func TestDeadlineInAWaitIsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		script := modeltest.Script(t, failing(model.Server, time.Hour))
		_, err := model.Retry(script, model.RetryPolicy{Max: 2 * time.Hour}).Chat(ctx, model.Request{}, nil)
		if model.KindOf(err) != model.Timeout || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v; want time-out", err)
		}
	})
}

func TestDeadlineInAnAttemptIsTheAttemptsOwnFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		script := modeltest.Script(t, modeltest.Turn{Text: "half", Hang: true})
		resp, err := model.Retry(script, model.RetryPolicy{}).Chat(ctx, model.Request{}, nil)
		if want := "scripted:test: timeout: context deadline exceeded"; err == nil || err.Error() != want || resp.Text != "half" {
			t.Errorf("got %q, %v; want %s", resp.Text, err, want)
		}
	})
}

func TestAnswerThatCameIsNotLostToALateCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	script := modeltest.Script(t, modeltest.Say("word"))
	resp, err := model.Retry(script, model.RetryPolicy{}).Chat(ctx, model.Request{}, func(model.Delta) error {
		cancel()
		return nil
	})
	if err != nil || resp.Text != "word" {
		t.Errorf("got %q, %v", resp.Text, err)
	}
}

func TestErrorFromEmitOnARetractEndsTheAnswer(t *testing.T) {
	full := errors.New("full")
	script := modeltest.Script(t, failing(model.Server, 0, "half"))
	resp, err := model.Retry(script, model.RetryPolicy{Base: 1, Max: 1}).Chat(t.Context(), model.Request{}, func(d model.Delta) error {
		if d.Retract {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || model.KindOf(err) != model.Cancelled || resp.Text != "" || resp.Attempts != 1 {
		t.Errorf("got %+v, %v", resp, err)
	}
}

func TestRetryIsStampedAsItsModel(t *testing.T) {
	m := model.Retry(modeltest.Script(t).As("cloud:big", false), model.RetryPolicy{})
	if m.ID() != "cloud:big" || m.Local() {
		t.Errorf("got %q, local %v", m.ID(), m.Local())
	}
}
