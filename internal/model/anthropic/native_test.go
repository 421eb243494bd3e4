package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/model"
	"sibyl/internal/model/anthropic"
	"sibyl/internal/model/modeltest"
)

// thought is what the thinking of the answer below holds, with all that an encoder could be tempted to change.
const (
	thought   = "First <b>look</b> & see:\n\t\"ü\" 🚀 \u2028 \\ done."
	signature = "EqQBCkYIBxgC+/KkAzI=/w=="
	redacted  = "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpPkNRj2YfWXGmKDxH4mPnZ5sQ7vB9URj2pLmN3kF8/"
)

// thinkingAnswer thinks, speaks and calls two tools.
func thinkingAnswer() modeltest.Answer {
	return raw(start,
		begin(0, thinkingBlock),
		delta(0, `"type":"thinking_delta","thinking":`+quoted(thought[:20])), ping,
		delta(0, `"type":"thinking_delta","thinking":`+quoted(thought[20:])),
		delta(0, `"type":"signature_delta","signature":`+quoted(signature)), end(0),
		begin(1, `"type":"redacted_thinking","data":`+quoted(redacted)), end(1),
		begin(2, textBlock), textDelta(2, "\n\n"), end(2),
		begin(3, textBlock), textDelta(3, "Let me look."), end(3),
		begin(4, toolBlock("toolu_1", "search")), argumentsDelta(4, `{"q": "<`), argumentsDelta(4, `x>"}`), end(4),
		begin(5, toolBlock("toolu_2", "list")), end(5),
		finish("tool_use"), stop)
}

// secondTurn is the request that follows the answer resp.
func secondTurn(resp model.Response) model.Request {
	req := hello()
	req.Tools = []model.Tool{{Name: "search"}, {Name: "list"}}
	turn := model.Message{Role: model.Assistant, Text: resp.Text, ToolCalls: resp.ToolCalls, Native: resp.Native}
	req.Messages = append(req.Messages, turn)
	for _, call := range resp.ToolCalls {
		req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, ToolCallID: call.ID, ToolName: call.Name, Text: "found"})
	}
	return req
}

// assistantTurn is the content of the assistant's message in the last request that server got.
func assistantTurn(t *testing.T, server *modeltest.Server) []any {
	t.Helper()
	return server.Last().At("messages", "1", "content").([]any)
}

