// Package api is the HTTP API. It parses and renders: the use cases are in service, users and tokens in user.
//
// Guarantees:
//   - A bearer token in the header Authorization, or the cookie of a browser that signed in, identifies the user; an
//     address never does. What belongs to another user gets exactly the answer of an id that never existed.
//   - GET, HEAD and replays change nothing and need the scope read; everything else needs the scope write.
//   - A request that no token in a header vouches for is refused if a page of another site or port made it. Names by
//     which this server is not known are refused, so that no foreign name can be pointed at it.
//   - Whatever goes wrong is a Problem (RFC 9457) with a kind and, where there is one, a hint. A bad request is 400. No
//     answer repeats what was sent, and no log has words, queries or secrets.
//   - What one user or address can use up is bounded: bodies, time to send and to read, requests, runs at once, wrong
//     tokens. So is the memory that the bounds themselves take.
//   - A file that is added to a session of the Council goes to the disk as it arrives, and is there whole or not at
//     all.
//   - The routes of the Council and the Inquiry tell no path of this machine.
//   - A run outlives the request that began it.
//   - A stream of events can be continued after any event with an id, in any process, with nothing lost or sent twice.
//     A client that does not read is dropped, and holds up nobody.
//   - The OpenAPI description is made from the registered routes and their types, so it is never out of date.
package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/mcp"
	"sibyl/internal/media/document"
	"sibyl/internal/server/user"
	"sibyl/internal/service"
	"sibyl/internal/task"
)

// Users identifies users: the part of user.Service that is needed here.
type Users interface {
	// Check returns the live bearer or cookie of a secret; user.ErrUnknown for anything else.
	Check(ctx context.Context, secret string) (user.Token, error)
	// SignIn uses up the secret of a sign-in token, and returns a cookie with its secret; user.ErrUnknown.
	SignIn(ctx context.Context, once string) (user.Token, string, error)
	// SignOut ends the cookie of a secret; user.ErrUnknown.
	SignOut(ctx context.Context, secret string) error
}

// Config is what a Server is made of.
type Config struct {
	Service *service.Service
	Users   Users
	Folders func(user string) map[string]string // the folders that a user may name, with their paths; nil: none
	MCP     *mcp.HTTP                           // the tools at /mcp; nil: none
	Council *council.Deps                       // nil: no routes of the Council
	Notes   *Notes                              // nil: no routes of what was written into notes
	Tasks   *task.Service                       // the task list, as people see it; nil: no routes of it
	// AddAudio takes a file into a session of the Council; nil: as its desk does.
	AddAudio  func(ctx context.Context, session, label string, content io.Reader) (session.Added, error)
	Inquiry   *inquiry.Desk // nil: no routes of the Inquiry
	Operation *Operation    // nil: no routes of how the server works
	Setup     *Setup        // nil: no routes of the settings
	// Sources reads the documents of a folder, for whoever checks what was cited of them; nil: none can be.
	Sources func(ctx context.Context, folder string) (func(name string) (record.Source, error), error)
	// Documents reads the documents that are sent to be asked about; nil: none can be sent.
	Documents *document.Reader
	Presets   func(ctx context.Context) (Presets, error) // that a question may name; nil: there are none

	Build string
	// closed when this process stops driving runs: streams end, so that clients continue elsewhere; nil: never
	Leaving <-chan struct{}
	Lag     func(time.Duration) // gets the delay of each record that a stream sends; nil: nothing does

	Origins []string       // by which this server may be reached besides loopback, such as https://sibyl.example.org
	Proxies []netip.Prefix // whose headers X-Forwarded-For, -Host and -Proto are trusted
	Limits  Limits

	Ready   func(ctx context.Context) error // says why no requests should come now; nil: they may
	Metrics http.Handler                    // nil: none
	Log     *slog.Logger                    // nil: none
	Now     func() time.Time                // nil: the time of day
}

// Limits bound what a user, an address or a request can use up. Zero fields have usual values.
type Limits struct {
	Requests float64 // of a user in a second, on average; 20
	Burst    int     // of a user at once; 60
	Bytes    int     // of a user's bodies in a minute; 4 MiB, and at least Body and Texts
	Runs     int     // of a user, neither ended nor resting; 8
	Wrong    int     // wrong tokens from an address in a minute; 20

	// answers of whole sessions and explanations for a user at once, each in memory until it is read; 2
	Whole    int
	AllWhole int           // of this process at once; 8
	Turn     time.Duration // to wait for a turn among these; 10 s

	Streams    int           // of a user at once; 32
	AllStreams int           // of this process at once; 4096
	Stall      time.Duration // for a client to take a part of a stream, of some KiB; 10 s
	Beat       time.Duration // between signs of life on a stream, and looks whether its token is still good; 15 s
	Undriven   time.Duration // for a whole answer of a run that nobody drives; 10 s

	Body int64 // bytes of one body; 64 KiB
	// bytes of a body in which the texts of documents and pictures may be; 2 MiB, or Body where that is set
	Texts int64
	// bytes of a file that is added to a session of the Council, which count as those of bodies; 512 MiB
	Upload   int64
	Evidence int64         // bytes of an evidence page that is verified, which count as those of bodies; 4 MiB
	Read     time.Duration // for a body to arrive, and a second for each 128 KiB that are announced; 10 s
	Write    time.Duration // for an answer to be read, once it begins; 30 s
}

