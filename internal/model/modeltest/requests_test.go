package modeltest

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

// bodyOfRequest asks m, which agrees, and returns the body that was sent; "" for a model without a provider.
func bodyOfRequest(t *testing.T, m model.Model, s *Setup, req model.Request) string {
	t.Helper()
	_, err := m.Chat(t.Context(), req, nil)
	assert.Require(t, err == nil, "%v\nof %+v", err, req.Messages)
	if s.script != nil {
		return ""
	}
	return s.server.Last().Body
}

func wholeRequestIsSent(t *testing.T, build Factory) {
	m, s := startSetup(t, build, Setup{}, Stream("ok"))
	body := bodyOfRequest(t, m, s, model.Request{
		System: "canary-system",
		Messages: []model.Message{
			{Role: model.User, Text: "canary-question"},
			{
				Role: model.Assistant, Text: "canary-thought",
				ToolCalls: []model.ToolCall{{ID: "canary_id", Name: "canary_tool",
					Arguments: `{"a":"canary-argument"}`}},
				Native: &model.Native{Provider: "another", Turn: json.RawMessage(`{"secret":"hidden-native"}`)},
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
	})
	for _, want := range []string{
		"canary-system", "canary-question", "canary-thought", "canary_id", "canary_tool", "canary-argument",
		"canary-result", "canary-description", "canary_property", "54321",
	} {
		assert.That(t, s.script != nil || strings.Contains(body, want), "%s was not sent", want)
	}
	assert.That(t, !strings.Contains(body, "hidden-"),
		"the purpose, the facts or another provider's turn was sent: %s", body)
}

func picturesAreSent(t *testing.T, build Factory) {
	shown := []model.Picture{{Type: "image/png", Data: []byte("\x89PNG\r\n\x1a\n first \xff")},
		{Type: "image/jpeg", Data: []byte("\xff\xd8\xff second")}}
	req := question()
	req.Messages[0].Pictures = shown
	m, s := startSetup(t, build, Setup{}, Stream("ok"))
	if bodyOfRequest(t, m, s, req); s.script != nil {
		return
	}
	sent := s.server.Last()
	way, _ := routeOf(sent.Path)
	for i, p := range shown {
		n, data := strconv.Itoa(i), base64.StdEncoding.EncodeToString(p.Data)
		at := map[string]any{ // as each provider documents it
			"chat": []any{sent.At("messages", "1", "content", n), map[string]any{"type": "image_url",
				"image_url": map[string]any{"url": p.URL()}}},
			"responses": []any{sent.At("input", "0", "content", n), map[string]any{"type": "input_image",
				"image_url": p.URL()}},
			"messages": []any{sent.At("messages", "0", "content", n), map[string]any{"type": "image",
				"source": map[string]any{"type": "base64", "media_type": p.Type, "data": data}}},
			"gemini": []any{sent.At("contents", "0", "parts", n),
				map[string]any{"inlineData": map[string]any{"mimeType": p.Type, "data": data}}},
			"ollama": []any{sent.At("messages", "1", "images", n), data},
		}[way.name].([]any)
		assert.NoDiff(t, gocmp.Diff(at[1], at[0]), "picture %d (-want +sent)", i)
	}
	for _, words := range []any{sent.At("messages", "1", "content", "2", "text"), sent.At("input", "0", "content", "2",
		"text"),
		sent.At("messages", "0", "content", "2", "text"), sent.At("contents", "0", "parts", "2", "text"),
		sent.At("messages", "1", "content")} {
		if words == req.Messages[0].Text {
			return
		}
	}
	t.Errorf("the words do not stand behind the pictures: %s", sent.Body)
}

// answerGoesBack leaves to the adapter's own rules whether the conversation is accepted.
func answerGoesBack(t *testing.T, build Factory) {
	m, s := startSetup(t, build, Setup{}, Answer{
		Chunks: []string{"Let me look."},
		Calls: []model.ToolCall{
			{ID: "call_a", Name: "code_search", Arguments: `{"q":"canary-argument"}`}, {Name: "list"},
			{ID: "call_b", Name: "web_fetch"},
		},
	}, Stream("found"))
	req := question()
	first := assert.Must(m.Chat(t.Context(), req, nil))(t)
	req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: first.Text,
		ToolCalls: first.ToolCalls, Native: first.Native})
	for i, c := range first.ToolCalls {
		req.Messages = append(req.Messages, model.Message{
			Role: model.ToolRole, ToolCallID: c.ID, ToolName: c.Name, Text: "canary-result-" + string(rune('0'+i)),
		})
	}
	body := bodyOfRequest(t, m, s, req)
	if s.script != nil {
		return
	}
	n := strings.Count(body, "canary-argument")
	assert.That(t, n == 1, "the call went back %d times: %s", n, body)
	for _, want := range []string{"canary-argument", "canary-result-0", "canary-result-1", "canary-result-2"} {
		_, after, found := strings.Cut(body, want)
		assert.That(t, found, "%s is missing or out of order: %s", want, body)
		body = after
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
	m, s := startSetup(t, build, Setup{}, Stream("a"), Stream("b"))
	well := bodyOfRequest(t, m, s, afterACall("{}", model.Message{Text: "canary-result"}))
	badly := bodyOfRequest(t, m, s, afterACall("{}", model.Message{Text: "canary-result", IsError: true}))
	assert.That(t, s.script != nil || (well != badly && strings.Contains(badly, "canary-result")),
		"a failed result is sent as any other: %s", badly)
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
		m, s := startSetup(t, build, Setup{}, Stream("ok"))
		body := bodyOfRequest(t, m, s, req)
		assert.That(t, s.script != nil || (json.Valid([]byte(body)) && utf8.ValidString(body) &&
			strings.Contains(body, "canary-argument")), "%s: sent %q", name, body)
	}
}

