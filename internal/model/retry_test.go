package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

func TestRequestIsUnsentWhereNoAttemptReachedAServer(t *testing.T) {
	unreached := modeltest.Turn{Err: &model.Error{Kind: model.Server, Unsent: true}}
	for want, attempts := range map[bool][]modeltest.Turn{
		true: {unreached, unreached, unreached}, false: {modeltest.Fail(model.Server), unreached, unreached},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := model.Retry(modeltest.Script(t, attempts...), model.RetryPolicy{})
			_, err := m.Chat(t.Context(), model.Request{}, nil)
			failed, is := errors.AsType[*model.Error](err)
			assert.That(t, is && failed.Unsent == want, "%v: want one that says %t", err, want)
		})
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func kindTurn(kind model.Kind, retryAfter time.Duration, chunks ...string) modeltest.Turn {
	return errorTurn(&model.Error{Kind: kind, RetryAfter: retryAfter, Message: "scripted"}, chunks...)
}

// lostTurn is a turn whose connection breaks.
func lostTurn(chunks ...string) modeltest.Turn {
	return errorTurn(&model.Error{Kind: model.Server, Lost: true, Message: "scripted"}, chunks...)
}

func errorTurn(err error, chunks ...string) modeltest.Turn {
	return modeltest.Turn{Chunks: chunks, Usage: model.Usage{InputTokens: 10, OutputTokens: len(chunks)}, Err: err}
}

// recorded is one answer, what it emitted and how long it took.
type recorded struct {
	resp    model.Response
	err     error
	emitted []string // "retract" for a retract, "wait" for a wait
	waits   []model.Wait
	lengths []time.Duration // of the waits
	took    time.Duration
}

// play asks a retrying model on a clock that stands still but for waits.
func play(t *testing.T, p model.RetryPolicy, turns ...modeltest.Turn) recorded {
	t.Helper()
	var out recorded
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.Script(t, turns...)
		begin := time.Now()
		out.resp, out.err = model.Retry(script, p).Chat(t.Context(), model.Request{}, func(d model.Delta) error {
			switch {
			case d.Retract:
				out.emitted = append(out.emitted, "retract")
			case d.Wait != nil:
				out.emitted = append(out.emitted, "wait")
				out.waits, out.lengths = append(out.waits, *d.Wait), append(out.lengths, time.Until(d.Wait.Until))
			default:
				out.emitted = append(out.emitted, d.Text)
			}
			return nil
		})
		out.took = time.Since(begin)
		assert.That(t, script.Left() == 0, "%d turns were not asked for", script.Left())
	})
	return out
}

func TestRetryableFailuresAreRepeatedAndLostTextIsRetractedInSight(t *testing.T) {
	good := modeltest.Turn{Chunks: []string{"whole"}, Usage: model.Usage{InputTokens: 10, OutputTokens: 5}}
	got := play(t, model.RetryPolicy{Attempts: 5}, lostTurn("ha", "lf"), kindTurn(model.Timeout, 0),
		kindTurn(model.RateLimit, 0), lostTurn("x"), good)
	assert.NoError(t, got.err)
	want := model.Response{
		Text: "whole", Finish: model.FinishStop, Model: "scripted:test", Attempts: 5,
		Usage: model.Usage{InputTokens: 50, OutputTokens: 8},
	}
	assert.NoDiff(t, cmp.Diff(want, got.resp), "response (-want +got)")
	// Nothing is retracted where nothing stood.
	assert.NoDiff(t, cmp.Diff([]string{"ha", "lf", "wait", "retract", "wait", "wait", "x", "wait", "retract", "whole"},
		got.emitted), "emitted (-want +got)")
	for i, kind := range []model.Kind{model.Server, model.Timeout, model.RateLimit, model.Server} {
		if w := got.waits[i]; w.Kind != kind || w.Attempt != i+1 || w.Model != "scripted:test" {
			t.Errorf("wait %d is told as %+v; want after %s", i, w, kind)
		}
	}
}

