// Package web holds the tools that reach the public web: web_search, over one engine that the person has chosen, and
// web_fetch, which reads one page as text. The engine is a SearXNG server that the person runs or names, or, with a key
// of theirs, Brave Search or Tavily; which of them it is changes neither the tool's arguments nor its result.
//
// Guarantees:
//   - web_fetch connects to public addresses only. The dialer checks the resolved address of every connection: a name
//     that resolves differently a second time, or a redirect, can't bypass it. If a lookup fails, or an address can't
//     be checked, the call is refused.
//   - web_search connects only to the origin of its engine, wherever that is, and follows no redirect away from it. For
//     an engine with a key it follows no redirect at all, so that the key is sent nowhere else.
//   - The key is read before every search. No error and no result shows it, even if the engine echoes it.
//   - No cookies, no credentials but those of the engine, no proxy from the environment, no state between calls.
//   - A call waits no longer than Config.Timeout or its context, and reads at most Config.MaxBytes, before and after
//     decompression. Converting a page costs time and memory in proportion to that bound, whatever the page holds.
//   - What a server sent is only used as text of a result. Error messages hold no more of it than a media type or a
//     host.
package web

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"time"

	"sibyl/internal/tool"
)

// Config sets up the web tools. Its zero value offers web_fetch with the defaults.
type Config struct {
	Engine   string        // of web_search: SearXNG, Brave or Tavily; "": SearXNG if it has an address, else none
	SearXNG  string        // base address of a SearXNG server, for the engine of that name
	BaseURL  string        // of Brave or Tavily, instead of the default
	Timeout  time.Duration // of one whole call; 0 is DefaultTimeout
	MaxBytes int64         // of one response body; 0 is DefaultMaxBytes
	Allow    []string      // hosts whose pages may be opened, with the hosts below them; nil: all
	Deny     []string      // hosts whose pages may not be opened, whatever Allow says
	Ports    []uint16      // of pages; nil: 80, 443, 8080 and 8443

	// Key returns the key of the Engine, if that is Brave or Tavily. Its errors are shown, and must not hold the key.
	Key func(ctx context.Context) (string, error)

	// PlainHTTP are hosts of engines that may get the key, or the user and password, over plain HTTP, besides this
	// machine: see package cleartext.
	PlainHTTP []string

	// AllowAddr returns true for addresses that are exempt from the rules of address and port; nil: none is. It exists
	// for tests with a loopback server.
	AllowAddr func(netip.AddrPort) bool

	// Resolver looks names up; nil is the system's.
	Resolver *net.Resolver
}

// The engines of web_search.
const (
	SearXNG = "searxng"
	Brave   = "brave"
	Tavily  = "tavily"
)

// The defaults of a Config.
const (
	DefaultTimeout        = 20 * time.Second
	DefaultMaxBytes int64 = 5 << 20
)

// userAgent is how requests introduce themselves.
const userAgent = "Sibyl (a personal assistant, reading this page for one person)"

// Web makes the web tools. It is safe for concurrent use.
type Web struct {
	guard  *guard
	fetch  *fetcher
	search *searcher // nil if no engine is set up
}

// New makes the tools. It makes no connection.
func New(cfg Config) *Web {
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.Ports == nil {
		cfg.Ports = []uint16{80, 443, 8080, 8443}
	}
	g := newGuard(cfg)
	return &Web{guard: g, fetch: &fetcher{newGuardedClient(g, cfg.Resolver, cfg), cfg}, search: newSearcher(cfg)}
}

// Check returns why web_fetch would refuse every address, or nil. It makes no connection.
func (w *Web) Check() error {
	_, err := w.guard.neighbours()
	return err
}

// Tools returns web_fetch and, if an engine is set up, web_search.
func (w *Web) Tools() []tool.Tool {
	tools := []tool.Tool{w.fetch.fetchTool()}
	if w.search != nil {
		tools = append(tools, w.search.searchTool())
	}
	return tools
}

// searchBase parses the configured address of an engine; nil if it is no web address.
func searchBase(raw string) *url.URL {
	base, err := url.Parse(raw)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" {
		return nil
	}
	base.RawQuery, base.Fragment = "", ""
	return base
}
