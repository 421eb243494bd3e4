package anthropic_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sibyl/internal/model/anthropic"
)

func TestPingsAreNoSilence(t *testing.T) {
	const idle = 60 * time.Millisecond
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 6 {
			_, _ = io.WriteString(w, ping)
			_ = http.NewResponseController(w).Flush()
			<-time.After(idle / 3)
		}
		_, _ = io.WriteString(w, start+begin(0, textBlock)+textDelta(0, "at last")+finish("end_turn")+stop)
	}))
	t.Cleanup(server.Close)
	m := anthropic.New(anthropic.Config{Provider: "house", Model: "m", BaseURL: server.URL, Idle: idle})
	t.Cleanup(m.Close)
	resp, err := m.Chat(t.Context(), hello(), nil)
	if err != nil || resp.Text != "at last" {
		t.Errorf("got %q, %v", resp.Text, err)
	}
}