func TestAnswerOfWhichTextHasComeIsNotAskedForAgainUnlessItsConnectionWasLost(t *testing.T) {
	for _, kind := range []model.Kind{model.RateLimit, model.Overloaded, model.Timeout, model.Server} {
		got := play(t, model.RetryPolicy{}, kindTurn(kind, 0, "half"))
		assert.That(t, model.KindOf(got.err) == kind && got.resp.Text == "half" && got.resp.Attempts == 1 &&
			len(got.emitted) == 1, "%s: %v, %+v, emitted %q", kind, got.err, got.resp, got.emitted)
	}
}

func TestAnswerThatDoesNotBeginIsAskedForOnceMoreAndOneWithoutEndNever(t *testing.T) {
	for reason, attempts := range map[error]int{model.ErrUnanswered: 2, model.ErrEndless: 1} {
		err := &model.Error{Kind: model.Timeout, Err: reason}
		got := play(t, model.RetryPolicy{}, slices.Repeat([]modeltest.Turn{errorTurn(err)}, attempts)...)
		assert.That(t, errors.Is(got.err, reason) && got.resp.Attempts == attempts,
			"%v after %d attempts", got.err, got.resp.Attempts)
	}
}

// wantWaits says whether waits are these, each shortened by up to half and not all by nothing.
func wantWaits(t *testing.T, got recorded, want ...time.Duration) {
	t.Helper()
	var sum, unshortened time.Duration
	for i, full := range want {
		assert.Require(t, i < len(got.lengths) && got.lengths[i] <= full && got.lengths[i] >= full/2,
			"waited %v; want %v, each shortened by up to half", got.lengths, want)
		sum, unshortened = sum+got.lengths[i], unshortened+full
	}
	assert.That(t, got.took >= sum && sum != unshortened,
		"took %v; the waits are %v together, without jitter they would be %v", got.took, sum, unshortened)
}

func TestWaitsDoubleWithinTheirJitterAndAreKept(t *testing.T) {
	got := play(t, model.RetryPolicy{Attempts: 9}, append(slices.Repeat([]modeltest.Turn{kindTurn(model.Server, 0)}, 8),
		modeltest.Say("ok"))...)
	const s = time.Second
	wantWaits(t, got, s/2, s, 2*s, 4*s, 8*s, 16*s, 30*s, 30*s)
	assert.That(t, got.err == nil, "%v", got.err)
}

func TestBusyProviderIsWaitedForWithPatienceThatEnds(t *testing.T) {
	const s = time.Second
	for _, kind := range []model.Kind{model.RateLimit, model.Overloaded} {
		synctest.Test(t, func(t *testing.T) {
			busy := modeltest.Script(t, slices.Repeat([]modeltest.Turn{kindTurn(kind, 0)}, 30)...)
			begin := time.Now()
			var got recorded
			got.resp, got.err = model.Retry(busy, model.RetryPolicy{}).Chat(t.Context(), model.Request{},
				func(d model.Delta) error {
					got.lengths = append(got.lengths, time.Until(d.Wait.Until))
					return nil
				})
			got.took = time.Since(begin)
			wantWaits(t, got, 2*s, 4*s, 8*s, 16*s, 30*s, 30*s)
			assert.That(t, model.KindOf(got.err) == kind && got.took >= 90*s && got.took <= 120*s &&
				got.resp.Attempts == len(got.lengths)+1,
				"%s: %v after %v and %d attempts", kind, got.err, got.took, got.resp.Attempts)
		})
	}
}

func TestWaitIsNeverShorterThanRetryAfter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		after := time.Duration(rapid.Int64Range(0, int64(model.MaxRetryAfter)).Draw(rt, "retry after"))
		kind := rapid.SampledFrom([]model.Kind{model.RateLimit, model.Overloaded, model.Server, model.Timeout}).
			Draw(rt, "kind")
		got := play(t, model.RetryPolicy{}, kindTurn(kind, after), modeltest.Say("ok"))
		assert.Require(rt, got.err == nil && got.took >= after && got.took <= max(after, 2*time.Second),
			"asked to wait %v; waited %v, error %v", after, got.took, got.err)
	})
}

