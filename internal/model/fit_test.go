package model_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

func TestRefusedRequestNearTheWindowCountsAsTooLong(t *testing.T) {
	refused := func(kind model.Kind, status int) error {
		return &model.Error{Kind: kind, Status: status, Message: "bad request"}
	}
	for name, c := range map[string]struct {
		err          error
		sent, window int
		want         model.Kind
	}{
		"near the window":       {refused(model.Invalid, 400), 7100, 10_000, model.ContextLength},
		"above it":              {refused(model.Invalid, 422), 12_000, 10_000, model.ContextLength},
		"small":                 {refused(model.Invalid, 400), 2000, 10_000, model.Invalid},
		"window not known":      {refused(model.Invalid, 400), 2_000_000, 0, model.Invalid},
		"an unknown model":      {refused(model.Invalid, 404), 9000, 10_000, model.Invalid},
		"a failure of its own":  {refused(model.Auth, 401), 9000, 10_000, model.Auth},
		"no failure of a model": {errors.New("x"), 9000, 10_000, model.Server},
	} {
		m := model.WithWindow(modeltest.Script(t, modeltest.Turn{Err: c.err}), func(context.Context) int { return c.window })
		_, err := m.Chat(t.Context(), request(strings.Repeat("four", c.sent)), nil)
		if got := model.KindOf(err); got != c.want {
			t.Errorf("%s: %s; want %s", name, got, c.want)
		}
	}
}

func request(texts ...string) (req model.Request) {
	for _, text := range texts {
		req.Messages = append(req.Messages, model.Message{Role: model.User, Text: text})
	}
	return req
}

func TestRequestThatDoesNotFitIsCutOnceAndStaysCut(t *testing.T) {
	full := modeltest.Fail(model.ContextLength)
	halfWay := modeltest.Turn{Text: "Half", Err: full.Err}
	shorter := request("short").Messages
	for name, c := range map[string]struct {
		turns   []modeltest.Turn
		shorter []model.Message
		kind    model.Kind // of the failure; "": none
		sent    []string   // the first message of each request
	}{
		"fits":                   {[]modeltest.Turn{modeltest.Say("yes")}, shorter, "", []string{"long"}},
		"fits once it is cut":    {[]modeltest.Turn{full, modeltest.Say("yes")}, shorter, "", []string{"long", "short"}},
		"fails while it answers": {[]modeltest.Turn{halfWay, modeltest.Say("yes")}, shorter, "", []string{"long", "short"}},
		"never fits":             {[]modeltest.Turn{full, full}, shorter, model.ContextLength, []string{"long", "short"}},
		"can spare nothing":      {[]modeltest.Turn{full}, nil, model.ContextLength, []string{"long"}},
		"fails otherwise":        {[]modeltest.Turn{modeltest.Fail(model.Auth)}, shorter, model.Auth, []string{"long"}},
	} {
		script := modeltest.Script(t, c.turns...)
		m := model.CutOnce(script, 1, func(int) []model.Message { return c.shorter })
		shown := ""
		resp, err := m.Chat(t.Context(), request("long", "added"), func(d model.Delta) error {
			if d.Retract {
				shown = ""
			}
			shown += d.Text
			return nil
		})
		var sent []string
		for _, req := range script.Requests() {
			sent = append(sent, req.Messages[0].Text)
			if req.Messages[1].Text != "added" {
				t.Errorf("%s: the message that was added is not sent: %v", name, req.Messages)
			}
		}
		if kind := model.KindOf(err); err != nil && kind != c.kind || err == nil && (c.kind != "" || shown != resp.Text) ||
			!slices.Equal(sent, c.sent) {
			t.Errorf("%s: %v, sent %q, shown %q", name, err, sent, shown)
		}
	}
	script := modeltest.Script(t, full, modeltest.Say("one"), modeltest.Say("two"))
	m := model.CutOnce(script, 1, func(tokens int) []model.Message { return shorter })
	for range 2 {
		if _, err := m.Chat(t.Context(), request("long"), nil); err != nil {
			t.Error(err)
		}
	}
	if sent := script.Requests(); len(sent) != 3 || sent[2].Messages[0].Text != "short" {
		t.Errorf("the request after the one that was cut is not: %v", sent)
	}
}
