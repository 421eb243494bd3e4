package modeltest

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"sibyl/internal/model"
)

// startBeforeAProvider is start for a rule about requests, which a model without a provider cannot break.
func startBeforeAProvider(t *testing.T, build Factory, answers ...Answer) subject {
	t.Helper()
	s := start(t, build, answers...)
	if s.Sent == nil {
		t.Skip("the model has no provider")
	}
	return s
}

func wholeRequestIsSent(t *testing.T, build Factory) {
	s := start(t, build, Stream("ok"))
	req := model.Request{
		System: "canary-system",
		Messages: []model.Message{
			{Role: model.User, Text: "canary-question"},
			{
				Role: model.Assistant, Text: "canary-thought",
				ToolCalls: []model.ToolCall{{ID: "canary_id", Name: "canary_tool", Arguments: `{"a":"canary-argument"}`}},
				Native:    &model.Native{Provider: "another", Turn: json.RawMessage(`{"secret":"hidden-native"}`)},
			},
			{Role: model.ToolRole, Text: "canary-result", ToolCallID: "canary_id", ToolName: "canary_tool"},
		},
		Tools: []model.Tool{{
			Name: "canary_tool", Description: "canary-description",
			Schema: json.RawMessage(`{"type":"object","properties":{"canary_property":{"type":"string"}}}`),
		}},
		MaxOutputTokens: 54321,
		Purpose:         "hidden-purpose",
		Facts:           map[string]string{"hidden-fact": "hidden-value"},
	}
	if _, err := s.Model.Chat(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if s.Sent == nil {
		return
	}
	body := strings.Join(s.Sent(), "\n")
	for _, want := range []string{
		"canary-system", "canary-question", "canary-thought", "canary_id", "canary_tool", "canary-argument",
		"canary-result", "canary-description", "canary_property", "54321",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s was not sent", want)
		}
	}
	if strings.Contains(body, "hidden-") {
		t.Errorf("the purpose, the facts or another provider's turn was sent: %s", body)
	}
}

// answerGoesBack relies on the fake providers, which reject a conversation that the real ones would not take.
func answerGoesBack(t *testing.T, build Factory) {
	s := startBeforeAProvider(t, build, Answer{
		Chunks: []string{"Let me look."},
		Calls: []model.ToolCall{
			{ID: "call_a", Name: "code_search", Arguments: `{"q":"canary-argument"}`}, {Name: "list"}, {ID: "call_b", Name: "web_fetch"},
		},
	}, Stream("found"))
	req := question()
	first, err := s.Model.Chat(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Messages = append(req.Messages, model.Message{
		Role: model.Assistant, Text: first.Text, ToolCalls: first.ToolCalls, Native: first.Native,
	})
	for i, c := range first.ToolCalls {
		req.Messages = append(req.Messages, model.Message{
			Role: model.ToolRole, ToolCallID: c.ID, ToolName: c.Name, Text: "canary-result-" + string(rune('0'+i)),
		})
	}
	second, err := s.Model.Chat(t.Context(), req, nil)
	if err != nil || second.Text != "found" {
		t.Fatalf("got %q, %v", second.Text, err)
	}
	body := s.Sent()[1]
	if n := strings.Count(body, "canary-argument"); n != 1 {
		t.Errorf("the call went back %d times: %s", n, body)
	}
	at := -1
	for _, want := range []string{"canary-argument", "canary-result-0", "canary-result-1", "canary-result-2"} {
		next := strings.Index(body, want)
		if next <= at {
			t.Errorf("%s is missing or out of order: %s", want, body)
		}
		at = next
	}
}

// afterACall is a conversation in which a tool was called with arguments and gave result.
func afterACall(arguments string, result model.Message) model.Request {
	req := question()
	result.Role, result.ToolCallID, result.ToolName = model.ToolRole, "call_a", "list"
	req.Messages = append(req.Messages, model.Message{
		Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "call_a", Name: "list", Arguments: arguments}},
	}, result)
	return req
}

