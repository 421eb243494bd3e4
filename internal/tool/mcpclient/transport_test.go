package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

// asServer is the variable that makes this test program a server.
const asServer = "MCPCLIENT_TEST_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(asServer) {
	case "":
		goleak.VerifyTestMain(m)
	case "complains":
		fmt.Fprintln(os.Stderr, "starting\nno database there")
		os.Exit(1)
	case "usage":
		fmt.Println("usage: self FILE")
	case "odd":
		serveOdd()
	case "deaf":
		_, _ = io.Copy(io.Discard, os.Stdin)
	default:
		serveStdio()
	}
}

// serveStdio is a server on standard streams. Its tools tell of it, and end it.
func serveStdio() {
	server := mcp.NewServer(&mcp.Implementation{Name: "self", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "environ", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			folder, err := os.Getwd()
			return textResult(strings.Join(os.Environ(), "\n")+"\nfolder "+folder, nil), nil, err
		})
	mcp.AddTool(server, &mcp.Tool{Name: "die"}, func(context.Context, *mcp.CallToolRequest,
		struct{}) (*mcp.CallToolResult, any, error) {
		os.Exit(3)
		return nil, nil, nil
	})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
	}
}

func selfProgram(as string) Program {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Program{Command: []string{program}, Environ: []string{asServer + "=" + as, "TOKEN=of-the-server"}}
}

func TestCommandHasOnlyTheEnvironmentItIsGiven(t *testing.T) {
	t.Setenv("SECRET_OF_OURS", "canary")
	p := selfProgram("yes")
	p.Folder = t.TempDir()
	session := connect(t, Stdio(p), Config{})
	res, err := toolNamed(t, session, "environ").Call(t.Context(), tool.Call{})
	assert.That(t, err == nil && strings.Contains(res.Text, "TOKEN=of-the-server") &&
		!strings.Contains(res.Text, "canary") && strings.Contains(res.Text, "folder "+p.Folder), "%v: %s", err, res.Text)
}

func TestCommandThatDiesIsStartedAgain(t *testing.T) {
	session := connect(t, Stdio(selfProgram("yes")), Config{})
	_, err := toolNamed(t, session, "die").Call(t.Context(), tool.Call{Key: "k"})
	assert.That(t, kindOfError(err) == tool.Unavailable && strings.Contains(err.Error(), "not known"), "%v", err)
	_, err = toolNamed(t, session, "environ").Call(t.Context(), tool.Call{})
	assert.That(t, err == nil, "the next call: %v", err)
}

func TestCommandThatDoesNotServeSaysWhy(t *testing.T) {
	_, err := Connect(t.Context(), Stdio(selfProgram("complains")), Config{Name: "self"})
	assert.That(t, kindOfError(err) == tool.Unavailable && strings.Contains(err.Error(), "it said: no database there"),
		"%v", err)
	_, err = Connect(t.Context(), Stdio(Program{Command: []string{"/nowhere/at-all", "--token", "canary"}}),
		Config{Name: "self"})
	assert.That(t, kindOfError(err) == tool.Unavailable && !strings.Contains(err.Error(), "canary"), "%v", err)
}

func TestCommandThatIsDeafIsEnded(t *testing.T) {
	_, err := Connect(t.Context(), Stdio(selfProgram("deaf")), Config{Name: "self", Start: 100 * time.Millisecond})
	assert.That(t, kindOfError(err) == tool.Timeout, "%v", err)
}

// serveHTTP serves the shelf over HTTP, to those who have the key.
func serveHTTP(t *testing.T, s *shelf, stateless bool, wrap func(http.Handler) http.Handler) *httptest.Server {
	t.Helper()
	server := s.server()
	handler := http.Handler(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		return server
	}, &mcp.StreamableHTTPOptions{Stateless: stateless}))
	if wrap != nil {
		handler = wrap(handler)
	}
	web := httptest.NewServer(handler)
	t.Cleanup(func() {
		for session := range server.Sessions() { // the handler keeps those that nobody ended
			_ = session.Close()
		}
		web.Close()
	})
	return web
}

