//go:build ollama

package ollama_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/ollama"
)

// real connects to the Ollama server at OLLAMA_HOST, or its usual address, and to the model OLLAMA_MODEL, or the first
// that chats with tools.
func real(t *testing.T, adjust ...func(*ollama.Config)) *ollama.Model {
	t.Helper()
	c := ollama.Config{Provider: ollama.Ollama, BaseURL: os.Getenv("OLLAMA_HOST"), Local: true}
	if c.BaseURL != "" && !strings.Contains(c.BaseURL, "://") {
		c.BaseURL = "http://" + c.BaseURL
	}
	list := ollama.New(c)
	t.Cleanup(list.Close)
	names, err := list.List(t.Context())
	if err != nil {
		t.Skipf("no Ollama server answers: %v", err)
	}
	for _, f := range adjust {
		f(&c)
	}
	if only := os.Getenv("OLLAMA_MODEL"); only != "" {
		names = []string{only}
	}
	for _, name := range names {
		c.Model = name
		m := ollama.New(c)
		t.Cleanup(m.Close)
		if info, err := m.Describe(t.Context()); err == nil && !info.NoChat && !info.NoTools {
			t.Logf("%s: %+v", m.ID(), info)
			return m
		}
	}
	t.Skipf("of %v, none chats with tools", names)
	return nil
}

func TestRealModelAnswers(t *testing.T) {
	resp, err := real(t).Chat(t.Context(),
		model.Request{Messages: []model.Message{{Role: model.User, Text: "Say hello, in one word."}}}, nil)
	if err != nil || resp.Text == "" || resp.Usage.InputTokens == 0 {
		t.Errorf("%+v, %v", resp, err)
	}
}

func TestRealModelTakesMoreThanTheServersOwnWindow(t *testing.T) {
	m := real(t)
	info, err := m.Describe(t.Context())
	if err != nil || info.Window < 8192 {
		t.Skipf("the model has a window of %d tokens, %v", info.Window, err)
	}
	long := strings.Repeat("one two three four five six seven eight nine ten ", 500) // 5,000 words
	resp, err := m.Chat(t.Context(),
		model.Request{Messages: []model.Message{{Role: model.User, Text: long + "Say hello."}}, MaxOutputTokens: 64},
		nil)
	if kind := model.KindOf(err); err != nil && kind != model.OutputLength || resp.Usage.InputTokens < 5000 {
		t.Errorf("%d tokens were read, %v", resp.Usage.InputTokens, err)
	}
}

func TestRealModelThatGetsTooMuchSaysWhatToSet(t *testing.T) {
	m := real(t, func(c *ollama.Config) { c.NumCtx = 512 })
	_, err := m.Chat(t.Context(),
		model.Request{Messages: []model.Message{{Role: model.User, Text: strings.Repeat("one two ", 2000)}}}, nil)
	if model.KindOf(err) != model.ContextLength || !strings.Contains(err.Error(), "ollama.context") {
		t.Errorf("got %v", err)
	}
}

func TestRealModelCallsATool(t *testing.T) {
	resp, err := real(t).Chat(t.Context(), model.Request{
		Messages: []model.Message{{Role: model.User, Text: "Use the tool to look up the weather in Bremen."}},
		Tools: []model.Tool{{Name: "weather", Description: "tells the weather of a town", Schema: json.RawMessage(
			`{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}`)}},
	}, nil)
	if err != nil || len(resp.ToolCalls) != 1 || resp.ToolCalls[0].Name != "weather" {
		t.Errorf("%+v, %v", resp, err)
	}
}
