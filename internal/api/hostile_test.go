package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/service/assistant"
)

// zeros is a body without an end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

func TestLargeBodyIsRefusedWithoutBeingTakenIn(t *testing.T) {
	h := newHouse(t).open()
	fits := `{"assistant":"panel","words":"Tea?","options":{"personas":["ada"]},"session":""}`
	fits += strings.Repeat(" ", 2<<20-len(fits))
	h.get(question{method: "POST", path: "/api/runs", body: fits}, nil)
	h.refused("a byte more", question{method: "POST", path: "/api/runs", body: fits + " "}, 413, "too_large")
	h.refused("a byte more, in chunks", question{method: "POST", path: "/api/runs", body: func() io.Reader {
		return struct{ io.Reader }{strings.NewReader(fits + " ")}
	}}, 413, "too_large")
	const plain = 64 << 10 // where no texts of documents belong
	h.refused("more where no texts belong", question{method: "POST", path: "/api/sign-in",
		body: strings.Repeat(" ", plain+1)}, 413, "too_large")
	const gigabyte = 1 << 30
	before := allocated()
	for about, request := range map[string]string{
		"a gigabyte that is announced": fmt.Sprintf(
			"POST /api/runs HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: "+
				"application/json\r\nContent-Length: %d\r\n\r\n", h.addr, adasToken, gigabyte),
		"a gigabyte from nobody": fmt.Sprintf(
			"POST /api/runs HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
			h.addr, gigabyte),
		"a gigabyte, to sign in": fmt.Sprintf(
			"POST /api/sign-in HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
			h.addr, gigabyte),
		"a gigabyte where no body belongs": fmt.Sprintf(
			"GET /api/me HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", h.addr,
			adasToken, gigabyte),
	} {
		conn := h.dial()
		assert.Must(io.WriteString(conn, request))(t)
		sent, err := io.Copy(conn, io.LimitReader(zeros{}, gigabyte))
		assert.That(t, err != nil, "%s: the server took all of it, %d bytes", about, sent)
	}
	taken := allocated() - before
	assert.That(t, taken <= 64<<20, "the server allocated %d bytes for four of them", taken)
	h.get(question{path: "/api/me"}, nil)
}

// A client that has sent all of a body that is too large reads why it is refused, and not a broken connection: also one
// that sends on only when the answer is there, and one that sends far more than it may.
func TestClientReadsWhyItsBodyIsTooLarge(t *testing.T) {
	h := newHouse(t).open()
	for about, size := range map[string]int{"a little too much": 2<<20 + 1, "far too much": 40 << 20} {
		for _, how := range []string{"at once", "when the answer is there"} {
			conn := h.dial()
			said := bufio.NewReader(conn)
			h.send(conn, fmt.Sprintf("POST /api/runs HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
				"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", h.addr, adasToken, size))
			if how != "at once" {
				_, err := said.Peek(1)
				assert.Require(t, err == nil, "%s, %s: %v", about, how, err)
			}
			n, err := io.Copy(conn, io.LimitReader(zeros{}, int64(size)))
			assert.Require(t, err == nil, "%s, %s: the connection broke after %d bytes: %v", about, how, n, err)
			a := h.reads(said)
			p := a.problem()
			assert.That(t, a.status == 413 && p.Kind == "too_large", "%s, %s: %d %s", about, how, a.status, a.body)
		}
	}
}

// A client that sends a refused body without an end, a byte each second, reads the answer and is cut off in time.
func TestRefusedBodyWithoutAnEndIsCutOff(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Read = 5 * time.Second
	handler := h.handler()
	synctest.Test(t, func(t *testing.T) {
		pipe, conn := net.Pipe()
		listener := &single{conn: pipe, closed: make(chan struct{})}
		server := api.HTTPServer(handler, slog.New(slog.DiscardHandler))
		served := make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		began, sent := time.Now(), make(chan time.Duration, 1)
		go func() {
			_, err := io.WriteString(conn, "POST /api/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
				"application/json\r\nContent-Length: 1000000\r\n\r\n")
			for ; err == nil; _, err = conn.Write([]byte{' '}) {
				time.Sleep(time.Second)
			}
			sent <- time.Since(began)
		}()
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		assert.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		assert.That(t, err == nil && resp.StatusCode == http.StatusUnauthorized && time.Since(began) == 0,
			"after %v it is answered %d %s, %v", time.Since(began), resp.StatusCode, text, err)
		took := <-sent
		assert.That(t, took >= 5*time.Second && took <= 7*time.Second, "it is cut off after %v", took)
		_ = server.Close()
		<-served
	})
}

