package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/model"
	"sibyl/internal/model/openai"
)

// recorder answers as an endpoint at any address would, and keeps what it was sent.
type recorder struct {
	answers []string // an error of status 400, or events
	sent    []map[string]any
	header  http.Header
	url     string
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	var body map[string]any
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		return nil, err
	}
	r.sent, r.header, r.url = append(r.sent, body), req.Header, req.URL.String()
	answer := delta("ok") + "\n\n" + stop + "\n\n" + done + "\n\n"
	if len(r.answers) > 0 {
		answer, r.answers = r.answers[0], r.answers[1:]
	}
	status, kind := 200, "text/event-stream"
	if strings.HasPrefix(answer, "{") || strings.HasPrefix(answer, "[") {
		status, kind = 400, "application/json"
	}
	return response(status, kind, answer), nil
}

// at is a model at an address, whose endpoint gives these answers and then agrees with everything.
func at(address string, adjust func(*openai.Config), answers ...string) (*openai.Model, *recorder) {
	r := &recorder{answers: answers}
	c := openai.Config{Provider: "house", Model: "m", BaseURL: address, HTTPClient: &http.Client{Transport: r}, API: openai.Chat}
	if adjust != nil {
		adjust(&c)
	}
	return openai.New(c), r
}

// messages are those of a request that was sent, without the system prompt.
func messages(body map[string]any) []any {
	all, _ := body["messages"].([]any)
	return all
}

// hinted is a conversation in which the person, or a hint, speaks right after a tool.
func hinted() model.Request {
	return model.Request{
		Tools: []model.Tool{{Name: "f"}},
		Messages: []model.Message{
			{Role: model.User, Text: "q"},
			{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "call_1", Name: "f", Arguments: "{}"}}},
			{Role: model.ToolRole, ToolCallID: "call_1", ToolName: "f", Text: "found"},
			{Role: model.User, Text: "go on"},
		},
	}
}

func ask(t *testing.T, m model.Model, req model.Request) model.Response {
	t.Helper()
	resp, err := m.Chat(t.Context(), req, nil)
	if err != nil || resp.Text != "ok" {
		t.Fatalf("got %+v, %v", resp, err)
	}
	return resp
}

func user(text string) any { return map[string]any{"role": "user", "content": text} }

func TestMistralGetsATurnOfTheAssistantBetweenAToolAndAHintAndItsOwnIDs(t *testing.T) {
	want := []any{
		user("q"),
		map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"id": "", "type": "function", "function": map[string]any{"name": "f", "arguments": "{}"}}}},
		map[string]any{"role": "tool", "content": "found", "tool_call_id": ""},
		map[string]any{"role": "assistant", "content": "I have the results."},
		user("go on"),
	}
	check := func(got []any) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("sent %v; want %v", got, want)
		}
		call := got[1].(map[string]any)["tool_calls"].([]any)[0].(map[string]any)
		id, _ := call["id"].(string)
		result := got[2].(map[string]any)
		if len(id) != 9 || id != result["tool_call_id"] || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
			t.Errorf("the ids are %q and %q; want one of nine letters and digits", id, result["tool_call_id"])
		}
		call["id"], result["tool_call_id"] = "", ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	}
	m, r := at("https://api.mistral.ai/v1", nil)
	ask(t, m, hinted())
	check(messages(r.sent[0]))

	// The same model behind a gateway shows it, one rule after the other.
	m, r = at("https://gateway.example/v1", nil,
		`{"object":"error","message":"Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","param":null,"code":"3280"}`,
		`{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","param":null,"code":"3230"}`)
	if resp := ask(t, m, hinted()); resp.Attempts != 3 {
		t.Errorf("asked %d times; want 3", resp.Attempts)
	}
	check(messages(r.sent[2]))
	if resp := ask(t, m, hinted()); resp.Attempts != 1 {
		t.Errorf("it is not remembered: %d requests", resp.Attempts)
	}
	check(messages(r.sent[3]))
}

func TestIDsThatMistralGaveStayAsTheyAre(t *testing.T) {
	req := hinted()
	req.Messages[1].ToolCalls[0].ID, req.Messages[2].ToolCallID = "D681PevKs", "D681PevKs"
	m, r := at("https://api.mistral.ai/v1", nil)
	ask(t, m, req)
	if got := messages(r.sent[0])[2].(map[string]any)["tool_call_id"]; got != "D681PevKs" {
		t.Errorf("the id became %v", got)
	}
}

func TestOthersGetAHintRightAfterATool(t *testing.T) {
	m, r := at("https://house.example/v1", nil)
	ask(t, m, hinted())
	if got := messages(r.sent[0]); len(got) != 4 || got[2].(map[string]any)["tool_call_id"] != "call_1" {
		t.Errorf("sent %v", got)
	}
}

func TestMistralsListOfPartsIsItsText(t *testing.T) {
	m, _ := at("https://api.mistral.ai/v1", nil, strings.Join([]string{
		`data: {"choices":[{"index":0,"delta":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}`,
		`data: {"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"o"},{"type":"reference","reference_ids":[1]},{"type":"text","text":"k"}]}}]}`,
		stop, done}, "\n\n"))
	ask(t, m, hello())
}

func TestClassicAzureGetsItsKeyVersionAndDeployment(t *testing.T) {
	m, r := at("https://person.openai.azure.com/openai/deployments/mine", func(c *openai.Config) {
		c.Key, c.Query = canary, map[string]string{"api-version": "2024-10-21"}
	})
	req := hello()
	req.MaxOutputTokens = 5
	ask(t, m, req)
	if r.url != "https://person.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21" ||
		r.header.Get("Api-Key") != canaryKey || r.header.Get("Authorization") != "" || r.sent[0]["max_completion_tokens"] != 5.0 {
		t.Errorf("sent %v to %s with %v", r.sent[0], r.url, r.header)
	}
}

