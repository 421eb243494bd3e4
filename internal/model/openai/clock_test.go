package openai_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/openai"
)

func TestSilenceBeforeTheFirstPartIsBoundedByTimeoutNotByIdle(t *testing.T) {
	server := modeltest.NewOpenAIServer(t, modeltest.Answer{Break: modeltest.Hang})
	m := connect(t, server, func(c *openai.Config) {
		c.Idle = time.Millisecond
		c.Timeout = 60 * time.Millisecond
	})
	_, err := m.Chat(t.Context(), hello(), nil)
	if model.KindOf(err) != model.Timeout || !strings.Contains(err.Error(), "limit 60ms") {
		t.Errorf("got %v; want the time-out of 60ms", err)
	}
	<-server.Ended()
}

func TestSlowReceiverIsNotTakenForASilentProvider(t *testing.T) {
	const idle = 100 * time.Millisecond
	taken := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(delta("a") + "\n\n" + delta("b") + "\n\n"))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-taken:
			_, _ = w.Write([]byte(delta("c") + "\n\n" + stop + "\n\n" + done + "\n\n"))
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: server.URL, Idle: idle})
	t.Cleanup(m.Close)
	resp, err := m.Chat(t.Context(), hello(), func(d model.Delta) error {
		if d.Text == "b" {
			<-time.After(2 * idle)
			close(taken)
		}
		return nil
	})
	if err != nil || resp.Text != "abc" {
		t.Errorf("got %q, %v", resp.Text, err)
	}
}

func TestStreamLeftOpenAfterTheAnswerIsNoFailure(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		idle   time.Duration
	}{
		"after the finish reason": {[]string{delta("all"), stop, ""}, 30 * time.Millisecond},
		"after DONE":              {[]string{delta("all"), stop, done, ""}, 0},
	} {
		ended := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = w.Write([]byte(strings.Join(c.events, "\n\n")))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			close(ended)
		}))
		t.Cleanup(server.Close)
		m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: server.URL, Idle: c.idle})
		t.Cleanup(m.Close)
		resp, err := m.Chat(t.Context(), hello(), nil)
		if err != nil || resp.Text != "all" || resp.Finish != model.FinishStop {
			t.Errorf("%s: got %+v, %v", name, resp, err)
		}
		<-ended
	}
}

func TestKeyThatIsAwaitedIsCancelledWithTheRequest(t *testing.T) {
	server := modeltest.NewOpenAIServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	m := connect(t, server, func(c *openai.Config) {
		c.Key = func(ctx context.Context) (string, error) {
			cancel()
			<-ctx.Done()
			return "", fmt.Errorf("key command: %w", ctx.Err())
		}
	})
	if _, err := m.Chat(ctx, hello(), nil); model.KindOf(err) != model.Cancelled {
		t.Errorf("got %v; want cancelled", err)
	}
}

func TestConnectionIsUsedAgainThoughTheStreamEndsAfterDONE(t *testing.T) {
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(delta("a") + "\n\n" + stop + "\n\n" + done + "\n\n"))
		_ = http.NewResponseController(w).Flush()
		<-time.After(5 * time.Millisecond) // the end of the response follows by itself, as from real servers
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: server.URL + "/v1"})
	t.Cleanup(m.Close)
	for range 5 {
		if _, err := m.Chat(t.Context(), hello(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := opened.Load(); n == 5 {
		t.Error("every answer took a connection of its own")
	}
}
