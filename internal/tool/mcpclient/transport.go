package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/keys/cleartext"
	"sibyl/internal/text"
)

// InProcess returns a transport to a server of this process, with the same messages as from outside.
func InProcess(server *mcp.Server) mcp.Transport { return inProcess{server} }

type inProcess struct{ server *mcp.Server }

// Connect connects the server to its end, and returns ours.
func (p inProcess) Connect(ctx context.Context) (mcp.Connection, error) {
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := p.server.Connect(ctx, theirs, nil); err != nil {
		return nil, fmt.Errorf("connect the server: %w", err)
	}
	return ours.Connect(ctx)
}

// Program is a command that speaks MCP on its standard streams.
type Program struct {
	Command []string // the program and its arguments
	Environ []string // all of its environment, as NAME=value
	Folder  string   // in which it runs; "": this process's own
}

// How long a program may take to end after its input was closed, and again after it got a signal.
const exitTimeout = 2 * time.Second

// Stdio returns a transport to a command. Each connection starts the command, and ends it when it is closed.
func Stdio(p Program) mcp.Transport { return &stdio{Program: p} }

type stdio struct {
	Program
	mu     sync.Mutex
	stderr *text.Tail // of the latest start
	mend   *mender    // likewise
}

// Connect starts the command.
func (s *stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	cmd := exec.Command(s.Command[0], s.Command[1:]...) //nolint:gosec,noctx // the person's own settings name it, and it outlives the call that starts it
	cmd.Env, cmd.Dir, cmd.WaitDelay = s.Environ, s.Folder, exitTimeout
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be all of ours
	}
	stderr, mend := &text.Tail{}, &mender{}
	cmd.Stderr = stderr
	s.mu.Lock()
	s.stderr, s.mend = stderr, mend
	s.mu.Unlock()
	streams, err := startCommand(cmd, mend)
	if err != nil {
		return nil, fmt.Errorf("it can't be started: %w", err)
	}
	return streams.Connect(ctx)
}

// complaint returns the last line of the command's standard error, or else the last that was no message.
func (s *stdio) complaint() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stderr == nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(s.stderr.String(), "\uFFFD")), "\n")
	return cmp.Or(strings.TrimSpace(lines[len(lines)-1]), s.mend.lastNoise())
}

// Address says where a server of streamable HTTP is.
type Address struct {
	URL string
	// Key returns the value of Header; "": none is sent. Without a Header, the key is sent as a bearer in
	// Authorization.
	Header string
	Key    func(ctx context.Context) (string, error)
	Client *http.Client // nil: a new one
	// PlainHTTP are hosts that may get the key over plain HTTP, besides this machine: see package cleartext.
	PlainHTTP []string
}

// maxBody bounds one response, in bytes, also a stream of events: no call of ours needs more.
const maxBody = 32 << 20

// errTooMuch says that a response was cut off.
var errTooMuch = errors.New("the response is too long")

// errMoved says that a server redirects to another host, which must not get its key.
var errMoved = errors.New("it leads to another address, which is not followed: set that address if it is right")

// HTTP returns a transport to an address. It follows no redirect to another host, and sends the key only to this one.
func HTTP(a Address) mcp.Transport {
	base := a.Client
	if base == nil {
		base = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 4,
			IdleConnTimeout:     time.Minute,
			TLSHandshakeTimeout: 10 * time.Second}}
	}
	client := *base
	client.Transport = keyTransport{a, cleartext.Transport(client.Transport, a.PlainHTTP), &mender{}}
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if from := via[0].URL; req.URL.Host != from.Host || req.URL.Scheme != from.Scheme || len(via) > 5 {
			return errMoved
		}
		return nil
	}
	return address{&mcp.StreamableClientTransport{Endpoint: a.URL, HTTPClient: &client, MaxRetries: 2,
		DisableStandaloneSSE: true}, &client}
}

type address struct {
	*mcp.StreamableClientTransport
	client *http.Client
}

// release closes idle connections.
func (a address) release() { a.client.CloseIdleConnections() }

// keyTransport adds the key to requests, and bounds and mends the responses.
type keyTransport struct {
	Address
	next http.RoundTripper
	mend *mender
}

// RoundTrip sends one request. The key is in none of its errors.
func (k keyTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	key := ""
	if k.Key != nil {
		var err error
		if key, err = k.Key(req.Context()); err != nil {
			return nil, err
		}
	}
	if key != "" {
		req = req.Clone(req.Context())
		if k.Header == "" {
			req.Header.Set("Authorization", "Bearer "+key)
		} else {
			req.Header.Set(k.Header, key)
		}
	}
	if req.GetBody != nil {
		if body, err := req.GetBody(); err == nil {
			if asked, err := io.ReadAll(body); err == nil {
				k.mend.sent(asked)
			}
			_ = body.Close() // it is in memory
		}
	}
	resp, err := k.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxBody}
	return k.mend.response(resp), nil
}

// boundedBody is a body that fails if it is too long.
type boundedBody struct {
	io.ReadCloser
	left int
}

// Read reads what is left.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooMuch
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// Environ returns an environment of names and values, sorted.
func Environ(of map[string]string) []string {
	all := make([]string, 0, len(of))
	for name, text := range of {
		all = append(all, name+"="+text)
	}
	slices.Sort(all)
	return all
}