func TestRetryAfterThatIsTooLongGivesUpAtOnceAndSaysWhy(t *testing.T) {
	got := play(t, model.RetryPolicy{}, kindTurn(model.RateLimit, 2*time.Minute))
	var e *model.Error
	assert.That(t, errors.As(got.err, &e) && e.Kind == model.RateLimit && e.RetryAfter == 2*time.Minute && got.took == 0 &&
		got.resp.Attempts == 1, "error %v after %v; want the rate limit at once", got.err, got.took)
	assert.Contains(t, "the error", fmt.Sprint(got.err), "scripted", "2m0s", "1m30s")
}

func TestOtherFailuresAreNotRepeated(t *testing.T) {
	for _, kind := range []model.Kind{
		model.Auth, model.Payment, model.ContextLength, model.OutputLength, model.Refused, model.Invalid,
		model.Cancelled, model.Repeated,
	} {
		got := play(t, model.RetryPolicy{}, kindTurn(kind, 0, "half"))
		assert.That(t, model.KindOf(got.err) == kind && got.resp.Attempts == 1 && got.resp.Text == "half" && got.took == 0,
			"%s: %v, %+v after %v", kind, got.err, got.resp, got.took)
	}
}

func TestBrokenSampleIsAskedForTwiceAgainAlsoAfterText(t *testing.T) {
	broken := kindTurn(model.Garbled, 0, "half")
	got := play(t, model.RetryPolicy{}, broken, broken, modeltest.Say("whole"))
	if got.err != nil || got.resp.Text != "whole" || got.resp.Attempts != 3 || got.took == 0 {
		t.Errorf("%v, %+v after %v", got.err, got.resp, got.took)
	}
	got = play(t, model.RetryPolicy{}, broken, broken, broken)
	if failed, is := errors.AsType[*model.Error](got.err); !is || failed.Kind != model.Garbled || !failed.Retryable() {
		t.Errorf("%v: want a failure after which the run may be resumed", got.err)
	}
	for _, cause := range []error{model.ErrOversized, &model.SchemaError{}} {
		got = play(t, model.RetryPolicy{}, errorTurn(&model.Error{Kind: model.Garbled, Err: cause}, "half"))
		if failed, is := errors.AsType[*model.Error](got.err); !is || failed.Retryable() || got.resp.Attempts != 1 {
			t.Errorf("%v: %+v; want one attempt", got.err, got.resp)
		}
	}
}

func TestModelThatHasOnlyThoughtIsAskedOnceForItsAnswer(t *testing.T) {
	thought := model.Response{Finish: model.FinishStop, Native: &model.Native{Thinking: "hm"}, Attempts: 1}
	for name, c := range map[string]struct {
		messages []model.Message
		then     model.Response
		works    bool
	}{
		"after the user":   {[]model.Message{{Role: model.User, Text: "q"}}, model.Response{Text: "a", Attempts: 1}, true},
		"after a tool":     {[]model.Message{{Role: model.ToolRole, Text: "r"}}, model.Response{Text: "a", Attempts: 1}, true},
		"and thinks again": {[]model.Message{{Role: model.User, Text: "q"}}, thought, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := &answering{responses: []model.Response{thought, c.then}}
			resp, err := model.Retry(m, model.RetryPolicy{}).Chat(t.Context(), model.Request{Messages: c.messages}, nil)
			if len(m.asked) != 2 || resp.Attempts != 2 || (err == nil) != c.works {
				t.Fatalf("asked %d times: %+v, %v", len(m.asked), resp, err)
			}
			last := m.asked[1].Messages[len(m.asked[1].Messages)-1]
			if last.Role != model.User || !strings.Contains(last.Text, "thinking alone") ||
				strings.Contains(c.messages[0].Text, "thinking") {
				t.Errorf("asked again with %+v", last)
			}
			if !c.works && (!errors.Is(err, model.ErrOnlyThought) || !strings.Contains(err.Error(), "less think")) {
				t.Errorf("%v: want one that names the cause", err)
			}
		})
	}
}

// answering is a model that gives these responses.
type answering struct {
	responses []model.Response
	asked     []model.Request
}

func (*answering) ID() string  { return "a:m" }
func (*answering) Local() bool { return true }

func (a *answering) Chat(_ context.Context, req model.Request, _ func(model.Delta) error) (model.Response, error) {
	a.asked = append(a.asked, req)
	return a.responses[len(a.asked)-1], nil
}

