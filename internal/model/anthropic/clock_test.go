package anthropic_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/anthropic"
)

// streaming answers every request with body.
type streaming struct{ body io.ReadCloser }

func (s streaming) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: s.body}, nil
}

func TestPingsAreNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = time.Second
		body, provider := io.Pipe()
		go func() {
			for range 6 {
				_, _ = io.WriteString(provider, ping)
				<-time.After(idle - time.Millisecond) // of the bubble's clock, which nobody waits for
			}
			_, _ = io.WriteString(provider, start+begin(0, textBlock)+textDelta(0, "at last")+finish("end_turn")+stop)
			_ = provider.Close()
		}()
		m := anthropic.New(anthropic.Config{Provider: "house", Model: "m", BaseURL: "http://house", Idle: idle, HTTPClient: &http.Client{Transport: streaming{body}}})
		resp, err := m.Chat(t.Context(), hello(), func(model.Delta) error { return nil })
		if err != nil || resp.Text != "at last" {
			t.Errorf("got %q, %v", resp.Text, err)
		}
	})
}
