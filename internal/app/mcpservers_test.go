package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
	"sibyl/internal/tool/mcpclient"
)

// tracker is a server of others. Tools are what it lists.
func tracker(tools ...string) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "tracker", Version: "1"}, nil)
	for _, name := range tools {
		server.AddTool(&mcp.Tool{Name: name, Description: "does " + name,
			InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done " + name}}}, nil
			})
	}
	return server
}

// changing serves over HTTP what it is set to, to those who have the key.
func changing(t *testing.T, key string) (set func(*mcp.Server), url string) {
	t.Helper()
	var current atomic.Pointer[mcp.Server]
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		return current.Load()
	}, &mcp.StreamableHTTPOptions{Stateless: true})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer "+key {
			http.Error(w, "no such key: "+got, http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return current.Store, server.URL
}

func toolNames(t *testing.T, a *App) (names []string) {
	t.Helper()
	set, give, err := a.Tools(t.Context(), oracle.Env{})
	assert.NoError(t, err)
	defer give()
	for _, s := range set.Specs() {
		if s.Source == tool.Server {
			names = append(names, s.Name)
		}
	}
	return names
}

const trackerKey = "canary-0123456789"

// leftOut are the sentences on the servers whose tools are left out.
func leftOut(s *servers) string {
	var all []string
	for _, why := range s.leftOut() {
		all = append(all, why.Text)
	}
	return strings.Join(all, "\n")
}

func TestServerThatFailsLeavesTheOthersAndSaysWhyWithoutItsKey(t *testing.T) {
	set, url := changing(t, trackerKey)
	set(tracker("search"))
	a := prepared(t, "mcp: {servers: {tracker: {url: '"+url+"', key_env: KEY}, locked: {url: '"+url+
		"', key_env: WRONG}, keyless: {url: '"+url+"', key_env: NOWHERE},\n"+
		" none: {command: [/nowhere/at-all]}, bare: {command: [x], env: [NOT_SET]}}}", "KEY="+trackerKey,
		"WRONG=wrong-canary-987654321")
	defer a.servers.close()
	got := toolNames(t, a)
	assert.That(t, slices.Equal(got, []string{"tracker__search"}), "%v", got)
	left := leftOut(a.servers)
	assert.Contains(t, "what is left out", left,
		"of locked are left out: it does not answer. ‘sibyl mcp servers’ says more.",
		"of none are left out", "of keyless are left out", "of bare are left out")
	told := a.MCPServers(t.Context())
	why := told[0].Why
	assert.That(t, told[0].Name == "bare" && strings.Contains(why, "NOT_SET, which is not set"), "told %+v", told[0])
	for _, one := range told {
		assert.That(t, one.State == ServerReady == (one.Name == "tracker") && !strings.Contains(one.Why, "canary"),
			"told %+v", one)
	}
	assert.That(t, !strings.Contains(left, "canary") && !strings.Contains(left, "nowhere") &&
		!strings.Contains(left, url) && strings.Count(left, "\n") == 3, "left out: %s", left)
}

func TestServerWhoseToolsChangeIsRefusedUntilItIsTrusted(t *testing.T) {
	set, url := changing(t, trackerKey)
	set(tracker("search"))
	file := "mcp: {servers: {tracker: {url: '" + url + "', key_env: KEY}}}"
	a := prepared(t, file, "KEY="+trackerKey)
	defer a.servers.close()
	toolNames(t, a)
	set(tracker("search", "purge"))
	next := &App{Config: a.Config, secrets: a.secrets} // another process
	state := next.MCPServers(t.Context())
	assert.Require(t, len(state) == 1 && state[0].State == ServerChanged &&
		strings.Contains(state[0].Changes, "+purge (only reads, reaches outside)") && state[0].Pinned != state[0].Hash,
		"%+v", state)
	again := newServers([]string{"tracker"}, func(ctx context.Context, name string) (*mcpclient.Session, error) {
		return next.openServer(ctx, name, next.pins().Admit(name, ""))
	})
	defer again.close()
	tools := again.tools(t.Context())
	assert.That(t, len(tools) == 0 && strings.Contains(leftOut(again), "have changed since they were trusted"),
		"%d tools, left out %v", len(tools), again.leftOut())
	_, err := next.TrustMCPServer(t.Context(), "tracker", state[0].Pinned)
	assert.That(t, err != nil, "another hash than it has was accepted")
	changes, err := next.TrustMCPServer(t.Context(), "tracker", state[0].Hash)
	assert.That(t, err == nil && changes == state[0].Changes, "%q, %v", changes, err)
	state = next.MCPServers(t.Context())
	assert.That(t, state[0].State == ServerReady && !state[0].Since.IsZero() && len(state[0].Tools) == 2,
		"after it was trusted: %+v", state)
	_, err = next.TrustMCPServer(t.Context(), "trakcer", "")
	assert.That(t, errors.Is(err, ErrNoServer) && strings.Contains(err.Error(), "did you mean tracker?"), "%v", err)
}

