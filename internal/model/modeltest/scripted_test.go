package modeltest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

func TestScriptIsPlayedInOrder(t *testing.T) {
	m := modeltest.Script(t)
	m.Add(
		modeltest.SayAndCall("Looking.", "code_search", `{"q":"x"}`).AndCall("code_read", `{"path":"a.go"}`),
		modeltest.Func(func(r model.Request) modeltest.Turn {
			return modeltest.Say("You said " + r.Messages[0].Text)
		}),
		modeltest.Call("list", "{}"),
		modeltest.Fail(model.Auth),
		modeltest.Turn{Err: errors.New("odd")},
	)
	req := model.Request{Messages: []model.Message{{Role: model.User, Text: "hello"}}, Purpose: "test"}
	var got []model.Response
	for range 3 {
		resp, err := m.Chat(t.Context(), req, nil)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, resp)
	}
	stamp := model.Response{Model: "scripted:test", Attempts: 1}
	want := []model.Response{stamp, stamp, stamp}
	want[0].Text, want[0].Finish = "Looking.", model.FinishTools
	want[0].ToolCalls = []model.ToolCall{
		{ID: "call_1", Name: "code_search", Arguments: `{"q":"x"}`},
		{ID: "call_2", Name: "code_read", Arguments: `{"path":"a.go"}`},
	}
	want[1].Text, want[1].Finish = "You said hello", model.FinishStop
	want[2].Finish = model.FinishTools
	want[2].ToolCalls = []model.ToolCall{{ID: "call_3", Name: "list", Arguments: "{}"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("responses (-want +got):\n%s", diff)
	}
	for _, kind := range []model.Kind{model.Auth, model.Server} {
		if _, err := m.Chat(t.Context(), req, nil); model.KindOf(err) != kind {
			t.Errorf("got %v; want kind %s", err, kind)
		}
	}
	if m.Left() != 0 || len(m.Requests()) != 5 || m.Requests()[4].Purpose != "test" {
		t.Errorf("%d turns left, requests %+v", m.Left(), m.Requests())
	}
}

func TestRecordedRequestDoesNotChangeWithTheCallersSlice(t *testing.T) {
	m := modeltest.Script(t, modeltest.Say("ok"))
	messages := []model.Message{{Role: model.User, Text: "before"}}
	if _, err := m.Chat(t.Context(), model.Request{Messages: messages}, nil); err != nil {
		t.Fatal(err)
	}
	messages[0].Text = "after"
	if got := m.Requests()[0].Messages[0].Text; got != "before" {
		t.Errorf("recorded %q; want what was sent", got)
	}
}

func TestSayIsEmittedInSeveralPieces(t *testing.T) {
	var pieces []string
	_, err := modeltest.Script(t, modeltest.Say("one two three")).Chat(t.Context(), model.Request{},
		func(d model.Delta) error { pieces = append(pieces, d.Text); return nil })
	if diff := cmp.Diff([]string{"one ", "two ", "three"}, pieces); err != nil || diff != "" {
		t.Errorf("error %v, pieces (-want +got):\n%s", err, diff)
	}
}

func TestRequestBeyondTheScriptFailsTheTestAndSaysWhichItWas(t *testing.T) {
	var tb recorder
	m := modeltest.Script(&tb).As("cloud:big", false)
	_, err := m.Chat(t.Context(), model.Request{
		Purpose:  "oracle.turn",
		Messages: []model.Message{{Role: model.ToolRole, Text: "found nothing"}},
	}, nil)
	if model.KindOf(err) != model.Invalid {
		t.Errorf("error %v; want Invalid", err)
	}
	for _, want := range []string{"cloud:big", "request 1", "oracle.turn", "found nothing"} {
		if !strings.Contains(tb.failure, want) {
			t.Errorf("the failure %q does not say %q", tb.failure, want)
		}
	}
	if m.Local() {
		t.Error("As(…, false) left the model local")
	}
}

// recorder is a testing.TB that keeps what it is failed with.
type recorder struct {
	testing.TB
	failure string
}

func (r *recorder) Helper() {}

func (r *recorder) Cleanup(func()) {}

func (r *recorder) Errorf(format string, args ...any) { r.failure += fmt.Sprintf(format, args...) }
