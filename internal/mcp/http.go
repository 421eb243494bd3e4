package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/server/user"
)

// HTTPConfig configures an HTTP.
type HTTPConfig struct {
	// Server makes a server for an owner, whose sessions get their ids from sessionID. It is called once for many
	// requests.
	Server func(owner string, sessionID func() string) *sdk.Server
	Key    []byte // as that of Config

	Sessions int           // of an owner at once; 0: 32
	Idle     time.Duration // after which a session ends; 0: 30 min
}

// HTTP answers requests of streamable HTTP at one address, in every revision of the protocol: since 2026-07-28 each
// request stands by itself, and before it belongs to a session, which is in the memory of this process. Sessions are
// their owner's: to others they do not exist. Who asks was found out before, and how large a request may be.
type HTTP struct {
	config              HTTPConfig
	sessions, stateless http.Handler

	mu      sync.Mutex
	servers map[string]*sdk.Server // by owner
	calls   calls
}

// HTTP returns the server over HTTP.
func (s *Server) HTTP() *HTTP {
	return NewHTTP(HTTPConfig{Key: s.config.Key,
		Server: func(owner string, sessionID func() string) *sdk.Server { return s.server(owner, "", sessionID) }})
}

// NewHTTP creates an HTTP.
func NewHTTP(c HTTPConfig) *HTTP {
	c.Sessions, c.Idle = cmp.Or(c.Sessions, 32), cmp.Or(c.Idle, 30*time.Minute)
	h := &HTTP{config: c, servers: map[string]*sdk.Server{},
		calls: calls{of: map[string]map[*context.CancelFunc]bool{}}}
	known := func(stateless bool) http.Handler {
		// Hosts and origins are looked at before, by names that the settings have. It has no log: what it writes holds
		// words of clients.
		inner := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
			return h.serverOf(auth.TokenInfoFromContext(r.Context()).UserID)
		},
			&sdk.StreamableHTTPOptions{Stateless: stateless, SessionTimeout: c.Idle, DisableLocalhostProtection: true,
				PropagateRequestCancellation: true,
				MaxRequestBodyBytes:          -1})
		return auth.RequireBearerToken(tokenOf, nil)(inner)
	}
	h.sessions, h.stateless = known(false), known(true)
	return h
}

type tokenKey struct{}

// tokenOf returns the token that was already verified.
func tokenOf(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	who, ok := ctx.Value(tokenKey{}).(user.Token)
	if !ok {
		return nil, errors.New("nobody has found out who asks")
	}
	scopes := []string{string(user.Read)}
	if who.Scope.Allows(user.Write) {
		scopes = append(scopes, string(user.Write))
	}
	// Whether it has expired was looked at with the clock of the database.
	return &auth.TokenInfo{UserID: who.User, Scopes: scopes, Expiration: time.Now().Add(time.Hour)}, nil
}

// mostServers limits the cached servers of owners without sessions.
const mostServers = 1024

// serverOf returns an owner's server.
func (h *HTTP) serverOf(owner string) *sdk.Server {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.servers[owner]; s != nil {
		return s
	}
	if len(h.servers) >= mostServers {
		for other, s := range h.servers {
			if sessionsOf(s) == 0 {
				delete(h.servers, other)
			}
		}
	}
	s := h.config.Server(owner, func() string {
		fresh := rand.Text()
		return fresh + "-" + h.tag(owner, fresh)
	})
	s.AddReceivingMiddleware(h.calls.trackCalls)
	h.servers[owner] = s
	return s
}

func sessionsOf(s *sdk.Server) (n int) {
	for range s.Sessions() {
		n++
	}
	return n
}

// tag returns the part of a session's id that identifies its owner.
func (h *HTTP) tag(owner, fresh string) string {
	return hex.EncodeToString(sign(h.config.Key, "session", owner, fresh)[:16])
}

// The headers of the protocol that are read here.
const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
)

// Serve answers a user's request, whose body is in memory. Methods are POST and DELETE.
func (h *HTTP) Serve(w http.ResponseWriter, r *http.Request, who user.Token) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "the body can't be read", http.StatusBadRequest)
		return
	}
	if text := bytes.TrimLeft(body, " \t\r\n"); len(text) > 0 && text[0] == '[' {
		http.Error(w, "batches are not taken: send one message with each request", http.StatusBadRequest)
		return
	}
	if !who.Scope.Allows(user.Write) && isAnswer(body) {
		http.Error(w, "the token may only read, and confirms nothing", http.StatusForbidden)
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), tokenKey{}, who))
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.Header.Get(versionHeader) >= multiRoundTrip {
		h.stateless.ServeHTTP(w, r)
		return
	}
	id := r.Header.Get(sessionHeader)
	fresh, tag, _ := strings.Cut(id, "-")
	switch {
	case id != "" && !hmac.Equal([]byte(tag), []byte(h.tag(who.User, fresh))):
		http.Error(w, "session not found", http.StatusNotFound) // as of one that has ended
	case id == "" && sessionsOf(h.serverOf(who.User)) >= h.config.Sessions:
		w.Header().Set("Retry-After", "60")
		http.Error(w, fmt.Sprintf("you have %d sessions open: end one with DELETE, or wait until one ends",
			h.config.Sessions), http.StatusTooManyRequests)
	default:
		if r.Method == http.MethodDelete && id != "" {
			h.calls.withdraw(id) // the session's end waits for its calls
		}
		h.sessions.ServeHTTP(w, r)
	}
}

// isAnswer reports whether a message answers a question of this server.
func isAnswer(body []byte) bool {
	var m struct {
		Method *string
		Result json.RawMessage
	}
	return json.Unmarshal(body, &m) == nil && m.Method == nil && m.Result != nil
}

// Close ends all sessions. No request may be served afterwards.
func (h *HTTP) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.servers {
		for session := range s.Sessions() {
			h.calls.withdraw(session.ID())
		}
		for session := range s.Sessions() {
			_ = session.Close() // it ends, whatever its client does
		}
	}
	clear(h.servers)
}

// withdrawOnDone withdraws the calls of a server when ctx is done: the SDK would wait for them.
func withdrawOnDone(ctx context.Context) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(call context.Context, method string, req sdk.Request) (sdk.Result, error) {
			call, cancel := context.WithCancel(call)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			return next(call, method, req)
		}
	}
}

// calls are the active calls, by the ids of their sessions.
type calls struct {
	mu sync.Mutex
	of map[string]map[*context.CancelFunc]bool
}

// trackCalls tracks the calls of a session so that they can be withdrawn together.
func (c *calls) trackCalls(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		id := req.GetSession().ID()
		c.mu.Lock()
		if c.of[id] == nil {
			c.of[id] = map[*context.CancelFunc]bool{}
		}
		c.of[id][&cancel] = true
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if delete(c.of[id], &cancel); len(c.of[id]) == 0 {
				delete(c.of, id)
			}
		}()
		return next(ctx, method, req)
	}
}

// withdraw withdraws the calls of a session.
func (c *calls) withdraw(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cancel := range c.of[id] {
		(*cancel)()
	}
}
