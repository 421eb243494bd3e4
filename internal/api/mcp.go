package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/journal"
	"sibyl/internal/mcp"
)

// mcpPath is where programs reach the tools.
const mcpPath = "/mcp"

// mcpRoutes are those of the Model Context Protocol. There is no GET: this server sends nothing but answers, and
// clients know what that means.
func (s *Server) mcpRoutes() {
	if s.config.MCP == nil {
		return
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		s.mux.HandleFunc(method+" "+mcpPath, s.protocol)
	}
}

// protocol answers a message of the Model Context Protocol, as far as a stream may go: as long as its client takes it,
// and its token is good.
func (s *Server) protocol(w http.ResponseWriter, r *http.Request) {
	x := infoOf(r.Context())
	closed, p := s.meet(w, r, x)
	if p != nil {
		refuse(w, p)
		return
	}
	defer closed()
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	over := s.watchOver(r.WithContext(ctx), leave)
	defer func() { leave(); <-over }()
	w.Header().Set("X-Accel-Buffering", "no") // a proxy that gathers would hold back what is told
	s.config.MCP.Serve(&bounded{w, s.config.Limits.Stall}, r.WithContext(ctx), x.token)
}

// meet lets a message pass with its body in memory, and counts it as a stream; or says why not. Pages of other sites
// are refused whatever they show, as the protocol wants it, and cookies are not taken: clients are programs.
func (s *Server) meet(w http.ResponseWriter, r *http.Request, x *requestInfo) (closed func(), p *Problem) {
	if s.isFromAnotherSite(r) {
		return nil, newProblem(http.StatusForbidden, "cross_site", "A page of another site or port made this request.",
			"Connect with a program, not from a page.")
	}
	if r.Header["Authorization"] == nil {
		return nil, unauthorized(`Bearer realm="sibyl"`, "no_token", "The request does not say who asks.")
	}
	if p := s.identify(x, r); p != nil {
		return nil, p
	}
	if p := s.spendRequest(x); p != nil {
		return nil, p
	}
	takes := &huma.Operation{}
	if r.Method == http.MethodPost {
		takes.RequestBody = &huma.RequestBody{}
	}
	if p := s.readBody(w, r, takes); p != nil {
		return nil, p
	}
	return s.openStream(x.owner())
}

// watchOver ends a request that lasts when its token does, or when this process drives no run any more. over is closed
// when it is done.
func (s *Server) watchOver(r *http.Request, leave func()) (over <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		beat := time.NewTicker(s.config.Limits.Beat)
		defer beat.Stop()
		for {
			select {
			case <-beat.C:
				if s.lostAccess(r) == nil {
					continue
				}
			case <-s.config.Leaving:
			case <-r.Context().Done():
			}
			leave()
			return
		}
	}()
	return done
}

// bounded is an answer of which each part has to be taken in time, however long the next one takes to come.
type bounded struct {
	http.ResponseWriter
	stall time.Duration
}

// Unwrap is for http.ResponseController.
func (b *bounded) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (b *bounded) WriteHeader(status int) {
	b.ResponseWriter.WriteHeader(status)
	_ = http.NewResponseController(b.ResponseWriter).SetWriteDeadline(time.Time{}) // it stands before each write
}

func (b *bounded) Write(p []byte) (n int, err error) {
	out := http.NewResponseController(b.ResponseWriter)
	if err := out.SetWriteDeadline(time.Now().Add(b.stall)); err != nil {
		return 0, err
	}
	if n, err = b.ResponseWriter.Write(p); err == nil {
		err = out.Flush()
	}
	if err == nil {
		// HTTP/2 ends a stream whose deadline passes, although nothing is being written
		err = out.SetWriteDeadline(time.Time{})
	}
	return n, err
}

// Begin does what adds a run to those that a user has going, if there is room for one more: for runs that are not begun
// by a route of the API. A refusal is an *mcp.Fault.
func (s *Server) Begin(ctx context.Context, owner journal.Owner, do func() error) error {
	err := s.withRoomForRun(ctx, owner, do)
	if p, ok := errors.AsType[*Problem](err); ok {
		return &mcp.Fault{Code: mcp.Unavailable, Text: p.Detail + " " + p.Hint, Details: map[string]any{"kind": p.Kind}}
	}
	return err
}
