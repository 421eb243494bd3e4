package wire_test

import (
	"errors"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

func TestAnswerBeyondItsBoundsIsGarbled(t *testing.T) {
	x := open(t, nil)
	for _, n := range []int{wire.MaxAnswer - 1, 1} {
		if err := x.Keep(n); err != nil {
			t.Errorf("%d bytes more: %v", n, err)
		}
	}
	failure(t, x.Keep(1), model.Garbled, "larger than 8 MB")
	if err := x.KeepCalls(wire.MaxCalls); err != nil {
		t.Error(err)
	}
	failure(t, x.KeepCalls(wire.MaxCalls+1), model.Garbled, "more than 256 tools")
}

func TestCompleteCallHasANameAnIDOfItsOwnAndArguments(t *testing.T) {
	x := open(t, nil)
	seen := map[string]bool{}
	for _, given := range []model.ToolCall{
		{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "a", Name: "f"}, {Name: "f", Arguments: " \n"}, {Name: "f", Arguments: "oops"},
	} {
		got, err := x.Complete(given)
		if err != nil {
			t.Fatal(err)
		}
		if seen[got.ID] || (got.ID != "a" && !strings.HasPrefix(got.ID, "call_")) {
			t.Errorf("%+v has the id %q", given, got.ID)
		}
		seen[got.ID] = true
		if want := given.Arguments; strings.TrimSpace(want) == "" {
			if got.Arguments != "{}" {
				t.Errorf("%+v has the arguments %q", given, got.Arguments)
			}
		} else if got.Arguments != want {
			t.Errorf("%+v became %+v", given, got)
		}
	}
	_, err := x.Complete(model.ToolCall{ID: "b"})
	failure(t, err, model.Garbled, "without naming it")
}

func TestTextIsEmittedAndTheReceiversErrorEndsTheAnswer(t *testing.T) {
	x := open(t, nil)
	var got []string
	keep := func(d model.Delta) error { got = append(got, d.Text); return nil }
	for _, text := range []string{"a", "", "b"} {
		if err := errors.Join(x.Emit(keep, text), x.Emit(nil, text)); err != nil {
			t.Error(err)
		}
	}
	if strings.Join(got, "|") != "a|b" {
		t.Errorf("emitted %q", got)
	}
	full := errors.New("the receiver is full")
	err := x.Emit(func(model.Delta) error { return full }, "c")
	if failure(t, err, model.Cancelled, "the receiver is full"); !errors.Is(err, full) {
		t.Errorf("%v does not wrap the receiver's error", err)
	}
}

func TestComplaintInsideAStreamSaysSoAndKeepsTheWishToWait(t *testing.T) {
	err := open(t, nil).Inside(wire.Complaint{Kind: model.RateLimit, Message: "slow down", Advice: "; wait", RetryAfter: 7})
	if got := failure(t, err, model.RateLimit, "inside the stream: slow down; wait"); got.RetryAfter != 7 || got.Status != 0 {
		t.Errorf("got %#v", got)
	}
}
