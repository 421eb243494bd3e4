package gemini_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/gemini"
)

// patience bounds what should have ended before, so that a test says what is wrong.
const patience = 10 * time.Second

// stuck sends body and then nothing until its client leaves, which the end of the test waits for.
func stuck(t *testing.T, body string) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write([]byte(body))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(patience):
			t.Error("the request did not end")
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestCancelWinsOverWhatTheStreamHeld(t *testing.T) {
	for name, body := range map[string]string{
		"an answer that was finished": text("half") + "\n\n" + stop + "\n\n",
		"an error":                    text("half") + "\n\n{\"error\": {\"code\": 503}}\n",
	} {
		url := stuck(t, body)
		m := gemini.New(gemini.Config{Provider: "google", Model: "m", BaseURL: url})
		t.Cleanup(m.Close)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := m.Chat(ctx, hello(), func(model.Delta) error { cancel(); return nil })
		if model.KindOf(err) != model.Cancelled || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v; want cancelled", name, err)
		}
	}
}
