package gemini_test

import (
	"context"
	"errors"
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
	"sibyl/internal/model/gemini"
	"sibyl/internal/model/modeltest"
)

func TestSilenceBeforeTheFirstPartIsBoundedByTimeoutNotByIdle(t *testing.T) {
	server := modeltest.NewGeminiServer(t, modeltest.Answer{Break: modeltest.Hang})
	m := connect(t, server, func(c *gemini.Config) {
		c.Idle = time.Millisecond
		c.Timeout = 60 * time.Millisecond
	})
	_, err := m.Chat(t.Context(), hello(), nil)
	if model.KindOf(err) != model.Timeout || !strings.Contains(err.Error(), "limit 60ms") {
		t.Errorf("got %v; want the time-out of 60ms", err)
	}
	<-server.Ended()
}

func TestSilenceBetweenPartsSaysItsLimit(t *testing.T) {
	server := modeltest.NewGeminiServer(t, modeltest.Answer{Chunks: []string{"a"}, Break: modeltest.Hang})
	m := connect(t, server, func(c *gemini.Config) { c.Idle = 30 * time.Millisecond })
	_, err := m.Chat(t.Context(), hello(), nil)
	if model.KindOf(err) != model.Timeout || !strings.Contains(err.Error(), "limit 30ms") {
		t.Errorf("got %v; want the silence of 30ms", err)
	}
}

func TestSlowReceiverIsNotTakenForASilentProvider(t *testing.T) {
	const idle = 100 * time.Millisecond
	taken := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(text("a") + "\n\n" + text("b") + "\n\n"))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-taken:
			_, _ = w.Write([]byte(text("c") + "\n\n" + stop + "\n\n"))
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	m := gemini.New(gemini.Config{Provider: "google", Model: "m", BaseURL: server.URL, Idle: idle})
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

// stuck sends body and then nothing until its client leaves, which ended tells.
func stuck(t *testing.T, body string) (url string, ended <-chan struct{}) {
	t.Helper()
	left := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write([]byte(body))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(left)
	}))
	t.Cleanup(server.Close)
	return server.URL, left
}

func TestStreamLeftOpenAfterTheFinishIsNoFailure(t *testing.T) {
	url, ended := stuck(t, text("all")+"\n\n"+stop+"\n\n")
	m := gemini.New(gemini.Config{Provider: "google", Model: "m", BaseURL: url, Idle: 30 * time.Millisecond})
	t.Cleanup(m.Close)
	resp, err := m.Chat(t.Context(), hello(), nil)
	if err != nil || resp.Text != "all" || resp.Finish != model.FinishStop || resp.Native == nil {
		t.Errorf("got %+v, %v", resp, err)
	}
	<-ended
}

func TestStreamLeftOpenAfterAnErrorIsThatError(t *testing.T) {
	url, ended := stuck(t, text("half")+"\n\n{\n\"error\": {\"code\": 503, \"status\": \"UNAVAILABLE\", \"message\": \"overloaded\"}}\n")
	m := gemini.New(gemini.Config{Provider: "google", Model: "m", BaseURL: url, Idle: 30 * time.Millisecond})
	t.Cleanup(m.Close)
	resp, err := m.Chat(t.Context(), hello(), nil)
	if model.KindOf(err) != model.Server || !strings.Contains(fmt.Sprint(err), "overloaded") || resp.Text != "half" {
		t.Errorf("got %q, %v", resp.Text, err)
	}
	<-ended
}

func TestCancelWinsOverWhatTheStreamHeld(t *testing.T) {
	for name, body := range map[string]string{
		"an answer that was finished": text("half") + "\n\n" + stop + "\n\n",
		"an error":                    text("half") + "\n\n{\"error\": {\"code\": 503}}\n",
	} {
		url, ended := stuck(t, body)
		m := gemini.New(gemini.Config{Provider: "google", Model: "m", BaseURL: url})
		t.Cleanup(m.Close)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := m.Chat(ctx, hello(), func(model.Delta) error { cancel(); return nil })
		if model.KindOf(err) != model.Cancelled || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v; want cancelled", name, err)
		}
		<-ended
	}
}

func TestKeyThatIsAwaitedIsCancelledWithTheRequest(t *testing.T) {
	server := modeltest.NewGeminiServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	m := connect(t, server, func(c *gemini.Config) {
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

func TestListIsBoundedByTimeoutAndCaller(t *testing.T) {
	url, ended := stuck(t, `{"models": [`)
	m := gemini.New(gemini.Config{Provider: "google", Model: "m", BaseURL: url, Timeout: 40 * time.Millisecond})
	t.Cleanup(m.Close)
	if _, err := m.List(t.Context()); model.KindOf(err) != model.Timeout {
		t.Errorf("got %v; want a time-out", err)
	}
	<-ended
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.List(ctx); model.KindOf(err) != model.Cancelled {
		t.Errorf("got %v; want cancelled", err)
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(text("a") + "\n\n" + stop + "\n\n"))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	m := gemini.New(gemini.Config{Provider: "google", Model: "m", BaseURL: server.URL})
	t.Cleanup(m.Close)
	for range 5 {
		if _, err := m.Chat(t.Context(), hello(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("5 answers took %d connections", n)
	}
}