func TestNoCallsShowsTheToolsAndForbidsThem(t *testing.T) {
	req := hinted()
	req.NoCalls = true
	m, r := at("https://house.example/v1", nil)
	ask(t, m, req)
	if r.sent[0]["tool_choice"] != "none" || r.sent[0]["tools"] == nil {
		t.Errorf("sent %v", r.sent[0])
	}
	// DeepSeek's thinking models.
	m, r = at("https://house.example/v1", nil, `{"error":{"message":"deepseek-reasoner does not support this tool_choice","type":"invalid_request_error"}}`)
	ask(t, m, req)
	if r.sent[1]["tool_choice"] != nil || r.sent[1]["tools"] != nil {
		t.Errorf("asked again with %v", r.sent[1])
	}
	req.NoCalls = false
	ask(t, m, req)
	if r.sent[2]["tools"] == nil {
		t.Errorf("the tools stay away: %v", r.sent[2])
	}
	req.Tools, req.NoCalls = nil, true
	if ask(t, m, req); r.sent[3]["tool_choice"] != nil {
		t.Errorf("without tools: sent %v", r.sent[3])
	}
}

func TestSchemaThatAnEndpointRejectsIsLeftOut(t *testing.T) {
	req := hello()
	req.Schema = &model.Schema{Name: "x", JSON: json.RawMessage(`{"type":"object"}`)}
	m, r := at("https://house.example/v1", nil, `{"error":{"message":"This response_format type is unavailable now","type":"invalid_request_error"}}`)
	if ask(t, m, req); r.sent[0]["response_format"] == nil || r.sent[1]["response_format"] != nil {
		t.Errorf("sent %v", r.sent)
	}
}

func TestOutputLimitIsRenamedAsTheEndpointSays(t *testing.T) {
	req := hello()
	req.MaxOutputTokens = 5
	for _, c := range []struct{ provider, said, want string }{
		{"house", `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}`, "max_completion_tokens"},
		{openai.OpenAI, `{"error":"Extra inputs are not permitted: max_completion_tokens"}`, "max_tokens"},
	} {
		m, r := at("https://house.example/v1", func(c2 *openai.Config) { c2.Provider = c.provider }, c.said)
		ask(t, m, req)
		if r.sent[1][c.want] != 5.0 {
			t.Errorf("%s: asked again with %v", c.said, r.sent[1])
		}
	}
}

func TestEffortIsSaidAsTheModelTakesIt(t *testing.T) {
	const noNone = `{"error":{"message":"Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'minimal', 'low'.","param":"reasoning_effort"}}`
	const noMinimal = `{"error":{"message":"Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'low'.","param":"reasoning_effort"}}`
	for _, c := range []struct {
		name, think string
		said        []string
		want        []any // what is sent, request by request
	}{
		{"m", "", nil, []any{nil}},
		{"m", "low", nil, []any{"low"}},
		{"m", "on", nil, []any{"medium"}},
		{"m", "off", nil, []any{"none"}},
		{"m", "off", []string{noNone, noMinimal}, []any{"none", "minimal", "low"}},
		{"openai/gpt-5", "off", nil, []any{"minimal"}},
		{"gpt-5-mini", "off", nil, []any{"minimal"}},
		{"gpt-5.1", "off", nil, []any{"none"}},
		{"o3", "off", nil, []any{"low"}},
		{"m", "high", []string{`{"error":"Unrecognized request argument supplied: reasoning_effort"}`}, []any{"high", nil}},
		{"grok", "high", []string{`{"error":"Model grok does not support parameter reasoningEffort."}`}, []any{"high", nil}},
		{"qwen2.5", "off", []string{`{"error":{"message":"\"qwen2.5\" does not support thinking"}}`}, []any{"none", nil}},
		{"gpt-5-chat", "off", []string{`{"error":"Unrecognized request argument supplied: reasoning_effort"}`}, []any{"minimal", nil}},
	} {
		m, r := at("https://house.example/v1", func(c2 *openai.Config) { c2.Model, c2.Think = c.name, c.think }, c.said...)
		ask(t, m, hello())
		var got []any
		for _, body := range r.sent {
			got = append(got, body["reasoning_effort"])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s, %q (-want +got):\n%s", c.name, c.think, diff)
		}
	}
}

func TestEffortOfAResponseIsSaidAsTheModelTakesIt(t *testing.T) {
	fine := events(textPart("0", "ok"), ended)
	m, r := at("https://house.example/v1", func(c *openai.Config) { c.API, c.Think = openai.Responses, "off" },
		`{"error":{"message":"Unsupported value: 'none' is not supported with the 'm' model. Supported values are: 'minimal', 'low'.","param":"reasoning.effort"}}`,
		`{"error":{"message":"Unsupported value: 'minimal' is not supported with the 'm' model. Supported values are: 'low'.","param":"reasoning.effort"}}`, fine, fine)
	for range 2 {
		ask(t, m, hello())
	}
	var got []any
	for _, body := range r.sent {
		reasoning, _ := body["reasoning"].(map[string]any)
		got = append(got, reasoning["effort"])
	}
	if diff := cmp.Diff([]any{"none", "minimal", "low", "low"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m, r = at("https://house.example/v1", func(c *openai.Config) { c.API, c.Think = openai.Responses, "high" },
		`{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this model.","param":"reasoning.effort"}}`, fine)
	ask(t, m, hello())
	if diff := cmp.Diff(map[string]any{"summary": "auto"}, r.sent[1]["reasoning"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
