package anthropic_test

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
	"sibyl/internal/model/anthropic"
	"sibyl/internal/model/modeltest"
)

// serve answers every request with what write does, and then keeps it open until its client ends it.
func serve(t *testing.T, write func(io.Writer, func())) (*httptest.Server, <-chan struct{}) {
	ended := make(chan struct{}, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		flush := func() { _ = http.NewResponseController(w).Flush() }
		write(w, flush)
		flush()
		<-r.Context().Done()
		ended <- struct{}{}
	}))
	t.Cleanup(server.Close)
	return server, ended
}

func TestSilenceBeforeTheFirstPartIsBoundedByTimeoutNotByIdle(t *testing.T) {
	server, ended := serve(t, func(io.Writer, func()) {})
	m := anthropic.New(anthropic.Config{
		Provider: "house", Model: "m", BaseURL: server.URL, Idle: time.Millisecond, Timeout: 60 * time.Millisecond,
	})
	t.Cleanup(m.Close)
	_, err := m.Chat(t.Context(), hello(), nil)
	if model.KindOf(err) != model.Timeout || !strings.Contains(err.Error(), "limit 60ms") {
		t.Errorf("got %v; want the time-out of 60ms", err)
	}
	<-ended
}

func TestTimeoutBoundsAnAnswerThatNeverEnds(t *testing.T) {
	server, ended := serve(t, func(w io.Writer, flush func()) {
		_, _ = io.WriteString(w, start+begin(0, textBlock)+textDelta(0, "half"))
	})
	m := anthropic.New(anthropic.Config{Provider: "house", Model: "m", BaseURL: server.URL, Timeout: 60 * time.Millisecond})
	t.Cleanup(m.Close)
	resp, err := m.Chat(t.Context(), hello(), nil)
	if model.KindOf(err) != model.Timeout || resp.Text != "half" {
		t.Errorf("got %q, %v; want half and the time-out", resp.Text, err)
	}
	<-ended
}

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

func TestSlowReceiverIsNotTakenForASilentProvider(t *testing.T) {
	const idle = 100 * time.Millisecond
	taken := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, start+begin(0, textBlock)+textDelta(0, "a")+textDelta(0, "b"))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-taken:
			_, _ = io.WriteString(w, textDelta(0, "c")+finish("end_turn")+stop)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	m := anthropic.New(anthropic.Config{Provider: "house", Model: "m", BaseURL: server.URL, Idle: idle})
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
	server, ended := serve(t, func(w io.Writer, flush func()) {
		_, _ = io.WriteString(w, start+begin(0, textBlock)+textDelta(0, "all")+finish("end_turn")+stop)
	})
	m := anthropic.New(anthropic.Config{Provider: "house", Model: "m", BaseURL: server.URL})
	t.Cleanup(m.Close)
	resp, err := m.Chat(t.Context(), hello(), nil)
	if err != nil || resp.Text != "all" || resp.Finish != model.FinishStop {
		t.Errorf("got %+v, %v", resp, err)
	}
	<-ended
}

func TestFailureWhoseBodyNeverEndsIsBoundedByTimeout(t *testing.T) {
	server, ended := serve(t, func(w io.Writer, flush func()) {
		w.(http.ResponseWriter).WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, "half")
	})
	m := anthropic.New(anthropic.Config{Provider: "house", Model: "m", BaseURL: server.URL, Timeout: 60 * time.Millisecond})
	t.Cleanup(m.Close)
	if _, err := m.Chat(t.Context(), hello(), nil); model.KindOf(err) != model.Timeout {
		t.Errorf("got %v; want the time-out", err)
	}
	<-ended
}

func TestKeyThatIsAwaitedIsCancelledWithTheRequest(t *testing.T) {
	server := modeltest.NewAnthropicServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	m := connect(t, server, func(c *anthropic.Config) {
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

func TestConnectionIsUsedAgainThoughTheStreamEndsAfterItsLastEvent(t *testing.T) {
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, start+finish("end_turn")+stop)
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
	m := anthropic.New(anthropic.Config{Provider: "house", Model: "m", BaseURL: server.URL})
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