func TestLastFailureIsReturnedWithTheCountOfAllAttempts(t *testing.T) {
	got := play(t, model.RetryPolicy{Attempts: 2}, lostTurn("first"), kindTurn(model.Timeout, 0, "se", "cond"))
	assert.That(t, model.KindOf(got.err) == model.Timeout && got.resp.Attempts == 2 && got.resp.Text == "second",
		"error %v, response %+v", got.err, got.resp)
	assert.That(t, got.resp.Usage == (model.Usage{InputTokens: 20, OutputTokens: 3}) && got.resp.Model == "scripted:test",
		"response %+v", got.resp)
	assert.NoDiff(t, cmp.Diff([]string{"first", "wait", "retract", "se", "cond"}, got.emitted), "emitted (-want +got)")
}

func TestCancelEndsAWaitAtOnceAndKeepsWhatHadArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		script := modeltest.Script(t, lostTurn("half"))
		m := model.Retry(script, model.RetryPolicy{})
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
		assert.That(t, model.KindOf(err) == model.Cancelled && errors.Is(err, context.Canceled) &&
			strings.Contains(err.Error(), "scripted"), "error %v; want cancelled, telling the last failure", err)
		assert.That(t, time.Since(begin) == 0 && resp.Text == "half" && resp.Attempts == 1,
			"returned %+v after %v", resp, time.Since(begin))
	})
}

func TestDeadlineInAWaitIsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		script := modeltest.Script(t, kindTurn(model.Server, model.MaxRetryAfter))
		_, err := model.Retry(script, model.RetryPolicy{}).Chat(ctx, model.Request{}, nil)
		assert.That(t, model.KindOf(err) == model.Timeout && errors.Is(err, context.DeadlineExceeded),
			"error %v; want time-out", err)
	})
}

func TestAnswerThatCameIsNotLostToALateCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	script := modeltest.Script(t, modeltest.Say("word"))
	resp, err := model.Retry(script, model.RetryPolicy{}).Chat(ctx, model.Request{}, func(model.Delta) error {
		cancel()
		return nil
	})
	assert.That(t, err == nil && resp.Text == "word", "got %q, %v", resp.Text, err)
}

func TestErrorFromEmitOnAWaitOrARetractEndsTheAnswer(t *testing.T) {
	full := errors.New("full")
	for name, is := range map[string]func(model.Delta) bool{
		"wait": func(d model.Delta) bool {
			return d.Wait != nil
		}, "retract": func(d model.Delta) bool { return d.Retract },
	} {
		synctest.Test(t, func(t *testing.T) {
			resp, err := model.Retry(modeltest.Script(t, lostTurn("half")), model.RetryPolicy{}).Chat(t.Context(),
				model.Request{}, func(d model.Delta) error {
					if is(d) {
						return full
					}
					return nil
				})
			assert.That(t, errors.Is(err, full) && model.KindOf(err) == model.Cancelled && resp.Attempts == 1,
				"%s: got %+v, %v", name, resp, err)
		})
	}
}

func TestWhatIsNoChatIsRepeatedByTheSamePolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := []error{&model.Error{Kind: model.RateLimit, RetryAfter: 9 * time.Second},
			&model.Error{Kind: model.Server, Lost: true}, nil}
		var told []model.Kind
		begin, attempts := time.Now(), 0
		err := model.RetryPolicy{}.Do(t.Context(), "house:whisper", func() error {
			attempts++
			return failures[attempts-1]
		}, func(w model.Wait) error {
			told = append(told, w.Kind)
			return nil
		})
		took := time.Since(begin)
		assert.That(t, err == nil && attempts == 3 && slices.Equal(told, []model.Kind{model.RateLimit, model.Server}) &&
			took >= 9*time.Second && took <= 10*time.Second, "%v after %d attempts and %v, told %v", err, attempts, took, told)
		odd := errors.New("odd")
		assert.ErrorIs(t, (model.RetryPolicy{}).Do(t.Context(), "house:whisper", func() error {
			return odd
		}, nil), odd)
		err = model.RetryPolicy{}.Do(t.Context(), "house:whisper", func() error {
			return &model.Error{Kind: model.Timeout}
		}, func(model.Wait) error { return odd })
		assert.That(t, errors.Is(err, odd), "who wants to wait no more got %v", err)
	})
}
