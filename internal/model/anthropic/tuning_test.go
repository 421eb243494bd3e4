package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/model"
	"sibyl/internal/model/anthropic"
	"sibyl/internal/model/modeltest"
)

// withCalls is a conversation in which two tools were called.
func withCalls() model.Request {
	return secondTurn(model.Response{Text: "I look.", ToolCalls: []model.ToolCall{{ID: "a", Name: "search", Arguments: "{}"}, {ID: "b", Name: "list", Arguments: "{}"}}})
}

func TestWhatRequestsHaveInCommonIsMarkedForTheCache(t *testing.T) {
	for _, c := range []struct {
		name string
		req  model.Request
		want []string // what ends in a mark
	}{
		{"system prompt and question", model.Request{System: "be brief", Messages: hello().Messages, Tools: []model.Tool{{Name: "f"}}},
			[]string{`"text":"hello"`, `"text":"be brief"`}},
		{"tools without a system prompt", model.Request{Messages: hello().Messages, Tools: []model.Tool{{Name: "f"}, {Name: "g"}}},
			[]string{`"text":"hello"`, `"name":"g","input_schema":{"type":"object","properties":{}}`}},
		{"results", withCalls(), []string{`"is_error":false`, `"name":"list","input_schema":{"type":"object","properties":{}}`}},
		{"neither tools nor system prompt", hello(), []string{`"text":"hello"`}},
	} {
		server := modeltest.NewServer(t, modeltest.Stream("ok"))
		if _, err := connect(t, server).Chat(t.Context(), c.req, nil); err != nil {
			t.Fatal(err)
		}
		pieces := strings.Split(server.Requests()[0].Body, mark)
		if len(pieces) != len(c.want)+1 {
			t.Errorf("%s: %d marks: %s", c.name, len(pieces)-1, server.Requests()[0].Body)
			continue
		}
		for i, want := range c.want {
			if !strings.HasSuffix(pieces[i], want) {
				t.Errorf("%s: mark %d stands behind %s; want %s", c.name, i, pieces[i], want)
			}
		}
	}
}

