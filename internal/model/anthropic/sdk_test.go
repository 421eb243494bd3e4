package anthropic_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// TestRequestIsWhatTheOfficialTypesSay reads a request into the official client's types and writes it again: what they do not know
// would be lost.
func TestRequestIsWhatTheOfficialTypesSay(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Stream("ok"))
	req := model.Request{
		System: "be brief", MaxOutputTokens: 9,
		Messages: []model.Message{
			{Role: model.User, Text: "hello"},
			{Role: model.Assistant, Text: "I look.", ToolCalls: []model.ToolCall{{ID: "c1", Name: "f", Arguments: `{"q":"x"}`}}},
			{Role: model.ToolRole, ToolCallID: "c1", ToolName: "f", Text: "found", IsError: true},
		},
		Tools: []model.Tool{{Name: "f", Description: "does f", Schema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`)}},
		Schema: &model.Schema{Name: "x", JSON: json.RawMessage(
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)},
	}
	if _, err := connect(t, server).Chat(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	body := server.Requests()[0].Body
	var params sdk.MessageNewParams
	if err := json.Unmarshal([]byte(body), &params); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	fields := func(text []byte) (all map[string]any) {
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		delete(all, "stream") // which the official client adds by itself
		return all
	}
	if diff := cmp.Diff(fields(again), fields([]byte(body))); diff != "" {
		t.Errorf("request (-official +own):\n%s", diff)
	}
}