func wrongRequestIsNotSent(t *testing.T, build Factory) {
	for name, req := range map[string]model.Request{
		"role":   {Messages: []model.Message{{Role: model.User, Text: "x"}, {Role: "system", Text: "x"}}},
		"schema": {Messages: question().Messages, Tools: []model.Tool{{Name: "list", Schema: json.RawMessage(`{`)}}},
		"form":   {Messages: question().Messages, Schema: &model.Schema{Name: "x", JSON: json.RawMessage(`{`)}},
	} {
		m, s := startSetup(t, build, Setup{})
		if s.script != nil {
			return
		}
		resp, err := m.Chat(t.Context(), req, nil)
		_ = wantFailure(t, err, m, model.Invalid, "")
		sent := s.server.Requests()
		assert.That(t, resp.Attempts == 0 && len(sent) == 0, "%s: %d attempts, sent %v; want none", name, resp.Attempts, sent)
	}
}

// canarySchema is the form of an answer, of a kind that every provider can enforce.
func canarySchema() model.Schema {
	return model.Schema{Name: "canary_form", JSON: json.RawMessage(
		`{"type":"object","properties":{"canary":{"type":"integer"}},"required":["canary"],"additionalProperties":false}`)}
}

func schemaIsEnforced(t *testing.T, build Factory) {
	m, s := startSetup(t, build, Setup{}, Stream(`{"canary":1}`), Stream("ok"))
	req, form := question(), canarySchema()
	for _, schema := range []*model.Schema{&form, nil} {
		req.Tools, req.Schema = nil, schema
		if bodyOfRequest(t, m, s, req); s.script != nil {
			continue
		}
		sent := s.server.Last()
		way, _ := routeOf(sent.Path)
		enforced, _ := sent.At(way.schema...).(map[string]any)
		assert.That(t, (enforced["required"] != nil) == (schema != nil), "the provider enforces %v", enforced)
	}
}

func structuredAnswer(t *testing.T, build Factory) {
	m, _ := startSetup(t, build, Setup{}, Stream("Here:\n```json\n", `{"canary":"x"}`, "\n```"),
		Stream(`{"can`, `ary":1}`))
	req := question()
	req.Tools = nil
	got, resp, err := model.Structured(t.Context(), m, req, canarySchema(), new(any))
	assert.That(t, err == nil && string(got) == `{"canary":1}` && resp.Attempts == 2,
		"got %s in %d attempts, %v", got, resp.Attempts, err)
}
