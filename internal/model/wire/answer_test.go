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
	for _, n := range []int{wire.MaxReply - 1, 1} {
		if err := x.Keep(n); err != nil {
			t.Errorf("%d bytes more: %v", n, err)
		}
	}
	failure(t, x.Keep(1), model.Garbled, "larger than 1 MB")
	if err := x.KeepCalls(wire.MaxCalls); err != nil {
		t.Error(err)
	}
	failure(t, x.KeepCalls(wire.MaxCalls+1), model.Garbled, "more than 256 tools")
}

func TestCompleteCallHasANameAnIDOfItsOwnAndArguments(t *testing.T) {
	x := open(t, nil)
	seen := map[string]bool{}
	for i, given := range []model.ToolCall{
		{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "a", Name: "f"}, {Name: "f", Arguments: " \n"}, {Name: "f", Arguments: "oops"},
	} {
		if err := x.AddCall(given); err != nil {
			t.Fatal(err)
		}
		got := x.Calls[i]
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
	failure(t, x.AddCall(model.ToolCall{ID: "b"}), model.Garbled, "without naming it")
}

func TestCallsOfAnAnswerThatCannotBeClosedAreKept(t *testing.T) {
	x := open(t, nil)
	x.Calls = []model.ToolCall{{ID: "a", Name: "f", Arguments: "{}"}, {ID: "b"}}
	failure(t, x.CloseCalls(), model.Garbled, "without naming it")
	if len(x.Calls) != 2 || x.Calls[0].Name != "f" {
		t.Errorf("kept %v", x.Calls)
	}
}

func TestTextIsEmittedAndTheReceiversErrorEndsTheAnswer(t *testing.T) {
	x := open(t, nil)
	var got []string
	x.SetEmit(func(d model.Delta) error { got = append(got, d.Text); return nil })
	for _, text := range []string{"a", "", "b"} {
		if err := x.Say([]byte(text)); err != nil {
			t.Error(err)
		}
	}
	x.SetEmit(nil)
	if err := x.Say([]byte("c")); err != nil {
		t.Error(err)
	}
	if strings.Join(got, "|") != "a|b" || x.Text() != "abc" {
		t.Errorf("emitted %q of %q", got, x.Text())
	}
	full := errors.New("the receiver is full")
	x.SetEmit(func(model.Delta) error { return full })
	err := x.Say([]byte("d"))
	if failure(t, err, model.Cancelled, "the receiver is full"); !errors.Is(err, full) {
		t.Errorf("%v does not wrap the receiver's error", err)
	}
}
