package openai_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sibyl/internal/model"
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
	m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: server.URL, Idle: 30 * time.Millisecond, Timeout: patience})
	t.Cleanup(m.Close)
	resp, err := m.Chat(t.Context(), hello(), nil)
	if err != nil || resp.Text != "all" || resp.Finish != model.FinishStop {
		t.Errorf("got %+v, %v", resp, err)
	}
}
