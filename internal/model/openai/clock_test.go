package openai_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/openai"
)

// patience bounds what should have ended before, so that a test says what is wrong.
const patience = 10 * time.Second

func TestStreamLeftOpenAfterTheFinishReasonIsNoFailure(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(delta("all") + "\n\n" + stop + "\n\n"))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(patience):
			t.Error("the request did not end")
		}
	}))
	t.Cleanup(server.Close) // which waits for the request to end
	m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: server.URL, Idle: 30 * time.Millisecond})
	t.Cleanup(m.Close)
	resp, err := m.Chat(t.Context(), hello(), nil)
	if err != nil || resp.Text != "all" || resp.Finish != model.FinishStop {
		t.Errorf("got %+v, %v", resp, err)
	}
}

func TestWaitsAreForProgress(t *testing.T) {
	modeltest.Clocks(t, over, modeltest.Wire{
		Begin: `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n",
		Alive: []string{": OPENROUTER PROCESSING\n\n", "\n", delta("") + "\n\n", `data: {"choices":[]}` + "\n\n",
			`data: {"choices":[{"index":0,"delta":{"content":null,"reasoning":"","tool_calls":[]}}]}` + "\n\n"},
		Thought: `data: {"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"hm"}}]}` + "\n\n",
		Text:    delta("word ") + "\n\n",
		End:     stop + "\n\n" + done + "\n\n",
		Usage: func(input string) string {
			return stop + "\n\n" + `data: {"choices":[],"usage":{"prompt_tokens":` + input + `,"completion_tokens":3}}` + "\n\n" + done + "\n\n"
		},
	})
}
