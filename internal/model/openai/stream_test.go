package openai_test

import (
	"strings"
	"testing"

	"sibyl/internal/model/modeltest"
)

// raw is an answer of these events, one line each.
func raw(events ...string) modeltest.Answer {
	return modeltest.Answer{Raw: &modeltest.Raw{Body: strings.Join(events, "\n\n") + "\n\n"}}
}

func delta(text string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"}}]}`
}

func calls(parts string) string {
	return `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + parts + `]}}]}`
}

const (
	stop = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	done = `data: [DONE]`
)

func TestCallsWithoutAnIDOfTheirOwnGetOne(t *testing.T) {
	for name, answer := range map[string]modeltest.Answer{
		"no ids":    raw(calls(`{"function":{"name":"a","arguments":"{}"}}`), calls(`{"function":{"name":"b"}}`), stop, done),
		"one index": raw(calls(`{"index":0,"function":{"name":"a","arguments":"{}"}}`), calls(`{"index":0,"function":{"name":"b"}}`), done),
		"same id":   raw(calls(`{"index":0,"id":"x","function":{"name":"a"}}`), calls(`{"index":1,"id":"x","function":{"name":"b"}}`), done),
	} {
		got, err := connect(t, modeltest.NewServer(t, answer)).Chat(t.Context(), hello(), nil)
		if err != nil || len(got.ToolCalls) != 2 || got.ToolCalls[0].Name != "a" || got.ToolCalls[1].Name != "b" {
			t.Fatalf("%s: got %v, %v; want calls of a and b", name, got.ToolCalls, err)
		}
		first, second := got.ToolCalls[0].ID, got.ToolCalls[1].ID
		if first == "" || second == "" || first == second {
			t.Errorf("%s: ids %q and %q; want two different ones", name, first, second)
		}
	}
}