func (l Limits) complete() Limits {
	l.Requests, l.Burst, l.Runs, l.Wrong = cmp.Or(l.Requests, 20), cmp.Or(l.Burst, 60), cmp.Or(l.Runs, 8),
		cmp.Or(l.Wrong, 20)
	l.Texts = cmp.Or(l.Texts, l.Body, 2<<20)
	l.Body, l.Upload = cmp.Or(l.Body, 64<<10), cmp.Or(l.Upload, 512<<20)
	l.Bytes = max(cmp.Or(l.Bytes, 4<<20), int(l.Body), int(l.Texts))
	l.Evidence = cmp.Or(l.Evidence, 4<<20)
	l.Whole, l.AllWhole, l.Turn = cmp.Or(l.Whole, 2), cmp.Or(l.AllWhole, 8), cmp.Or(l.Turn, 10*time.Second)
	l.Streams, l.AllStreams = cmp.Or(l.Streams, 32), cmp.Or(l.AllStreams, 4096)
	l.Stall, l.Beat, l.Undriven = cmp.Or(l.Stall, 10*time.Second), cmp.Or(l.Beat, 15*time.Second),
		cmp.Or(l.Undriven, 10*time.Second)
	l.Read, l.Write = cmp.Or(l.Read, 10*time.Second), cmp.Or(l.Write, 30*time.Second)
	return l
}

// Server answers requests. It listens to nothing by itself.
type Server struct {
	config  Config
	mux     *http.ServeMux
	api     huma.API
	people  *table[journal.Owner, *person]
	wrong   *table[netip.Prefix, *allowance]
	forgery *http.CrossOriginProtection
	origins []*url.URL

	whole   chan struct{} // holds a token for each answer of whole sessions and explanations
	streams chan struct{} // holds a token for each that is open
	lasting chan struct{} // the same for other requests that last

	// the OpenAPI description, made when it is first asked for
	description, descriptionYAML func() ([]byte, error)
}

// New makes a Server with all its routes.
func New(c Config) (*Server, error) {
	if c.Service == nil || c.Users == nil {
		return nil, fmt.Errorf("an API wants a service and users")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Folders == nil {
		c.Folders = func(string) map[string]string { return nil }
	}
	if c.Sources == nil {
		c.Sources = func(context.Context, string) (func(string) (record.Source, error), error) {
			return nil, errors.New("nothing reads documents")
		}
	}
	if c.Ready == nil {
		c.Ready = func(context.Context) error { return nil }
	}
	c.Limits = c.Limits.complete()
	s := &Server{config: c, mux: http.NewServeMux(), forgery: http.NewCrossOriginProtection()}
	for _, origin := range c.Origins {
		u, err := url.Parse(origin)
		if err != nil {
			return nil, fmt.Errorf("an origin of the server: %w", err)
		}
		s.origins = append(s.origins, u)
	}
	// Browsers say nothing but the origin over plain HTTP, and a proxy may not pass the name on.
	if !slices.ContainsFunc(s.origins, func(u *url.URL) bool { return u.Scheme == "https" }) {
		for _, u := range s.origins {
			if err := s.forgery.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
				return nil, fmt.Errorf("an origin of the server: %w", err)
			}
		}
	}
	s.whole, s.streams = make(chan struct{}, c.Limits.AllWhole), make(chan struct{}, c.Limits.AllStreams)
	s.lasting = make(chan struct{}, c.Limits.AllStreams)
	s.people = newTable(mostPeople, func(journal.Owner) *person { return newPerson(c.Limits) })
	s.wrong = newTable(mostAddresses, func(netip.Prefix) *allowance {
		return newAllowance(float64(c.Limits.Wrong)/60, c.Limits.Wrong)
	})
	s.api = newAPI(s)
	s.accountRoutes()
	s.sessionRoutes()
	s.runRoutes()
	s.replayRoutes()
	s.streamRoutes()
	s.askRoutes()
	if s.config.Documents != nil {
		s.documentRoute()
	}
	if s.config.Council != nil {
		s.dictationRoute()
	}
	s.chatRoutes()
	s.taskRoutes()
	s.writeRoutes()
	s.councilRoutes()
	s.inquiryRoutes()
	s.operationRoutes()
	s.setupRoutes()
	s.mcpRoutes()
	if err := s.describe(); err != nil {
		return nil, err
	}
	return s, s.plainRoutes()
}

// Handler answers every request.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// describe completes the description of the registered routes. Requests are checked by the same schemas, so nothing
// changes them later; only writing them as text waits until somebody asks.
func (s *Server) describe() error {
	s.describeEvents()
	if err := s.describeOptions(); err != nil {
		return err
	}
	doc := s.api.OpenAPI()
	tidyDescription(doc)
	s.description = sync.OnceValues(func() ([]byte, error) {
		text, err := encodeForFile(doc, true)
		return []byte(text), err
	})
	s.descriptionYAML = sync.OnceValues(doc.YAML)
	return nil
}

// mostConnections bounds those that are open at once: each takes memory, some 20 KiB, and a file of the process before
// anybody is known.
const mostConnections = 8192

// HTTPServer makes a server of a handler. It bounds the time for headers, bodies and silence, the size of headers, and
// the number of open connections. A route bounds the time of its own answer: some have no end.
func HTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            10 * time.Second,
		ReadTimeout:                  30 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               16 << 10,
		DisableGeneralOptionsHandler: true,
		ConnState:                    atMost(mostConnections),
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// atMost makes a hook that closes each new connection beyond a number of open ones.
func atMost(connections int64) func(net.Conn, http.ConnState) {
	var open atomic.Int64
	return func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if open.Add(1) > connections {
				_ = c.Close() // which calls this again, with the state closed
			}
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
}
