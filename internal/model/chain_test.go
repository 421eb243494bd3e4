package model_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// chained is a chain of scripted models a, b, c on a clock.
type chained struct {
	now     time.Time
	cooling *model.Cooling
	models  []*modeltest.Scripted
	policy  model.ChainPolicy
}

func newChained(t *testing.T, local []bool, scripts ...[]modeltest.Turn) *chained {
	c := &chained{now: time.Unix(1000, 0), cooling: model.NewCooling()}
	for i, turns := range scripts {
		c.models = append(c.models, modeltest.Script(t, turns...).As(string(rune('a'+i))+":m", local[i]))
	}
	c.policy = model.ChainPolicy{CoolDown: time.Minute, Cooling: c.cooling, Now: func() time.Time { return c.now }}
	return c
}

func (c *chained) ask(ctx context.Context) (model.Response, string, error) {
	var others []model.Model
	for _, m := range c.models[1:] {
		others = append(others, m)
	}
	var shown strings.Builder
	resp, err := model.Chain(c.policy, c.models[0], others...).Chat(ctx, model.Request{}, func(d model.Delta) error {
		if d.Retract {
			shown.WriteString("<retract>")
		}
		shown.WriteString(d.Text)
		return nil
	})
	return resp, shown.String(), err
}

func (c *chained) requestCounts() (counts []int) {
	for _, m := range c.models {
		counts = append(counts, len(m.Requests()))
	}
	return counts
}

func turns(t ...modeltest.Turn) []modeltest.Turn { return t }

func TestChainMovesOnWhereAnotherModelMayAnswerAndNowhereElse(t *testing.T) {
	for kind, moves := range map[model.Kind]bool{model.RateLimit: true, model.Server: true, model.Timeout: true,
		model.Overloaded: true,
		model.Payment:    true, model.OutputLength: false, model.Auth: false,
		model.ContextLength: false, model.Refused: false, model.Invalid: false, model.Garbled: false,
		model.Repeated: false, model.Cancelled: false} {
		t.Run(string(kind), func(t *testing.T) {
			c := newChained(t, []bool{false, false}, turns(kindTurn(kind, 0, "half ")), turns(modeltest.Say("whole")))
			resp, shown, err := c.ask(t.Context())
			if !moves {
				assert.That(t, model.KindOf(err) == kind && len(c.models[1].Requests()) == 0 && shown == "half ",
					"%v, asked %v, shown %q", err, c.requestCounts(), shown)
				return
			}
			assert.That(t, err == nil && resp.Text == "whole" && resp.Model == "b:m" && shown == "half <retract>whole",
				"%+v, %v, shown %q", resp, err, shown)
			assert.Same(t, []model.Try{{Model: "a:m", Kind: kind, Message: "scripted"}}, resp.Tries)
			assert.That(t, resp.Usage.InputTokens == 10 && resp.Attempts == 2, "the failed attempt is not counted: %+v", resp)
		})
	}
}

func TestChainGoesOnPastAFallbackThatIsNotUsableHere(t *testing.T) {
	for _, kind := range []model.Kind{model.Auth, model.Invalid} {
		t.Run(string(kind), func(t *testing.T) {
			c := newChained(t, []bool{false, false, false}, turns(kindTurn(model.RateLimit, 0)), turns(kindTurn(kind, 0)),
				turns(modeltest.Say("one"), modeltest.Say("two")))
			resp, _, err := c.ask(t.Context())
			assert.Require(t, err == nil && resp.Text == "one", "%+v, %v", resp, err)
			assert.Same(t, []model.Try{{Model: "a:m", Kind: model.RateLimit, Message: "scripted"},
				{Model: "b:m", Kind: kind, Message: "scripted"}}, resp.Tries)
			_, _, err = c.ask(t.Context())
			assert.NoError(t, err)
			assert.NoDiff(t, cmp.Diff([]int{1, 1, 2}, c.requestCounts()), "it is not left alone")
		})
	}
}