func TestEndpointWithoutCacheIsAskedWithoutMarks(t *testing.T) {
	server := modeltest.NewServer(t,
		modeltest.Answer{Raw: &modeltest.Raw{Status: 400, Body: complaint("invalid_request_error", "messages.0.content.0.text.cache_control: Extra inputs are not permitted")}},
		modeltest.Answer{Chunks: []string{"ok"}, Repeat: true})
	m := connect(t, server)
	for range 2 {
		if _, err := m.Chat(t.Context(), hello(), nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range server.Requests() {
		if strings.Contains(r.Body, "cache_control") != (i == 0) {
			t.Errorf("request %d: %s", i, r.Body)
		}
	}
}

func TestWithdrawnToolsAreShownAndForbidden(t *testing.T) {
	req := withCalls()
	req.NoCalls = true
	body := sent(t, req)
	if tools, _ := body["tools"].([]any); len(tools) != 2 || cmp.Diff(map[string]any{"type": "none"}, body["tool_choice"]) != "" {
		t.Errorf("tools %v, choice %v", body["tools"], body["tool_choice"])
	}
}

func TestLimitOfOutputIsTheRequestsElseTheSettingsElseTheModels(t *testing.T) {
	for _, c := range []struct {
		model          string
		described, set int
		own            int
		want           float64
	}{
		{"claude-test-1", 0, 0, 0, 8192},
		{"claude-3-haiku-20240307", 0, 0, 0, 4096},
		{"claude-opus-4-1", 0, 0, 0, 32_000},
		{"claude-sonnet-5-5", 0, 0, 0, 64_000}, // of 128,000
		{"claude-test-1", 16_000, 0, 0, 16_000},
		{"claude-3-haiku-20240307", 0, 2000, 0, 2000},
		{"claude-sonnet-5-5", 0, 100_000, 0, 100_000},
		{"claude-sonnet-5-5", 0, 100_000, 50, 50},
	} {
		server := modeltest.NewServer(t, modeltest.Stream("ok"))
		m := connect(t, server, func(o *anthropic.Config) { o.Model, o.MaxOutput = c.model, c.set })
		if c.described > 0 {
			server.Told = map[string]string{c.model: fmt.Sprintf(`{"type":"model","id":%q,"max_input_tokens":190000,"max_tokens":%d}`, c.model, c.described)}
			info, err := m.Describe(t.Context())
			if want := (model.Info{Window: 190_000, Output: c.described}); err != nil || info != want {
				t.Errorf("described as %+v, %v; want %+v", info, err, want)
			}
		}
		req := hello()
		req.MaxOutputTokens = c.own
		if _, err := m.Chat(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		if got := server.Last().At("max_tokens"); got != c.want {
			t.Errorf("%+v: max_tokens %v", c, got)
		}
	}
}

func TestEndpointThatDescribesNoModelSaysSo(t *testing.T) {
	info, err := connect(t, modeltest.NewServer(t)).Describe(t.Context())
	if model.KindOf(err) != model.Invalid || info != (model.Info{}) {
		t.Errorf("%+v, %v", info, err)
	}
}

// rejects is what the API answered to models that do not know a way of thinking.
func rejects(message string) modeltest.Answer {
	body, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": "invalid_request_error", "message": message}}) // texts always encode
	return modeltest.Answer{Raw: &modeltest.Raw{Status: http.StatusBadRequest, Body: string(body)}}
}

func TestThinkingIsAskedForAsTheModelTakesIt(t *testing.T) {
	const adaptive = "adaptive thinking is not supported on this model"
	own := withCalls()
	own.Messages[1].Native = &model.Native{Provider: "house", Turn: json.RawMessage(`{"model":"claude-test-1","content":[` +
		`{"type":"thinking","thinking":"hm","signature":"x"},{"type":"tool_use","id":"a","name":"search","input":{}},{"type":"tool_use","id":"b","name":"list","input":{}}]}`)}
	for _, c := range []struct {
		name, think string
		req         model.Request
		rejected    []string
		want        string // thinking and effort
	}{
		{"nothing set", "", hello(), nil, `null `},
		{"on", "on", hello(), nil, `{"type":"adaptive"} `},
		{"an effort", "high", hello(), nil, `{"type":"adaptive"} high`},
		{"off", "off", hello(), nil, `{"type":"disabled"} `},
		{"off, where it can't be", "off", hello(), []string{`"thinking.type.disabled" is not supported for this model`}, `{"type":"between_tools"} `},
		{"an older model", "on", hello(), []string{"thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'"},
			`{"budget_tokens":4096,"type":"enabled"} `},
		{"an older model, with an effort", "low", hello(), []string{adaptive}, `{"budget_tokens":2048,"type":"enabled"} `},
		{"an older model that speaks of effort first", "high", hello(), []string{"This model does not support the effort parameter."}, `{"budget_tokens":4096,"type":"enabled"} `},
		{"an older model after calls of its own", "on", own, []string{adaptive}, `{"budget_tokens":4096,"type":"enabled"} `},
		{"an older model after calls of another", "on", withCalls(), []string{adaptive}, `null `},
		{"an older model with little to say", "on", model.Request{Messages: hello().Messages, MaxOutputTokens: 2000}, []string{adaptive}, `null `},
	} {
		var answers []modeltest.Answer
		for _, message := range c.rejected {
			answers = append(answers, rejects(message))
		}
		server := modeltest.NewServer(t, append(answers, modeltest.Stream("ok"), modeltest.Stream("ok"))...)
		m := connect(t, server, func(o *anthropic.Config) { o.Think = c.think })
		for range 2 {
			if _, err := m.Chat(t.Context(), c.req, nil); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			last := server.Last()
			thinking, _ := json.Marshal(last.At("thinking")) // JSON always encodes
			effort, _ := last.At("output_config", "effort").(string)
			if got := string(thinking) + " " + effort; got != c.want {
				t.Errorf("%s: %s; want %s", c.name, got, c.want)
			}
		}
		if n := len(server.Requests()); n != len(c.rejected)+2 {
			t.Errorf("%s: %d requests for two answers", c.name, n)
		}
	}
}

func TestThinkingThatUsesUpTheOutputIsNoAnswer(t *testing.T) {
	answer := raw(start, begin(0, thinkingBlock), delta(0, `"type":"thinking_delta","thinking":"hm"`), finish("max_tokens"), stop)
	resp, err := connect(t, modeltest.NewServer(t, answer)).Chat(t.Context(), hello(), nil)
	if model.KindOf(err) != model.OutputLength || resp.Attempts != 1 || resp.Usage.OutputTokens == 0 {
		t.Errorf("%+v, %v", resp, err)
	}
}