func TestSlowServerIsWaitedForOnceAndThereLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opens := 0
		s := newServers([]string{"slow"}, func(ctx context.Context, name string) (*mcpclient.Session, error) {
			opens++
			time.Sleep(30 * time.Second)
			return mcpclient.Connect(ctx, mcpclient.InProcess(tracker("search")), mcpclient.Config{Name: name})
		})
		began := time.Now()
		if tools := s.tools(t.Context()); len(tools) > 0 || time.Since(began) != serverPatience ||
			!strings.Contains(leftOut(s), "not started yet") {
			t.Errorf("%d tools after %s, left out %v", len(tools), time.Since(began), s.leftOut())
		}
		time.Sleep(time.Minute)
		if tools := s.tools(t.Context()); len(tools) != 1 || opens != 1 || len(s.leftOut()) > 0 {
			t.Errorf("%d tools, opened %d times, left out %v", len(tools), opens, s.leftOut())
		}
		s.close()
		synctest.Wait()
	})
}

func TestServerThatFailsIsTriedAgainAfterAPauseAndKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opens, broken := 0, true
		s := newServers([]string{"bad"}, func(ctx context.Context, name string) (*mcpclient.Session, error) {
			opens++
			time.Sleep(3 * time.Second)
			if broken {
				return nil, errors.New("it has a bad day")
			}
			return mcpclient.Connect(ctx, mcpclient.InProcess(tracker("search")), mcpclient.Config{Name: name})
		})
		s.tools(t.Context())
		for range 100 {
			began := time.Now()
			s.tools(t.Context())
			assert.Require(t, time.Since(began) == 0, "a later question waited %s", time.Since(began))
			time.Sleep(time.Second)
		}
		assert.That(t, opens == 2, "opened %d times in 100 s", opens)
		broken = false
		time.Sleep(serverPause)
		s.tools(t.Context())
		time.Sleep(10 * time.Second)
		tools := s.tools(t.Context())
		assert.That(t, len(tools) == 1, "it is back, with %d tools; left out %v", len(tools), s.leftOut())
		s.close()
		synctest.Wait()
	})
}

func TestEndOfTheProcessEndsAnOpeningToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServers([]string{"slow"}, func(ctx context.Context, _ string) (*mcpclient.Session, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		s.tools(t.Context())
		s.close()
		tools := s.tools(t.Context())
		assert.That(t, len(tools) == 0, "%d tools after the end", len(tools))
	})
}

func TestToolsThatServersShareOrNobodyCanCallAreLeftOutAndTold(t *testing.T) {
	s := newServers([]string{"a", "a__b"}, func(ctx context.Context, name string) (*mcpclient.Session, error) {
		return mcpclient.Connect(ctx, mcpclient.InProcess(tracker(map[string][]string{"a": {"b__c", "d"}, "a__b": {"c", "e"}}[name]...)),
			mcpclient.Config{Name: name, Prefix: name + "__", Source: tool.Server})
	})
	defer s.close()
	set := tool.NewSet(append(s.tools(t.Context()), s.tools(t.Context())...)...)
	assert.That(t, len(set.Specs()) == 3, "%d tools", len(set.Specs()))
	assert.Equal(t, leftOut(s), "Tools of a__b are left out: a__b__c (another server has a tool with this name).")
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var msg struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&msg)
		switch msg.Method {
		case "initialize":
			fmt.Fprintf(w, `{"id":%s,"result":{"capabilities":{"tools":{}}}}`, msg.ID)
		case "tools/list":
			fmt.Fprintf(w, `{"id":%s,"result":{"tools":[{"name":"twice"},{"name":"twice"},{"name":"word","inputSchema":{"type":"string"}},null]}}`,
				msg.ID)
		case "server/discover":
			w.WriteHeader(http.StatusNotFound)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer web.Close()
	a := prepared(t, "mcp: {servers: {odd: {url: '"+web.URL+"'}}}")
	defer a.servers.close()
	assert.Same(t, toolNames(t, a), []string{"odd__twice"})
	assert.Equal(t, leftOut(a.servers), "Tools of odd are left out: entry_4 (it is no tool), "+
		"twice (the server lists another with this name), word (its arguments are no object).")
	told := a.MCPServers(t.Context())
	var whys []string
	for _, one := range told[0].Tools {
		whys = append(whys, one.Name+": "+one.Why)
	}
	assert.Same(t, whys, []string{"entry_4: it is no tool", "twice: ", "twice: the server lists another with this name",
		"word: its arguments are no object"})
}