// single is a listener with one connection.
type single struct {
	conn   net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *single) Accept() (conn net.Conn, err error) {
	if conn, l.conn = l.conn, nil; conn != nil {
		return conn, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *single) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *single) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (h *house) send(conn net.Conn, words string) {
	h.Helper()
	assert.Must(io.WriteString(conn, words))(h)
}

// reads gives the answer that comes next.
func (h *house) reads(said *bufio.Reader) answer {
	h.Helper()
	resp, err := http.ReadResponse(said, nil)
	assert.NoError(h, err)
	defer func() { _ = resp.Body.Close() }()
	text := assert.Must(io.ReadAll(resp.Body))(h)
	return answer{resp.StatusCode, resp.Header, text}
}

// allocated is what was allocated in this process, ever.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func (h *house) dial() net.Conn {
	h.Helper()
	conn := assert.Must(net.Dial("tcp", h.addr))(h)
	h.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(deadline))
	return conn
}

// ends waits until the server has closed a connection, and gives what it said before.
func (h *house) ends(about string, conn net.Conn) string {
	h.Helper()
	said, err := io.ReadAll(conn)
	if timeout, ok := err.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // as the connection gives it
		h.Fatalf("%s: the server keeps the connection open", about)
	}
	return string(said)
}

func TestBodyThatTrickleEndsTheRequest(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Read = 50 * time.Millisecond
	h.open()
	for about, lines := range map[string]string{
		"of a known length": "Authorization: Bearer " + adasToken +
			"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"assistant\":",
		"in chunks": "Authorization: Bearer " + adasToken +
			"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
	} {
		conn := h.dial()
		assert.Must(io.WriteString(conn, "POST /api/runs HTTP/1.1\r\nHost: "+h.addr+"\r\n"+lines))(t)
		said := h.ends(about, conn)
		assert.That(t, strings.HasPrefix(said, "HTTP/1.1 408 ") && strings.Contains(said, `"kind":"slow_body"`),
			"%s: the server says %s", about, said)
	}
}

func TestBodyThatBreaksOffIsNoServersFault(t *testing.T) {
	h := newHouse(t).open()
	conn := h.dial()
	assert.Must(io.WriteString(conn, "POST /api/runs HTTP/1.1\r\nHost: "+h.addr+"\r\nAuthorization: Bearer "+adasToken+
		"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"assistant\":"))(t)
	assert.NoError(t, conn.(*net.TCPConn).CloseWrite())
	said := h.ends("half a body", conn)
	assert.That(t, strings.HasPrefix(said, "HTTP/1.1 400 "), "the server says %s", said)
}

// bounded is a server of an API, with other bounds of time.
func (h *house) bounded(header, whole time.Duration) {
	h.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.HTTPServer(h.handler(), slog.New(slog.DiscardHandler))
	c := server.Config
	assert.Require(h, c.ReadHeaderTimeout > 0 && c.ReadTimeout > 0 && c.IdleTimeout > 0 && c.MaxHeaderBytes > 0,
		"a server without bounds: %+v", c)
	server.Config.ReadHeaderTimeout, server.Config.ReadTimeout = header, whole
	server.Start()
	h.url, h.addr = server.URL, server.Listener.Addr().String()
	h.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
}

func TestHeadersThatTrickleEndTheConnection(t *testing.T) {
	h := newHouse(t)
	h.bounded(50*time.Millisecond, time.Minute)
	for about, lines := range map[string]string{"nothing": "", "half a line": "GET /api/me HT",
		"headers without an end": "GET /api/me HTTP/1.1\r\nHost: " + h.addr + "\r\nA: b\r\n"} {
		conn := h.dial()
		assert.Must(io.WriteString(conn, lines))(t)
		h.ends(about, conn)
	}
}

// What a request leaves unread is read by the server after the answer: this has its bound too.
func TestBodyThatNobodyAskedForHoldsNoConnection(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Read = 100 * time.Millisecond
	h.bounded(time.Minute, 100*time.Millisecond)
	for about, line := range map[string]string{
		"to a route of the API":          "GET /api/me HTTP/1.1\r\nAuthorization: Bearer " + adasToken,
		"from nobody":                    "POST /api/runs HTTP/1.1",
		"to the page":                    "GET / HTTP/1.1",
		"to no route":                    "POST /nope HTTP/1.1",
		"that is no JSON":                "POST /api/runs HTTP/1.1\r\nContent-Type: text/plain\r\nAuthorization: Bearer " + adasToken,
		"of which more is said than may": "POST /api/sign-in HTTP/1.1\r\nContent-Type: application/json\r\nX: y",
	} {
		conn := h.dial()
		assert.Must(io.WriteString(conn, line+"\r\nHost: "+h.addr+"\r\nContent-Length: 1000\r\n\r\nx"))(t)
		h.ends(about, conn)
	}
}