func TestChainThatMovesOnWhateverTheReasonTellsWhyWithTheStatus(t *testing.T) {
	for _, kind := range []model.Kind{model.Auth, model.Refused, model.Invalid, model.Garbled, model.ContextLength,
		model.Server} {
		refused := modeltest.Turn{Err: &model.Error{Kind: kind, Status: 401, Message: "no"}}
		c := newChained(t, []bool{false, false}, turns(refused), turns(modeltest.Say("whole")))
		c.policy.AnyFailure = true
		resp, _, err := c.ask(t.Context())
		assert.That(t, err == nil && resp.Model == "b:m" && len(resp.Tries) == 1 &&
			resp.Tries[0] == (model.Try{Model: "a:m", Kind: kind, Status: 401, Message: "no"}), "%s: %+v, %v", kind, resp, err)
	}
}

func TestChainAsksItsFirstModelThatAnotherChainFoundUnusable(t *testing.T) {
	c := newChained(t, []bool{false, false}, turns(kindTurn(model.Server, 0)),
		turns(kindTurn(model.Auth, 0), kindTurn(model.Auth, 0)))
	_, _, err := c.ask(t.Context())
	assert.Require(t, model.KindOf(err) == model.Auth, "%v", err)
	other := model.Chain(c.policy, c.models[1], modeltest.Script(t).As("c:m", false))
	_, err = other.Chat(t.Context(), model.Request{}, nil)
	assert.That(t, model.KindOf(err) == model.Auth, "the wrong key of the first model is hidden: %v", err)
}

func TestChainThatAFallbackEndsNamesTheModelsBeforeIt(t *testing.T) {
	c := newChained(t, []bool{false, false, false}, turns(kindTurn(model.RateLimit, 0)), turns(kindTurn(model.Refused, 0),
		kindTurn(model.Refused, 0)), turns())
	for _, before := range []string{"before it, a:m: too many requests",
		"before it, a:m is left alone for a while (too many requests)"} {
		_, _, err := c.ask(t.Context())
		assert.That(t, model.KindOf(err) == model.Refused && strings.Contains(err.Error(), before),
			"%v; want it with %q", err, before)
	}
}

func TestChainNeverShortensTheTimeAModelIsLeftAlone(t *testing.T) {
	c := newChained(t, []bool{false, false}, turns(kindTurn(model.RateLimit, 10*time.Minute), kindTurn(model.Server, 0)),
		turns(kindTurn(model.Server, 0), kindTurn(model.Server, 0), modeltest.Say("one")))
	for range 2 { // the second time both are left alone, and are asked all the same
		_, _, err := c.ask(t.Context())
		assert.Require(t, model.KindOf(err) == model.Server, "%v", err)
	}
	c.now = c.now.Add(5 * time.Minute)
	resp, _, err := c.ask(t.Context())
	want := []model.Try{{Model: "a:m", Kind: model.RateLimit, Cooling: true}}
	diff := cmp.Diff(want, resp.Tries)
	assert.That(t, err == nil && diff == "", "%v\n%s", err, diff)
}

func TestChainLeavesAModelThatFailedAloneForAWhile(t *testing.T) {
	c := newChained(t, []bool{false, false}, turns(kindTurn(model.Server, 0), modeltest.Say("back")),
		turns(modeltest.Say("one"), modeltest.Say("two")))
	for _, want := range []string{"one", "two"} {
		resp, _, err := c.ask(t.Context())
		assert.Require(t, err == nil && resp.Text == want, "%+v, %v; want %s", resp, err, want)
	}
	assert.Same(t, []int{1, 2}, c.requestCounts())
	c.now = c.now.Add(time.Minute)
	resp, _, err := c.ask(t.Context())
	assert.That(t, err == nil && resp.Text == "back" && resp.Tries == nil, "after the cool-down: %+v, %v", resp, err)
}

func TestChainAsksAllTheSameWhereAllAreLeftAlone(t *testing.T) {
	c := newChained(t, []bool{false, false}, turns(kindTurn(model.Server, 0), modeltest.Say("after all")),
		turns(kindTurn(model.RateLimit, 0)))
	_, _, err := c.ask(t.Context())
	if model.KindOf(err) != model.RateLimit || !strings.Contains(err.Error(), "before it, a:m: the provider failed") {
		t.Fatalf("the last failure, with those before it, is not told: %v", err)
	}
	resp, _, err := c.ask(t.Context())
	assert.That(t, err == nil && resp.Text == "after all", "%+v, %v", resp, err)
}