func failedResultIsToldApart(t *testing.T, build Factory) {
	s := startBeforeAProvider(t, build, Stream("a"), Stream("b"))
	for _, failed := range []bool{false, true} {
		req := afterACall("{}", model.Message{Text: "canary-result", IsError: failed})
		if _, err := s.Model.Chat(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	sent := s.Sent()
	if sent[0] == sent[1] || !strings.Contains(sent[1], "canary-result") {
		t.Errorf("a failed result is sent as any other: %s", sent[1])
	}
}

func oddTurnsAreSent(t *testing.T, build Factory) {
	for name, req := range map[string]model.Request{
		"arguments that are no object": afterACall(`["canary-argument`, model.Message{Text: "x"}),
		"arguments that are a list":    afterACall(`["canary-argument"]`, model.Message{Text: "x"}),
		"arguments in no UTF-8":        afterACall("{\"q\":\"canary-argument \xff\"}", model.Message{Text: "x"}),
		"blank arguments":              afterACall(" \n", model.Message{Text: "canary-argument"}),
		"an empty result":              afterACall(`{"q":"canary-argument"}`, model.Message{}),
		"empty texts": {Messages: []model.Message{
			{Role: model.User}, {Role: model.Assistant}, {Role: model.User, Text: "canary-argument"},
		}},
	} {
		s := startBeforeAProvider(t, build, Stream("ok"))
		if _, err := s.Model.Chat(t.Context(), req, nil); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		body := s.Sent()[0]
		if !json.Valid([]byte(body)) || !utf8.ValidString(body) || !strings.Contains(body, "canary-argument") {
			t.Errorf("%s: sent %q", name, body)
		}
	}
}

func wrongRequestIsNotSent(t *testing.T, build Factory) {
	for name, req := range map[string]model.Request{
		"role":   {Messages: []model.Message{{Role: model.User, Text: "x"}, {Role: "system", Text: "x"}}},
		"schema": {Messages: question().Messages, Tools: []model.Tool{{Name: "list", Schema: json.RawMessage(`{`)}}},
		"form":   {Messages: question().Messages, Schema: &model.Schema{Name: "x", JSON: json.RawMessage(`{`)}},
	} {
		s := startBeforeAProvider(t, build)
		resp, err := s.Model.Chat(t.Context(), req, nil)
		outcome{err: err}.failedAs(t, s.Model, model.Invalid)
		if resp.Attempts != 0 || len(s.Sent()) != 0 {
			t.Errorf("%s: %d attempts, sent %q; want none", name, resp.Attempts, s.Sent())
		}
	}
}

func sharedIDs(t *testing.T, build Factory) {
	s := startBeforeAProvider(t, build, Answer{Calls: []model.ToolCall{
		{ID: "call_a", Name: "list"}, {ID: "call_a", Name: "code_search"}, {Name: "list"}, {Name: "web_fetch"},
	}})
	got := s.ask(t.Context(), nil)
	ids := map[string]bool{"": true}
	for _, c := range got.resp.ToolCalls {
		if ids[c.ID] {
			t.Errorf("%q is the id of two calls, or none: %v", c.ID, got.resp.ToolCalls)
		}
		ids[c.ID] = true
	}
	if got.err != nil || len(got.resp.ToolCalls) != 4 || got.resp.ToolCalls[0].ID != "call_a" {
		t.Errorf("got %v, %v; want four calls, the first with its own id", got.resp.ToolCalls, got.err)
	}
}

// canarySchema is the form of an answer, of a kind that every provider can enforce.
var canarySchema = model.Schema{Name: "canary_form", JSON: json.RawMessage(
	`{"type":"object","properties":{"canary":{"type":"integer"}},"required":["canary"],"additionalProperties":false}`)}

func schemaIsEnforced(t *testing.T, build Factory) {
	s := startBeforeAProvider(t, build, Stream(`{"canary":1}`), Stream("ok"))
	req := question()
	form := canarySchema
	req.Tools, req.Schema = nil, &form
	if _, err := s.Model.Chat(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if got := s.Schema(); string(got) != string(canarySchema.JSON) {
		t.Errorf("the provider enforces %s; want %s", got, canarySchema.JSON)
	}
	if got := s.ask(t.Context(), nil); got.err != nil || s.Schema() != nil {
		t.Errorf("without a schema the provider enforces %s, %v", s.Schema(), got.err)
	}
}

func structuredAnswer(t *testing.T, build Factory) {
	s := start(t, build, Stream("Here:\n```json\n", `{"canary":"x"}`, "\n```"), Stream(`{"can`, `ary":1}`))
	req := question()
	req.Tools = nil
	got, resp, err := model.Structured(t.Context(), s.Model, req, canarySchema, new(any))
	if err != nil || string(got) != `{"canary":1}` || resp.Attempts != 2 {
		t.Errorf("got %s in %d attempts, %v", got, resp.Attempts, err)
	}
}
