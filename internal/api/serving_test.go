package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

func TestConnectionsBeyondTheBoundAreClosedAtOnce(t *testing.T) {
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := &http.Server{ConnState: atMost(2), ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	defer func() { <-served }()
	defer func() { _ = server.Close() }()
	// asks says whether a request is answered over a connection of its own, which stays open.
	asks := func() (open net.Conn, answered bool) {
		c := assert.Must(net.Dial("tcp", l.Addr().String()))(t)
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // one that is closed answers nothing
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // as the connection gives it
			t.Fatal("neither answered nor closed")
		}
		if err == nil {
			_ = resp.Body.Close()
		}
		return c, err == nil
	}
	first, ok := asks()
	_, also := asks()
	assert.Require(t, ok && also, "those within the bound were not answered")
	_, ok = asks()
	assert.That(t, !ok, "one beyond the bound was answered")
	_ = first.Close()
	for end := time.Now().Add(time.Minute); ; { // until the server has seen that one has gone
		if _, ok := asks(); ok {
			break
		}
		assert.Require(t, !time.Now().After(end), "nobody is let in for the one who went")
	}
}

func TestDescriptionThatCannotBeWrittenIsAFaultOfTheServer(t *testing.T) {
	var log bytes.Buffer
	s := &Server{config: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	r := httptest.NewRequestWithContext(context.WithValue(t.Context(), requestInfoKey{}, &requestInfo{id: "r-1"}),
		http.MethodGet, "/openapi.json", nil)
	w := httptest.NewRecorder()
	s.serveDescription("application/openapi+json", func() ([]byte, error) { return nil, errors.New("a cycle") })(w, r)
	assert.That(t, w.Code == http.StatusInternalServerError && w.Header().Get("Content-Type") == problemType &&
		!strings.Contains(w.Body.String(), "cycle"), "the answer is %d %s", w.Code, w.Body)
	line := log.String()
	assert.That(t, strings.Contains(line, "level=ERROR") && strings.Contains(line, "a cycle") &&
		strings.Contains(line, "r-1"), "the log says %q", line)
}

func TestTableStaysBoundedAndKeepsWhatIsInUse(t *testing.T) {
	made := map[int]int{}
	of := newTable(100, func(key int) *int {
		made[key]++
		return &key
	})
	for i := range 2_000 {
		got := *of.get(i)
		assert.Require(t, got == i, "of %d it gives what belongs to %d", i, got)
		of.get(-1) // asked for all the time
		kept := len(of.recent) + len(of.older)
		assert.Require(t, kept <= 200, "after %d keys it keeps %d", i, kept)
	}
	assert.That(t, made[-1] == 1, "what is in use was made %d times", made[-1])
}
