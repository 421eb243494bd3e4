package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/bt"
	"sibyl/internal/config"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
	"sibyl/internal/tool/mcpclient"
)

// How long a server may take to start, and how long the first question waits for that. One that takes longer is there
// for a later one.
const (
	serverStart    = time.Minute
	serverPatience = 10 * time.Second
)

// serverPause is the delay before a failed server is retried.
const serverPause = time.Minute

// servers are the MCP servers of others, opened once for all runs of this process, when the first of them asks for
// tools. One that can't be opened is left out, and tried again for a later run.
type servers struct {
	open  func(ctx context.Context, name string) (*mcpclient.Session, error)
	names []string
	log   *slog.Logger

	life   context.Context // of all that is opened
	end    context.CancelFunc
	under  sync.WaitGroup
	mu     sync.Mutex
	closed bool
	all    map[string]*serverState
}

// serverState is the state of a server. Either session or err is set once it was opened.
type serverState struct {
	session *mcpclient.Session
	left    []mcpclient.Left // of its tools
	err     error
	opening chan struct{} // closed when the current attempt to open it ends; nil: there is none
	again   time.Time
}

func newServers(names []string, open func(ctx context.Context, name string) (*mcpclient.Session, error)) *servers {
	s := &servers{open: open, names: names, log: slog.New(slog.DiscardHandler), all: map[string]*serverState{}}
	s.life, s.end = context.WithCancel(context.Background())
	for _, name := range names {
		s.all[name] = &serverState{}
	}
	return s
}