func TestThinkingGoesBackWithItsSignatureInTheToolLoop(t *testing.T) {
	server := modeltest.NewServer(t, thinkingAnswer(), modeltest.Stream("All found."))
	m := connect(t, server)
	var emitted string
	first, err := m.Chat(t.Context(), hello(), func(d model.Delta) error { emitted += d.Text; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if first.Text != "\n\nLet me look." || emitted != first.Text {
		t.Errorf("text %q, emitted %q: thinking is no text", first.Text, emitted)
	}
	// As after a restart: the turn was written to the journal and read again.
	first = reread(t, first)
	second, err := m.Chat(t.Context(), secondTurn(first), nil)
	if err != nil || second.Text != "All found." || second.Native != nil {
		t.Fatalf("second turn: %+v, %v", second, err)
	}
	want := []any{
		map[string]any{"type": "thinking", "thinking": thought, "signature": signature},
		map[string]any{"type": "redacted_thinking", "data": redacted},
		map[string]any{"type": "text", "text": "Let me look."},
		map[string]any{"type": "tool_use", "id": "toolu_1", "name": "search", "input": map[string]any{"q": "<x>"}},
		map[string]any{"type": "tool_use", "id": "toolu_2", "name": "list", "input": map[string]any{}},
	}
	if diff := cmp.Diff(want, assistantTurn(t, server)); diff != "" {
		t.Errorf("the assistant's turn went back as (-want +got):\n%s", diff)
	}
}

func reread(t *testing.T, resp model.Response) model.Response {
	t.Helper()
	text, err := json.Marshal(resp)
	if err != nil {
		t.Fatal(err)
	}
	var out model.Response
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNativeTurnIsSentOnlyWhereItHolds(t *testing.T) {
	answer := thinkingAnswer()
	answer.Repeat = true
	server := modeltest.NewServer(t, answer)
	m := connect(t, server)
	resp, err := m.Chat(t.Context(), hello(), nil)
	if err != nil || resp.Native == nil {
		t.Fatalf("%+v, %v", resp, err)
	}
	for name, c := range map[string]struct {
		adjust func(*model.Request)
		model  *anthropic.Model
		want   bool
	}{
		"the model itself": {func(*model.Request) {}, m, true},
		"another model of the provider": {func(*model.Request) {},
			connect(t, server, func(c *anthropic.Config) { c.Model = "claude-test-2" }), false},
		"another provider": {func(*model.Request) {},
			connect(t, server, func(c *anthropic.Config) { c.Provider = "other" }), false},
		"fewer calls than it holds": {func(r *model.Request) {
			r.Messages[1].ToolCalls = r.Messages[1].ToolCalls[:1]
			r.Messages = r.Messages[:3]
		}, m, false},
		"more calls than it holds": {func(r *model.Request) {
			r.Messages[1].ToolCalls = append(r.Messages[1].ToolCalls[:2:2], model.ToolCall{ID: "toolu_3", Name: "list"})
			r.Messages = append(r.Messages, model.Message{Role: model.ToolRole, ToolCallID: "toolu_3"})
		}, m, false},
		"other calls than it holds": {func(r *model.Request) {
			calls := append([]model.ToolCall(nil), r.Messages[1].ToolCalls...)
			calls[0].ID, r.Messages[2].ToolCallID = "toolu_9", "toolu_9"
			r.Messages[1].ToolCalls = calls
		}, m, false},
		"no JSON": {func(r *model.Request) {
			r.Messages[1].Native = &model.Native{Provider: "house", Turn: json.RawMessage(`{`)}
		}, m, false},
		"a form of others":    {func(r *model.Request) { r.Messages[1].Native = native(`{"role":"model","parts":[]}`) }, m, false},
		"blocks of no type":   {func(r *model.Request) { r.Messages[1].Native = native(`{"model":"claude-test-1","content":[{}]}`) }, m, false},
		"blocks of no object": {func(r *model.Request) { r.Messages[1].Native = native(`{"model":"claude-test-1","content":[7]}`) }, m, false},
		"no blocks":           {func(r *model.Request) { r.Messages[1].Native = native(`{"model":"claude-test-1"}`) }, m, false},
	} {
		t.Run(name, func(t *testing.T) {
			req := secondTurn(resp)
			c.adjust(&req)
			if _, err := c.model.Chat(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			body := server.Last().Body
			if got := strings.Contains(body, signature); got != c.want {
				t.Errorf("the signature was sent: %v; want %v", got, c.want)
			}
			if !strings.Contains(body, "Let me look.") || !strings.Contains(body, `"toolu_`) {
				t.Errorf("the turn's text or its calls are missing: %s", body)
			}
		})
	}
}

func native(turn string) *model.Native {
	return &model.Native{Provider: "house", Turn: json.RawMessage(turn)}
}

func TestNativeTurnKeepsWhatCanBeSentBack(t *testing.T) {
	think := begin(0, thinkingBlock) + delta(0, `"type":"thinking_delta","thinking":"hm"`)
	sign := delta(0, `"type":"signature_delta","signature":"c2lnbmVk"`)
	thinking := map[string]any{"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		want   []any // what goes back in the next request
	}{
		{
			"thinking alone is followed by a text",
			raw(start, think, sign, finish("end_turn"), stop),
			[]any{thinking, map[string]any{"type": "text", "text": "(empty)"}},
		}, {
			"thinking whose text is withheld",
			raw(start, begin(0, thinkingBlock), sign, begin(1, textBlock), textDelta(1, "hi"), finish("end_turn"), stop),
			[]any{map[string]any{"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}, map[string]any{"type": "text", "text": "hi"}},
		}, {
			"thinking without a signature is left out",
			raw(start, think, begin(1, textBlock), textDelta(1, "hi"), finish("end_turn"), stop),
			[]any{map[string]any{"type": "text", "text": "hi"}},
		}, {
			"blocks of unknown types are left out",
			raw(start, think, sign, begin(1, `"type":"weather_report","text":"rain"`), begin(2, textBlock), textDelta(2, "hi"), finish("end_turn"), stop),
			[]any{thinking, map[string]any{"type": "text", "text": "hi"}},
		}, {
			"arguments that are no object",
			raw(start, think, sign, begin(1, toolBlock("a", "f")), argumentsDelta(1, "{oops"), finish("max_tokens"), stop),
			[]any{thinking, map[string]any{"type": "tool_use", "id": "a", "name": "f", "input": map[string]any{"not_an_object": "{oops"}}},
		}, {
			"an id outside the wire's alphabet",
			raw(start, think, sign, begin(1, toolBlock("functions.f:0", "f")), finish("tool_use"), stop),
			[]any{thinking, map[string]any{"type": "tool_use", "id": "id_ZnVuY3Rpb25zLmY6MA", "name": "f", "input": map[string]any{}}},
		}, {
			"an id that the provider did not give",
			raw(start, think, sign, begin(1, `"type":"tool_use","name":"f"`), finish("tool_use"), stop),
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := modeltest.NewServer(t, c.answer, modeltest.Stream("ok"))
			m := connect(t, server)
			resp, err := m.Chat(t.Context(), hello(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Chat(t.Context(), secondTurn(resp), nil); err != nil {
				t.Fatal(err)
			}
			got := assistantTurn(t, server)
			if c.want == nil { // what was made up cannot be foretold, but it must be the same everywhere
				c.want = []any{thinking, map[string]any{"type": "tool_use", "id": resp.ToolCalls[0].ID, "name": "f", "input": map[string]any{}}}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the assistant's turn went back as (-want +got):\n%s", diff)
			}
		})
	}
}
