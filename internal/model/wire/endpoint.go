// Package wire is what the adapters share that ask a provider over HTTP: everything about an exchange that is not its
// protocol's own. Only adapters import it.
//
// An adapter makes an Endpoint of its Config and its Protocol, opens an Exchange for each Chat or List, and takes the
// answer from its Lines or Events. In return it keeps these guarantees:
//   - Ownership: an Exchange belongs to the goroutine that opened it, which closes it. After Close no request, timer or
//     goroutine of it is left. An Endpoint is safe for concurrent use and holds nothing of any request.
//   - Time: everything that waits ends with the caller's context, after Timeout, and, once the first line of a stream has
//     come, after a silence of Idle. The time that a receiver takes counts as no silence.
//   - Bounds: an answer and each line of it hold at most MaxAnswer bytes, an answer calls at most MaxCalls tools, and of
//     a failed request's body at most 64 KB are read.
//   - Secrets: a redirect is never followed, so that neither the key nor the conversation goes anywhere but to the base
//     URL. No error holds the key or more of the base URL than its host and path; a provider's words are cut to one line
//     of 500 bytes.
//   - Errors: every error is a *model.Error, and the same event has the same Kind whichever protocol it came over. A
//     request that broke after its caller withdrew it is Cancelled, whatever broke it.
//   - Nothing is retried, and nothing is read from the environment but the proxy settings of net/http.
package wire

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// How long a whole request may take where Config.Timeout is zero. A local model may have to be loaded first.
const (
	cloudTimeout = 120 * time.Second
	localTimeout = 360 * time.Second
)

// Config is what the adapters' own Configs have in common, which say what each field means. It has the fields of most of
// them in their order, so that such a one can be converted.
type Config struct {
	Provider   string
	Model      string
	BaseURL    string // empty: Protocol.DefaultURL
	Key        func(ctx context.Context) (string, error)
	Local      bool
	Timeout    time.Duration // zero: 120 s, or 360 s for a local model
	Idle       time.Duration // zero: silence is bounded by Timeout alone
	HTTPClient *http.Client  // nil: one with connections of its own, on the proxy of http.DefaultTransport unless Local
}

// Protocol is what an adapter's protocol has of its own in every exchange. A field that may be empty says so.
type Protocol struct {
	DefaultURL string                   // the base URL where none is set; empty: one has to be
	ExampleURL string                   // a base URL to show, "https://host.example/v1"; needed only without DefaultURL
	URLForm    string                   // what a base URL looks like: "http://host/v1 or https://host/v1"
	URLHint    string                   // how to tell a right base URL from a wrong one: "most end in /v1"
	URLPath    func(path string) string // completes the path of a base URL; nil: it stays as it is
	Start      string                   // what to do where nothing answers; empty: "is the server running there?"

	Accept    string                               // the media type of a streamed answer
	Authorize func(header http.Header, key string) // puts the key in its place

	CallID string // begins the ids of calls to which the provider gave none; empty: "call_"
}

// Bearer is the usual Protocol.Authorize.
func Bearer(header http.Header, key string) { header.Set("Authorization", "Bearer "+key) }

// Endpoint is one model of one provider, and the way to it.
type Endpoint struct {
	id       string
	base     *url.URL
	baseErr  error
	key      func(context.Context) (string, error)
	local    bool
	timeout  time.Duration
	idle     time.Duration
	client   *http.Client
	protocol Protocol
}

// New returns the endpoint that c describes. It sends nothing; a wrong base URL is reported by Open.
func New(c Config, p Protocol) *Endpoint {
	p.Start = cmp.Or(p.Start, "is the server running there?")
	p.CallID = cmp.Or(p.CallID, "call_")
	e := &Endpoint{
		id:       c.Provider + ":" + c.Model,
		key:      c.Key,
		local:    c.Local,
		timeout:  c.Timeout,
		idle:     c.Idle,
		client:   client(c),
		protocol: p,
	}
	if e.timeout == 0 {
		e.timeout = cloudTimeout
		if c.Local {
			e.timeout = localTimeout
		}
	}
	e.base, e.baseErr = baseURL(c.Provider, cmp.Or(c.BaseURL, p.DefaultURL), p)
	return e
}

func client(c Config) *http.Client {
	own := http.Client{}
	if c.HTTPClient != nil {
		own = *c.HTTPClient
	} else if shared, ok := http.DefaultTransport.(*http.Transport); ok {
		transport := shared.Clone()
		if c.Local {
			transport.Proxy = nil
		}
		own.Transport = transport
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

func baseURL(provider, text string, p Protocol) (*url.URL, error) {
	if text == "" {
		return nil, fmt.Errorf("no base URL is set for %q, for example %s", provider, p.ExampleURL)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		// The text is not repeated: it may hold a password.
		return nil, fmt.Errorf("the base URL of %q is not of the form %s", provider, p.URLForm)
	}
	if p.URLPath != nil {
		u.Path = p.URLPath(u.Path)
	}
	return u, nil
}

// ID is the stamp "provider:model".
func (e *Endpoint) ID() string { return e.id }

// Local is what the Config promised.
func (e *Endpoint) Local() bool { return e.local }

// BaseURL returns the base URL, its path completed, for a client of a provider's own. The error says what is wrong with
// it and is the one that Open reports.
func (e *Endpoint) BaseURL() (string, error) {
	if e.baseErr != nil {
		return "", e.baseErr
	}
	return e.base.String(), nil
}

// Client returns the HTTP client that follows no redirect, for a client of a provider's own.
func (e *Endpoint) Client() *http.Client { return e.client }

// Close closes the connections that wait for another request. The Endpoint can still be used.
func (e *Endpoint) Close() { e.client.CloseIdleConnections() }
