// Package mcpclient makes the tools of an MCP server available to an assistant.
//
// Guarantees:
//   - A server's list of tools is read once, when a Session is connected. Models and people see only that: a server
//     that lists something else later is not called any more.
//   - A call ends with its context, and its server is told so. Its text and data are bounded, pictures and files are
//     named, not inlined.
//   - If a server can't be reached, its calls are Unavailable, and nothing else fails. The next call connects again, at
//     growing intervals.
//   - No write to a stranger's server is sent twice.
//   - Only our own server ever gets a yes, and only for the call that the person has confirmed.
//   - No error holds a header, an environment or an argument.
package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/tool"
)

// Config says what a server is, and how to treat its tools.
type Config struct {
	Name    string      // of the server, for people
	Prefix  string      // before the names of its tools
	Source  tool.Source // of the tools' results
	Foreign bool        // its results were written by strangers
	Private bool        // of a foreign server: the person has allowed it to get private data
	Allow   []string    // the tools to use, by their names on the server; nil: all
	Version string      // of this program, which the server gets

	// Own says that the server is this program's own: it performs a write once for each key, knows versions, and asks
	// for confirmation of a digest (tool.ConfirmationDigest). Only an own server's questions are answered.
	Own bool

	Start   time.Duration // how long connecting may take; 0: 30 s
	Timeout time.Duration // of a call; 0: 30 s
	// Admit checks the whole list of a server's tools; after an error the server is not used. Nil: all are admitted.
	Admit func(ctx context.Context, l Listing) error
	Log   *slog.Logger // nil: nothing is logged
}

// How often connecting to a lost server is tried.
const (
	firstPause     = time.Second
	maxPause       = time.Minute
	defaultTimeout = 30 * time.Second
)

// Session is a connected server with its tools. It is safe for concurrent use.
type Session struct {
	cfg       Config
	transport mcp.Transport
	client    *mcp.Client
	listing   Listing
	tools     []tool.Tool
	left      []Left
	lifetime  context.Context // ends when the Session is closed
	end       context.CancelFunc

	connecting chan struct{} // holds a value while a call connects
	mu         sync.Mutex
	link       *mcp.ClientSession // nil: not connected
	changed    bool               // it lists other tools than before
	pause      time.Duration      // of the last failure to connect
	nextTry    time.Time          // when connecting may be tried again
}

// Connect connects to a server and lists its tools. If the transport can connect several times, as those of this
// package can, the Session connects again after the connection was lost. Errors are *tool.Error.
func Connect(ctx context.Context, t mcp.Transport, cfg Config) (*Session, error) {
	cfg.Start, cfg.Timeout = cmp.Or(cfg.Start, defaultTimeout), cmp.Or(cfg.Timeout, defaultTimeout)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Session{cfg: cfg, transport: t, connecting: make(chan struct{}, 1)}
	s.lifetime, s.end = context.WithCancel(context.Background())
	o := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}, Logger: slog.New(slog.DiscardHandler)}
	if cfg.Own {
		o.ElicitationHandler = answerElicitation
	}
	s.client = mcp.NewClient(&mcp.Implementation{Name: "sibyl", Title: "Sibyl", Version: cfg.Version}, o)
	link, listing, err := s.connectAndList(ctx)
	if err == nil && cfg.Admit != nil {
		err = cfg.Admit(ctx, listing)
	}
	s.link = link
	if err != nil {
		s.Close()
		return nil, s.toolError(err)
	}
	s.listing = listing
	s.tools = s.makeTools(listing)
	return s, nil
}

// Left is a tool that its server lists and nobody can call, and why.
type Left struct{ Tool, Why string }

// Spelt returns the tool's name in letters, digits, _ and -.
func (l Left) Spelt() string { return safeName(l.Tool) }

// Left returns the tools that are left out, of those that are allowed.
func (s *Session) Left() []Left { return slices.Clone(s.left) }

// Tools returns the server's allowed tools, sorted by name.
func (s *Session) Tools() []tool.Tool { return slices.Clone(s.tools) }

// Changed says whether the server lists other tools than when it was first connected. Then its calls fail.
func (s *Session) Changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Close ends the connection, and returns when everything that was started has ended: a command has four seconds for
// that at most. Running calls fail.
func (s *Session) Close() {
	s.end()
	s.connecting <- struct{}{} // wait for a call that connects: it gives up
	defer func() { <-s.connecting }()
	s.mu.Lock()
	link := s.link
	s.mu.Unlock()
	s.dropLink(link)
	if t, ok := s.transport.(interface{ release() }); ok {
		t.release()
	}
}

// handshakeVersion is the newest protocol version that begins with a handshake.
const handshakeVersion = "2025-11-25"