func TestClientThatDoesNotReadHoldsNoHandler(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Write = 50 * time.Millisecond
	h.open()
	h.panel.Show = func(json.RawMessage) (assistant.Shown, error) {
		return assistant.Shown{Answer: strings.Repeat("tea ", 8<<20)}, nil // more than the buffers between the two take
	}
	b := h.begin("", "Tea?")
	h.over(b.Run)
	before := h.log.text()
	conn := h.dial()
	assert.Must(io.WriteString(conn, "GET /api/runs/"+b.Run+" HTTP/1.1\r\nHost: "+h.addr+"\r\nAuthorization: Bearer "+
		adasToken+"\r\n\r\n"))(t)
	h.log.until(t, "the handler waits for its client no more", func() bool {
		return strings.Count(h.log.text(), "\n") > strings.Count(before, "\n")
	})
	after := strings.TrimPrefix(h.log.text(), before)
	assert.That(t, !strings.Contains(after, "panicked"), "the log takes the client's fault for the server's: %s", after)
	h.get(question{path: "/api/me"}, nil)
}

func TestStrangeRequestsAreAnsweredOrRefusedAndTheServerGoesOn(t *testing.T) {
	h := newHouse(t).open()
	authorized := "Host: " + h.addr + "\r\nAuthorization: Bearer " + adasToken + "\r\n"
	for _, request := range []string{
		"GET /api/me HTTP/1.1\r\n" + authorized + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"GET /api/me HTTP/1.1\r\n" + authorized + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
		"POST /api/runs HTTP/1.1\r\n" + authorized +
			"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
		"POST /api/runs HTTP/1.1\r\n" + authorized + "Content-Type: application/json\r\nContent-Length: -1\r\n\r\n",
		"GET /api/me HTTP/9.9\r\n" + authorized + "\r\n",
		"GET /api/me\x00 HTTP/1.1\r\n" + authorized + "\r\n",
		"GET /api/me HTTP/1.1\r\n" + authorized + "Bad Header: x\r\n\r\n",
		"GET /api/me HTTP/1.1\r\n" + authorized + "Cookie: " + strings.Repeat("sibyl_"+h.port()+"=x; ", 300) +
			"\r\n\r\n",
		"GET /api/runs?" + strings.Repeat("limit=1&", 1000) + " HTTP/1.1\r\n" + authorized + "\r\n",
		"GET /api/runs?limit=%zz HTTP/1.1\r\n" + authorized + "\r\n",
		"GET /api/runs?;limit=1 HTTP/1.1\r\n" + authorized + "\r\n",
		"GET /api/runs/%c0%af HTTP/1.1\r\n" + authorized + "\r\n",
		"GET /api/runs/\xff\xfe HTTP/1.1\r\n" + authorized + "\r\n",
		"GET * HTTP/1.1\r\n" + authorized + "\r\n",
		"CONNECT /api/me HTTP/1.1\r\n" + authorized + "\r\n",
		"CONNECT evil.example:443 HTTP/1.1\r\n" + authorized + "\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"GET /api/me HTTP/1.1\r\n" + authorized + "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
		"GET /api/me HTTP/1.1\r\n" + authorized + "Range: bytes=0-1\r\n\r\n",
		"GET /api/me HTTP/1.1\r\n" + authorized + "Expect: 200-ok\r\n\r\n",
		"\r\n\r\n\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	} {
		conn := h.dial()
		assert.Must(io.WriteString(conn, request))(t)
		assert.NoError(t, conn.(*net.TCPConn).CloseWrite())
		said := h.ends(request, conn)
		var status int
		_, err := fmt.Sscanf(said, "HTTP/1.1 %d", &status)
		assert.That(t, (err == nil || said == "") && (status < 500 || status == 505), "%.80q: %.200q", request, said)
	}
	h.get(question{path: "/api/me"}, nil)
	assert.That(t, !strings.Contains(h.log.text(), "panicked"), "a handler panicked:\n%s", h.log.text())
}