func TestChainNeverMovesFromLocalToCloudWithoutConsent(t *testing.T) {
	build := func() *chained {
		return newChained(t, []bool{true, false, true}, turns(kindTurn(model.Server, 0)), turns(modeltest.Say("cloud")),
			turns(modeltest.Say("local")))
	}
	c := build()
	resp, _, err := c.ask(t.Context())
	assert.That(t, err == nil && resp.Model == "c:m" && len(c.models[1].Requests()) == 0,
		"%+v, %v, asked %v", resp, err, c.requestCounts())
	c = build()
	c.policy.LocalToCloud = true
	resp, _, err = c.ask(t.Context())
	assert.That(t, err == nil && resp.Model == "b:m", "with consent: %+v, %v", resp, err)
	c = newChained(t, []bool{true, false}, turns(kindTurn(model.Server, 0)), turns())
	if _, _, err := c.ask(t.Context()); err == nil || !strings.Contains(err.Error(), "fallback.local_to_cloud") {
		t.Errorf("the error does not say what is withheld: %v", err)
	}
}

func TestChainFromTheCloudMayEndOnThisMachine(t *testing.T) {
	c := newChained(t, []bool{false, true}, turns(kindTurn(model.Timeout, 0)), turns(modeltest.Say("local")))
	resp, _, err := c.ask(t.Context())
	assert.That(t, err == nil && resp.Model == "b:m", "%+v, %v", resp, err)
}

func TestChainAsksNobodyElseOnceItsCallerIsGone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := newChained(t, []bool{false, false}, turns(modeltest.Func(func(model.Request) modeltest.Turn {
		cancel()
		return kindTurn(model.Server, 0)
	})), turns())
	if _, _, err := c.ask(ctx); err == nil || len(c.models[1].Requests()) > 0 {
		t.Errorf("%v, asked %v", err, c.requestCounts())
	}
}

func TestChainEndsWhereItsReceiverWantsNoMore(t *testing.T) {
	gone := errors.New("gone")
	a := modeltest.Script(t, kindTurn(model.Server, 0, "half")).As("a:m", false)
	b := modeltest.Script(t).As("b:m", false)
	_, err := model.Chain(model.ChainPolicy{}, a, b).Chat(t.Context(), model.Request{}, func(d model.Delta) error {
		if d.Retract {
			return gone
		}
		return nil
	})
	assert.That(t, errors.Is(err, gone) && model.KindOf(err) == model.Cancelled, "%v", err)
}

func TestBusyModelOfAChainIsWaitedForPatientlyOnlyIfItIsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := slices.Repeat([]modeltest.Turn{kindTurn(model.Overloaded, 0)}, 30)
		first, last := modeltest.Script(t, busy...).As("a:m", false), modeltest.Script(t, busy...).As("b:m", false)
		m := model.Chain(model.ChainPolicy{}, model.Retry(first, model.RetryPolicy{}),
			model.Retry(last, model.RetryPolicy{}))
		waited := map[string]time.Duration{}
		_, err := m.Chat(t.Context(), model.Request{}, func(d model.Delta) error {
			if d.Wait == nil {
				t.Errorf("emitted %+v", d)
				return nil
			}
			waited[d.Wait.Model] += time.Until(d.Wait.Until)
			return nil
		})
		assert.That(t, model.KindOf(err) == model.Overloaded && waited["a:m"] <= 5*time.Second &&
			waited["b:m"] >= time.Minute, "%v after waits of %v", err, waited)
	})
}

func TestWaitAfterTextOfAModelLeavesItsTextToBeRetracted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := modeltest.Script(t, lostTurn("half"), kindTurn(model.Server, 0), kindTurn(model.Server, 0)).As("a:m", false)
		last := modeltest.Script(t, modeltest.Say("whole")).As("b:m", false)
		var shown string
		_, err := model.Chain(model.ChainPolicy{}, model.Retry(first, model.RetryPolicy{}), last).Chat(t.Context(),
			model.Request{}, func(d model.Delta) error {
				if d.Retract {
					shown = ""
				}
				shown += d.Text
				return nil
			})
		assert.That(t, err == nil && shown == "whole", "%v, shown %q", err, shown)
	})
}
