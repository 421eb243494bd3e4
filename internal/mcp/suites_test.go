package mcp_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/mcp"
	"sibyl/internal/server/user"
	"sibyl/internal/service"
	"sibyl/internal/store/teststore"
	"sibyl/internal/task"
)

// mostTime bounds a run of a suite.
const mostTime = 3 * time.Minute

// serve serves servers as ‘sibyl serve’ does. The suites have no token, so one is put into their requests on the way.
func serve(t *testing.T, m *mcp.HTTP) (url string) {
	t.Helper()
	users := user.New(teststore.Empty(t), time.Now)
	_, secret, err := users.Add(t.Context(), "ada", user.Write, time.Hour)
	assert.NoError(t, err)
	uses := assert.Must(service.New(service.Config{Store: teststore.Empty(t)}))(t)
	s := assert.Must(api.New(api.Config{Service: uses, Users: users, MCP: m, Limits: api.Limits{Requests: 1e6, Burst: 1e6,
		Bytes: 1 << 30}}))(t)
	inner := s.Handler()
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.HTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+secret)
		inner.ServeHTTP(w, r)
	}), slog.New(slog.DiscardHandler))
	server.Start()
	t.Cleanup(func() {
		m.Close()
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + "/mcp"
}

// suites is the folder into which npm puts the MCP project's own suites, with the Node that they need: scripts/mcp.sh
// fetches them. They are run against this project's HTTP server: its routes, checks, tokens and sessions, in both eras
// of the protocol. What they call by name is mounted by the tests alone; the tools of the product are held against what
// the suites ask of any server, and used with the inspector.
const suites = "conformance"

// suite is a version of the suites, by the folder that npm puts it into.
type suite string

const (
	first  suite = "@modelcontextprotocol/conformance" // up to 2025-11-25
	second suite = "conformance-0.2"                   // up to 2026-07-28
)

// node runs a program of npm's, and gives what it writes.
func node(t *testing.T, program string, args ...string) (out []byte, err error) {
	t.Helper()
	needs.All(t, "the suites of MCP")
	path, err := filepath.Abs(filepath.Join(suites, "node_modules/node/bin/node"))
	if err == nil {
		_, err = os.Stat(path)
	}
	assert.Require(t, err == nil, "%v: ‘sh scripts/mcp.sh --packages’ fetches the suites", err)
	ctx, cancel := context.WithTimeout(t.Context(), mostTime)
	defer cancel()
	run := exec.CommandContext(ctx, path, append([]string{filepath.Join("node_modules", filepath.FromSlash(program))},
		args...)...)
	run.Dir, run.WaitDelay = suites, time.Second
	return run.CombinedOutput()
}

// pass runs a suite, and wants nothing to fail but what is expected to.
func (s suite) pass(t *testing.T, args ...string) {
	t.Helper()
	out, err := node(t, string(s)+"/dist/index.js", append([]string{"server"}, args...)...)
	if _, summary, ok := strings.Cut(string(out), "=== SUMMARY ==="); ok {
		t.Log(summary)
	}
	assert.Require(t, err == nil, "%v: %v\n%s", args, err, out)
}

const expected = "expected-failures.yml"

func TestFixturesPassTheSuites(t *testing.T) {
	url := serve(t, mcp.NewHTTP(mcp.HTTPConfig{Server: fixture, Key: key, Sessions: 1000}))
	t.Run("0.1, 2025-11-25", func(t *testing.T) { first.pass(t, "--url", url, "--spec-version", "2025-11-25") })
	t.Run("0.2, 2025-11-25", func(t *testing.T) { second.pass(t, "--url", url, "--requirements", "2025-11-25") })
	t.Run("0.2, 2026-07-28", func(t *testing.T) {
		second.pass(t, "--url", url, "--requirements", "2026-07-28", "--expected-failures", expected)
	})
}

// What the suites ask of every server, whatever it offers.
func TestProductPassesWhatIsAskedOfAnyServer(t *testing.T) {
	s := assert.Must(mcp.New(mcp.Config{Tasks: task.New(teststore.Empty(t), time.Now, nil), Key: key}))(t)
	url := serve(t, s.HTTP())
	for scenario, revision := range map[string]string{"server-initialize": "2025-11-25", "ping": "2025-11-25",
		"server-session-lifecycle": "2025-11-25",
		"tools-list":               "2026-07-28", "dns-rebinding-protection": "2026-07-28",
		"http-header-validation": "2026-07-28"} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			second.pass(t, "--url", url, "--spec-version", revision, "--scenario", scenario)
		})
	}
}

func TestInspectorListsAndCalls(t *testing.T) {
	s := assert.Must(mcp.New(mcp.Config{Tasks: task.New(teststore.Empty(t), time.Now, nil), Key: key}))(t)
	url := serve(t, s.HTTP())
	const isError = 5 // its exit code for a result that is one
	for _, era := range []string{"legacy", "modern"} {
		for _, one := range []struct {
			args []string
			code int
			want string
		}{
			{[]string{"tools/list", "--strict"}, 0, `"add_task"`},
			{[]string{"tools/call", "--tool-name", "add_task", "--tool-arg", "title=Buy milk"}, 0, "Buy milk"},
			{[]string{"tools/call", "--tool-name", "delete_task", "--tool-arg", "task_id=1"}, isError,
				"CONFIRMATION_REQUIRED"},
		} {
			out, err := node(t, ".bin/inspector", append([]string{"--cli", url, "--transport", "http", "--protocol-era",
				era, "--method"}, one.args...)...)
			code := 0
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			assert.That(t, code == one.code && strings.Contains(string(out), one.want),
				"%s %v: exit code %d\n%s", era, one.args, code, out)
		}
	}
}