// connectAndList connects, and lists the tools. The newest protocol begins with a request that some older servers don't
// answer at all, or end at; after a third of the time, or such an end, it connects again with the older protocol. A
// command is given all the time, since it may start slowly: its silence is answered on the connection.
func (s *Session) connectAndList(ctx context.Context) (*mcp.ClientSession, Listing, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Start)
	defer cancel()
	stop := context.AfterFunc(s.lifetime, cancel)
	defer stop()
	first, cancelFirst := ctx, func() {}
	if _, command := s.transport.(*stdio); !command {
		first, cancelFirst = context.WithTimeout(ctx, s.cfg.Start/3)
	}
	defer cancelFirst()
	link, listing, err := s.connectWith(first, nil)
	_, told := errors.AsType[*tool.Error](err)
	_, never := errors.AsType[notStarted](err)
	if err != nil && !told && !never && ctx.Err() == nil {
		return s.connectWith(ctx, &mcp.ClientSessionOptions{ProtocolVersion: handshakeVersion})
	}
	return link, listing, err
}

// connectWith connects with one protocol. The SDK's wait for a server that reads nothing does not end with the context,
// so the connection is closed when ctx ends.
func (s *Session) connectWith(ctx context.Context, o *mcp.ClientSessionOptions) (*mcp.ClientSession, Listing, error) {
	conn, err := s.transport.Connect(ctx)
	if err != nil {
		return nil, nil, notStarted{err}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	link, err := s.client.Connect(ctx, openConnection{conn}, o)
	if err != nil {
		_ = conn.Close() // the first error is the one to report
		return nil, nil, cmp.Or(ctx.Err(), err)
	}
	listing, err := listTools(ctx, link)
	if err != nil {
		_ = link.Close() // likewise
		return nil, nil, cmp.Or(ctx.Err(), err)
	}
	return link, listing, nil
}

// notStarted is the error of a connection that was not made: the older protocol would not help.
type notStarted struct{ error }

func (n notStarted) Unwrap() error { return n.error }

// openConnection is a transport that returns an open connection.
type openConnection struct{ conn mcp.Connection }

// Connect implements mcp.Transport.
func (c openConnection) Connect(context.Context) (mcp.Connection, error) { return c.conn, nil }

// dropLink closes a connection, and forgets it; nil is none.
func (s *Session) dropLink(link *mcp.ClientSession) {
	s.mu.Lock()
	if s.link == link {
		s.link = nil
	}
	s.mu.Unlock()
	if link != nil {
		_ = link.Close() // it does not matter how the server ends
	}
}

// ensureLink returns the connection, and connects if there is none.
func (s *Session) ensureLink(ctx context.Context) (*mcp.ClientSession, error) {
	if link, err := s.currentLink(); link != nil || err != nil {
		return link, err
	}
	select {
	case s.connecting <- struct{}{}:
		defer func() { <-s.connecting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if link, err := s.currentLink(); link != nil || err != nil { // another call has connected
		return link, err
	}
	if wait := time.Until(s.nextTry); wait > 0 {
		return nil, tool.Errorf(tool.Unavailable, fmt.Sprintf("it is tried again in %s",
			max(wait.Round(time.Second), time.Second)), "%s is away", s.cfg.Name)
	}
	link, listing, err := s.connectAndList(ctx)
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) { // a caller's cancelling says nothing about the server
			s.pause = min(max(2*s.pause, firstPause), maxPause)
			s.nextTry = time.Now().Add(s.pause)
		}
		return nil, err
	}
	s.mu.Lock()
	s.pause = 0
	s.link = link
	s.changed = listing.Hash() != s.listing.Hash()
	s.mu.Unlock()
	if s.Changed() {
		s.dropLink(link)
	}
	return s.currentLink()
}

// currentLink returns the connection, nil if there is none; the error says why there can't be one.
func (s *Session) currentLink() (*mcp.ClientSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.lifetime.Err() != nil:
		return nil, tool.Errorf(tool.Unavailable, "", "the connection to %s was closed", s.cfg.Name)
	case s.changed:
		return nil, tool.Errorf(tool.Unavailable, "",
			"%s lists other tools than before, so none of them is called", s.cfg.Name)
	}
	return s.link, nil
}

// listTools reads all tools of a server, sorted by name. Those that are left out have the reason.
func listTools(ctx context.Context, link *mcp.ClientSession) (Listing, error) {
	caps := link.InitializeResult().Capabilities
	declared := caps != nil && caps.Tools != nil
	var l Listing
	for t, err := range link.Tools(ctx, nil) {
		if err != nil && !declared && ctx.Err() == nil {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(l) == maxTools {
			return nil, tool.Errorf(tool.TooLarge, "", "the server lists more than %d tools", maxTools)
		}
		o, err := offerOf(t)
		if err != nil {
			return nil, err
		}
		l = append(l, o)
	}
	if len(l) == 0 && !declared {
		return nil, tool.Errorf(tool.Unavailable, "", "the server has no tools")
	}
	slices.SortStableFunc(l, func(a, b Offer) int { return strings.Compare(a.Name, b.Name) })
	return l, nil
}
