package ollama_test

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
	"sibyl/internal/model/ollama"
)

func TestSilenceWhileTheModelLoadsIsBoundedByTimeoutNotByIdle(t *testing.T) {
	server := modeltest.NewOllamaServer(t, modeltest.Answer{Break: modeltest.Hang})
	m := connect(t, server, func(c *ollama.Config) {
		c.Idle = time.Millisecond
		c.Timeout = 60 * time.Millisecond
	})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := m.Chat(ctx, hello(), nil)
	if model.KindOf(err) != model.Timeout || !strings.Contains(err.Error(), "limit 60ms") {
		t.Errorf("got %v; want the time-out of 60ms", err)
	}
	<-server.Ended()
}

func TestTimeoutBoundsAnAnswerThatNeverPauses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, `{"message":{"thinking":"."}}`+"\n"); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			<-time.After(time.Millisecond)
		}
	}))
	t.Cleanup(server.Close)
	m := ollama.New(ollama.Config{Provider: "house", Model: "m", BaseURL: server.URL, Idle: time.Second, Timeout: 60 * time.Millisecond})
	t.Cleanup(m.Close)
	if _, err := m.Chat(t.Context(), hello(), nil); model.KindOf(err) != model.Timeout || !strings.Contains(err.Error(), "limit 60ms") {
		t.Errorf("got %v; want the time-out of 60ms", err)
	}
}

func TestSlowReceiverIsNotTakenForASilentProvider(t *testing.T) {
	const idle = 100 * time.Millisecond
	taken := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(chunk("a") + "\n" + chunk("b") + "\n"))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-taken:
			_, _ = w.Write([]byte(chunk("c") + "\n" + done + "\n"))
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	m := ollama.New(ollama.Config{Provider: "house", Model: "m", BaseURL: server.URL, Idle: idle})
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
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write([]byte(chunk("all") + "\n" + done + "\n"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(ended)
	}))
	t.Cleanup(server.Close)
	m := ollama.New(ollama.Config{Provider: "house", Model: "m", BaseURL: server.URL})
	t.Cleanup(m.Close)
	resp, err := m.Chat(t.Context(), hello(), nil)
	if err != nil || resp.Text != "all" || resp.Finish != model.FinishStop {
		t.Errorf("got %+v, %v", resp, err)
	}
	<-ended
}

func TestKeyThatIsAwaitedIsCancelledWithTheRequest(t *testing.T) {
	server := modeltest.NewOllamaServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	m := connect(t, server, func(c *ollama.Config) {
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

func TestConnectionIsUsedAgain(t *testing.T) {
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(chunk("a") + "\n" + done + "\n"))
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
	m := ollama.New(ollama.Config{Provider: "house", Model: "m", BaseURL: server.URL})
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
