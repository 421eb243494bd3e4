// Package web holds the tools that reach the public web: web_search, over one engine that the person has chosen, and
// web_fetch, which reads one page as text. The engine is a SearXNG server that the person runs or names, or, with a key
// of theirs, Brave Search or Tavily; which of them it is changes neither the tool's arguments nor its result.
//
// Guarantees:
//   - web_fetch connects to public addresses only. The check is made on the resolved address, by the dialer, for every
//     connection: a name that resolves differently a second time, or a redirect, cannot get round it. A failed lookup
//     or an address that cannot be judged is a refusal.
//   - web_search connects only to the origin of its engine, wherever that is, and follows no redirect away from it. An
//     engine with a key gets no redirect followed at all, so that the key goes nowhere else.
//   - The key is asked for before every search. No error and no result shows it, should the engine echo it.
//   - No cookies, no credentials but those of the engine, no proxy from the environment, no state between calls.
//   - A call waits no longer than Config.Timeout or its context, and reads at most Config.MaxBytes, before and after
//     decompression. Converting a page costs time and memory in proportion to that bound, whatever the page holds.
//   - What a server sent is only ever text of a result. Error messages hold no more of it than a media type or a host.
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
	Engine   string        // of web_search: SearXNG, Brave or Tavily; "" is SearXNG where it has an address, else none
	SearXNG  string        // base address of a SearXNG server, for the engine of that name
	BaseURL  string        // of Brave or Tavily, in the place of the usual one
	Timeout  time.Duration // of one whole call; 0 is DefaultTimeout
	MaxBytes int64         // of one response body; 0 is DefaultMaxBytes
	Allow    []string      // hosts of which, with all below them, pages are opened; nil: all
	Deny     []string      // hosts of which none are, whatever Allow says
	Ports    []uint16      // that pages may be fetched from; nil is 80, 443, 8080 and 8443

	// Key returns the key of the Engine, if that is Brave or Tavily. Its errors are shown, and must not hold the key.
	Key func(ctx context.Context) (string, error)

	// PlainHTTP are hosts of engines that may get the key, or the user and password, over plain HTTP, beside this
	// machine: see package cleartext.
	PlainHTTP []string

	// AllowAddr exempts the addresses it returns true for from every rule of address and port. nil exempts none.
	// It exists for tests against a loopback server.
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

// What a zero Config stands for.
const (
	DefaultTimeout        = 20 * time.Second
	DefaultMaxBytes int64 = 5 << 20
)

// userAgent is how requests introduce themselves.
const userAgent = "Sibyl (a personal assistant, reading this page for one person)"

// Web makes the web tools. It is safe for concurrent use.
type Web struct {
	fetch  *fetcher
	search *searcher // nil where no engine is set up
}

// New sets the tools up. It makes no connection.
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
	return &Web{fetch: &fetcher{newGuardedClient(newGuard(cfg), cfg.Resolver, cfg), cfg}, search: newSearcher(cfg)}
}

// Tools lists what can be offered: web_fetch always, web_search where an engine is set up.
func (w *Web) Tools() []tool.Tool {
	tools := []tool.Tool{w.fetch.fetchTool()}
	if w.search != nil {
		tools = append(tools, w.search.searchTool())
	}
	return tools
}

// searchBase reads the configured address of an engine; nil unless it is one of the web.
func searchBase(raw string) *url.URL {
	base, err := url.Parse(raw)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" {
		return nil
	}
	base.RawQuery, base.Fragment = "", ""
	return base
}