const webKey = "canary-0123456789"

func keyOf(key string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return key, nil }
}

func TestServerOverHTTPIsCalledWithItsKey(t *testing.T) {
	for header, want := range map[string]string{"": "Bearer " + webKey, "X-Api-Key": webKey} {
		for _, stateless := range []bool{true, false} {
			s := newShelf()
			guarded := serveHTTP(t, s, stateless, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					name := header
					if name == "" {
						name = "Authorization"
					}
					if r.Header.Get(name) != want {
						http.Error(w, "no key, but "+r.Header.Get(name), http.StatusUnauthorized)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			session := connect(t, HTTP(Address{URL: guarded.URL, Header: header, Key: keyOf(webKey)}), Config{})
			res, err := toolNamed(t, session, "look").Call(t.Context(), tool.Call{})
			assert.That(t, err == nil && res.Text == "seen {}", "%s, stateless %v: %+v, %v", header, stateless, res, err)
			session.Close()
			_, err = Connect(t.Context(),
				HTTP(Address{URL: guarded.URL, Header: header, Key: keyOf("wrong-" + webKey)}), Config{Name: "web"})
			assert.That(t, kindOfError(err) == tool.Unavailable && !strings.Contains(err.Error(), webKey),
				"with a wrong key: %v", err)
		}
	}
}

func TestKeyFollowsNoRedirectToAnotherHost(t *testing.T) {
	reached := make(chan string, 9)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached <- r.Header.Get("Authorization")
	}))
	defer other.Close()
	moved := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer moved.Close()
	_, err := Connect(t.Context(), HTTP(Address{URL: moved.URL, Key: keyOf(webKey)}), Config{Name: "web"})
	assert.That(t, err != nil && strings.Contains(err.Error(), "leads to another address") && len(reached) == 0,
		"%v, reached %d times", err, len(reached))
}

func TestSessionThatAServerForgotIsBegunAnew(t *testing.T) {
	s := newShelf()
	s.eras = []string{"2025-11-25"}
	forget := make(chan struct{}, 1)
	server := serveHTTP(t, s, false, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-forget:
				http.Error(w, "no such session", http.StatusNotFound)
			default:
				next.ServeHTTP(w, r)
			}
		})
	})
	session := connect(t, HTTP(Address{URL: server.URL}), Config{})
	forget <- struct{}{}
	_, err := toolNamed(t, session, "look").Call(t.Context(), tool.Call{})
	assert.That(t, err == nil && len(s.metas) == 1, "%v, %d calls came", err, len(s.metas))
	forget <- struct{}{}
	_, err = toolNamed(t, session, "put").Call(t.Context(), tool.Call{Key: "k"})
	assert.That(t, kindOfError(err) == tool.Unavailable && strings.Contains(err.Error(), "not known") && len(s.metas) == 1,
		"a write: %v, %d calls came", err, len(s.metas))
	_, err = toolNamed(t, session, "put").Call(t.Context(), tool.Call{Key: "l"})
	assert.That(t, err == nil, "the next write: %v", err)
}

func TestResponseWithoutAnEndIsCutOff(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		line := []byte(strings.Repeat(" ", 1<<20))
		for {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	_, err := Connect(t.Context(), HTTP(Address{URL: server.URL}), Config{Name: "web"})
	assert.That(t, kindOfError(err) == tool.Unavailable, "%v", err)
}

func TestConfirmationWorksOverHTTP(t *testing.T) {
	s := newShelf()
	session := connect(t, HTTP(Address{URL: serveHTTP(t, s, true, nil).URL}), Config{Own: true})
	_, err := toolNamed(t, session, "remove").Call(t.Context(), tool.Call{Key: "k", Version: 3,
		Confirmation: confirmationOf(t, "{}", 3)})
	assert.That(t, err == nil && s.removed == 1, "%v, removed %d", err, s.removed)
}
