package api

import (
	"bufio"
	"io"
	"net"
	"net/http"
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
