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

// mcpRoutes registers the routes of the Model Context Protocol. There is no GET: this server sends nothing but answers,
// and clients know what that means.
func (s *Server) mcpRoutes() {
	if s.config.MCP == nil {
		return
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		s.mux.HandleFunc(method+" "+mcpPath, s.serveMCP)
	}
}

// serveMCP answers a message of the Model Context Protocol. The answer may be a stream, which lasts as long as its
// client reads and its token is good.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	x := infoOf(r.Context())
	release, p := s.admitMessage(w, r, x)
	if p != nil {
		refuse(w, p)
		return
	}
	defer release()
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	over := s.watchAccess(r.WithContext(ctx), leave)
	defer func() { leave(); <-over }()
	w.Header().Set("X-Accel-Buffering", "no") // a proxy that buffers would hold back events
	s.config.MCP.Serve(&timedWriter{w, s.config.Limits.Stall}, r.WithContext(ctx), x.token)
}

// admitMessage checks a message, reads its body into memory and counts it as a stream, or says why it is refused. It
// refuses pages of other sites whatever token they send, as the protocol demands, and takes no cookies: clients are
// programs.
func (s *Server) admitMessage(w http.ResponseWriter, r *http.Request, x *requestInfo) (release func(), p *Problem) {
	if s.isFromAnotherSite(r) {
		return nil, crossSite("Connect with a program, not from a page.")
	}
	if r.Header["Authorization"] == nil {
		return nil, noToken()
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

// watchAccess calls leave when the user's token ends, or when this process drives no run any more. over is closed once
// the watch has ended.
func (s *Server) watchAccess(r *http.Request, leave func()) (over <-chan struct{}) {
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

// timedWriter is an answer whose client has to read each part in time, however long the next part takes to come.
type timedWriter struct {
	http.ResponseWriter
	stall time.Duration
}

// Unwrap is for http.ResponseController.
func (b *timedWriter) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (b *timedWriter) WriteHeader(status int) {
	b.ResponseWriter.WriteHeader(status)
	_ = http.NewResponseController(b.ResponseWriter).SetWriteDeadline(time.Time{}) // it stands before each write
}

func (b *timedWriter) Write(p []byte) (n int, err error) {
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

// Begin calls do, which begins a run, if the user may have one more running run: for runs that no route of the API
// begins. A refusal is an *mcp.Fault.
func (s *Server) Begin(ctx context.Context, owner journal.Owner, do func() error) error {
	err := s.withRoomForRun(ctx, owner, do)
	if p, ok := errors.AsType[*Problem](err); ok {
		return &mcp.Fault{Code: mcp.Unavailable, Text: p.Detail + " " + p.Hint, Details: map[string]any{"kind": p.Kind}}
	}
	return err
}