// tools returns the available tools. It waits, within bounds, for servers that are opened for the first time.
func (s *servers) tools(ctx context.Context) (all []tool.Tool) {
	if len(s.names) == 0 {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	for _, first := range s.startOpening() {
		select {
		case <-first:
		case <-waiting.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[string]bool{}
	for _, name := range s.names {
		one := s.all[name]
		if one.session == nil {
			continue
		}
		one.left = one.session.Left()
		for _, t := range one.session.Tools() {
			called := t.Spec().Name
			if seen[called] { // "a" with "b__c", and "a__b" with "c"
				one.left = append(one.left, mcpclient.Left{Tool: called, Why: sharedName})
				continue
			}
			seen[called] = true
			all = append(all, t)
		}
	}
	return all
}

// sharedName says why a tool is left out whose name a server before it has.
const sharedName = "another server has a tool with this name"

// startOpening opens the servers that are closed and may be tried. It returns channels that close when those opened for
// the first time are done.
func (s *servers) startOpening() (first []chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.names {
		one := s.all[name]
		if one.session != nil && one.session.Changed() {
			old := one.session
			one.session, one.err = nil, mcpclient.ErrChanged
			s.under.Go(old.Close)
		}
		if one.session == nil && one.opening == nil && !s.closed && !time.Now().Before(one.again) {
			one.opening = make(chan struct{})
			s.under.Go(func() { s.openOne(name, one) })
		}
		if one.opening != nil && one.again.IsZero() {
			first = append(first, one.opening)
		}
	}
	return first
}

func (s *servers) openOne(name string, one *serverState) {
	session, err := s.open(s.life, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	close(one.opening)
	one.opening = nil
	if s.closed && session != nil {
		session.Close()
		return
	}
	one.session, one.err = session, err
	if err != nil {
		one.again = time.Now().Add(serverPause)
		s.log.Warn("an MCP server is left out", "server", name, "why", openingReason(err).Template(), "again_in",
			serverPause.String())
	}
}

// openingReason says why a server can't be used, without the detailed texts, which ‘sibyl mcp servers’ shows to its
// operator.
func openingReason(err error) bt.Reason {
	switch kind := tool.AsError(err).Kind; {
	case errors.Is(err, mcpclient.ErrChanged):
		return oracle.ServerChanged
	case kind == tool.Timeout:
		return oracle.ServerLate
	case kind == tool.Unavailable:
		return oracle.ServerSilent
	}
	return oracle.ServerUnusable
}

// leftOut says, in words for every user, why servers have no tools for now.
func (s *servers) leftOut() (all []bt.Why) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.names {
		switch one := s.all[name]; {
		case one.session != nil && len(one.left) > 0:
			const most = 3
			var spelt []string
			for _, l := range one.left[:min(len(one.left), most)] {
				spelt = append(spelt, l.Spelt()+" ("+l.Why+")")
			}
			if more := len(one.left) - most; more > 0 {
				spelt = append(spelt, fmt.Sprintf("and %d more", more))
			}
			all = append(all, oracle.ServerToolsLeft.With(name, strings.Join(spelt, ", ")))
		case one.session != nil:
		case one.err != nil:
			all = append(all, oracle.ServerFailed.With(name, openingReason(one.err).With()))
		case one.opening != nil:
			all = append(all, oracle.ServerStarts.With(name))
		}
	}
	return all
}

// close ends all servers. No run may use them afterwards.
func (s *servers) close() {
	s.end()
	s.mu.Lock()
	s.closed = true
	for _, one := range s.all {
		if one.session != nil {
			s.under.Go(one.session.Close)
		}
	}
	s.mu.Unlock()
	s.under.Wait()
}

// pins returns what is trusted of the servers.
func (a *App) pins() mcpclient.Pins {
	return mcpclient.Pins{Folder: a.Config.MCP.Trusted, Now: time.Now}
}

// openServer connects to a server of the settings. admit decides on its listing.
func (a *App) openServer(
	ctx context.Context, name string, admit func(context.Context, mcpclient.Listing) error,
) (*mcpclient.Session, error) {
	one := a.Config.MCP.Servers[name]
	transport, err := a.transport(name, one)
	if err != nil {
		return nil, err
	}
	return mcpclient.Connect(ctx, transport, mcpclient.Config{Name: name, Prefix: name + "__", Source: tool.Server,
		Foreign: true, Private: one.Private, Allow: one.Tools, Version: a.options.Build,
		Start: serverStart, Timeout: one.Timeout, Admit: admit, Log: a.log})
}

func (a *App) transport(name string, one config.MCPServer) (mcp.Transport, error) {
	if one.URL != "" {
		return mcpclient.HTTP(mcpclient.Address{URL: one.URL, Header: one.Header, PlainHTTP: a.Config.PlainHTTP,
			Key: func(ctx context.Context) (string, error) { return a.secrets.key(ctx, config.MCPKeyName(name)) }}), nil
	}
	if len(one.Variables) > 0 {
		return nil, tool.Errorf(tool.Unavailable, "set it, or take it out of env in the settings",
			"%s is to be given %s, which is not set", name, strings.Join(one.Variables, ", "))
	}
	environ := map[string]string{}
	for variable, text := range one.Environ {
		environ[variable] = text.Reveal()
	}
	return mcpclient.Stdio(mcpclient.Program{Command: one.Command, Environ: mcpclient.Environ(environ),
		Folder: one.Folder}), nil
}

// MCPServer describes a server of the settings.
type MCPServer struct {
	Name    string    `json:"name"`
	State   string    `json:"state"`           // "ready", "changed", "unavailable"
	Why     string    `json:"why,omitempty"`   // it is not ready
	Tools   []MCPTool `json:"tools,omitempty"` // all that it lists
	Hash    string    `json:"hash,omitempty"`  // of all that it lists
	Pinned  string    `json:"pinned,omitempty"`
	Since   time.Time `json:"since,omitzero"` // when it was trusted
	Changes string    `json:"changes,omitempty"`

	called []string // what its tools are called here
}

// leaveOut says of a tool why it is left out: the last of those with its name.
func (s *MCPServer) leaveOut(l mcpclient.Left) {
	for i, t := range slices.Backward(s.Tools) {
		if t.Name == l.Tool && t.Why == "" {
			s.Tools[i].Why = l.Why
			return
		}
	}
	s.Tools = append(s.Tools, MCPTool{Name: l.Tool, Allowed: true, Why: l.Why})
}

// MCPTool describes a tool of a server.
type MCPTool struct {
	Name    string `json:"name"` // as the server spells it
	Does    string `json:"does"` // to the world, as the server says
	Allowed bool   `json:"allowed"`
	Why     string `json:"why,omitempty"` // it is left out
}

// The states of a server.
const (
	ServerReady       = "ready"
	ServerChanged     = "changed"
	ServerUnavailable = "unavailable"
)

// MCPServers requests the listings of all servers in the settings. A server's first use makes it trusted.
func (a *App) MCPServers(ctx context.Context) []MCPServer {
	names := slices.Sorted(maps.Keys(a.Config.MCP.Servers))
	all := make([]MCPServer, len(names))
	var under sync.WaitGroup
	for i, name := range names {
		under.Go(func() { all[i] = a.mcpServer(ctx, name) })
	}
	under.Wait()
	seen := map[string]bool{}
	for i := range all {
		for _, called := range all[i].called {
			if seen[called] {
				all[i].leaveOut(mcpclient.Left{Tool: called, Why: sharedName})
			}
			seen[called] = true
		}
	}
	return all
}

func (a *App) mcpServer(ctx context.Context, name string) MCPServer {
	settings := a.Config.MCP.Servers[name]
	var listing mcpclient.Listing
	admit := a.pins().Admit(name, settings.Pin)
	session, err := a.openServer(ctx, name, func(ctx context.Context, l mcpclient.Listing) error {
		listing = l
		return admit(ctx, l)
	})
	if session != nil {
		defer session.Close()
	}
	told := MCPServer{Name: name, State: ServerReady, Pinned: settings.Pin}
	pin, pinErr := a.pins().Read(name)
	if settings.Pin == "" {
		told.Pinned, told.Since = pin.Hash, pin.At
	}
	if listing != nil {
		told.Hash = listing.Hash()
	}
	for _, o := range listing {
		told.Tools = append(told.Tools, MCPTool{Name: o.Name, Does: mcpclient.HintsInWords(o.Hints),
			Allowed: settings.Tools == nil || slices.Contains(settings.Tools, o.Name)})
	}
	if session != nil {
		for _, l := range session.Left() {
			told.leaveOut(l)
		}
		for _, t := range session.Tools() {
			told.called = append(told.called, t.Spec().Name)
		}
	}
	switch {
	case errors.Is(err, mcpclient.ErrChanged):
		told.State = ServerChanged
		if pinErr == nil {
			told.Changes = mcpclient.Diff(pin.Listing, listing)
		}
	case err != nil:
		told.State = ServerUnavailable
	}
	if err != nil {
		told.Why = a.Redact(err.Error())
	}
	return told
}

// ErrNoServer reports that the settings name no such server.
var ErrNoServer = errors.New("the settings name no such MCP server")

// TrustMCPServer accepts a server's listing if it has this hash, or any if hash is empty. It returns the changes since
// it was trusted; "" if there are none, or it never was.
func (a *App) TrustMCPServer(ctx context.Context, name, hash string) (changes string, err error) {
	settings, known := a.Config.MCP.Servers[name]
	switch {
	case !known:
		return "", fmt.Errorf("%w%s", ErrNoServer,
			config.DidYouMean(name, slices.Collect(maps.Keys(a.Config.MCP.Servers))))
	case settings.Pin != "":
		return "", fmt.Errorf("its tools are pinned in the settings: change mcp.servers.%s.pin, or take it out", name)
	}
	pin, pinErr := a.pins().Read(name)
	session, err := a.openServer(ctx, name, func(_ context.Context, l mcpclient.Listing) error {
		if hash != "" && hash != l.Hash() {
			return fmt.Errorf("it lists %s, which is not what you accept: nothing is changed", l.Hash())
		}
		if pinErr == nil {
			changes = mcpclient.Diff(pin.Listing, l)
		}
		return a.pins().Trust(name, l)
	})
	if err != nil {
		return "", errors.New(a.Redact(err.Error()))
	}
	session.Close()
	return changes, nil
}
