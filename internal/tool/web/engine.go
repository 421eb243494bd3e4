package web

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sibyl/internal/cleartext"
)

// maxSearchBytes bounds an engine's answer.
const maxSearchBytes = 2 << 20

// engine is a way to search the web: how it is asked, and how its answer is read.
type engine interface {
	// place names the engine and its host, for people.
	place() string

	// key returns what the engine wants to be asked with, "" if nothing.
	key(ctx context.Context) (string, error)

	request(ctx context.Context, args searchArgs, key string) (*http.Request, error)

	// follow says why a redirect to this address, the hops-th, is not followed, or nil.
	follow(to *url.URL, hops int) error

	// read takes the hits out of a response, or says why there are none. It need not clean their text.
	read(resp *http.Response) (findings, error)
}

// findings is what an engine found, best first, as it was sent.
type findings struct {
	hits   []SearchResult
	silent []string // engines behind the engine that did not answer
}

// without is f with the key cut out of every text.
func (f findings) without(key string) findings {
	if key == "" {
		return f
	}
	cut := func(text string) string { return strings.ReplaceAll(text, key, "[key]") }
	for i, hit := range f.hits {
		f.hits[i] = SearchResult{
			Title: cut(hit.Title), URL: cut(hit.URL), Snippet: cut(hit.Snippet), Engine: cut(hit.Engine), Published: cut(hit.Published),
		}
	}
	return f
}

// newEngine makes the engine that cfg chooses; nil if there is none, or what it needs is missing.
func newEngine(cfg Config) engine {
	switch cfg.Engine {
	case "", SearXNG:
		if base := searchBase(cfg.SearXNG); base != nil {
			return searx{base}
		}
	case Brave:
		if k, ok := newKeyed(cfg, "Brave Search", "https://api.search.brave.com"); ok {
			return brave{k}
		}
	case Tavily:
		if k, ok := newKeyed(cfg, "Tavily", "https://api.tavily.com"); ok {
			return tavily{k}
		}
	}
	return nil
}

// searcher is web_search over an engine.
type searcher struct {
	engine  engine
	client  *http.Client
	timeout time.Duration
	may     func(*url.URL) error // whether a page may be opened
}

func newSearcher(cfg Config, e engine) *searcher {
	client := &http.Client{Transport: newTransport(&net.Dialer{Timeout: connectTimeout, Resolver: cfg.Resolver})}
	client.Transport = cleartext.Transport(client.Transport, cfg.PlainHTTP)
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error { return e.follow(req.URL, len(via)) }
	return &searcher{engine: e, client: client, timeout: cfg.Timeout, may: cfg.checkPage}
}

func (s *searcher) ask(ctx context.Context, args searchArgs) (findings, error) {
	key, err := s.engine.key(ctx)
	if err != nil {
		return findings{}, err
	}
	req, err := s.engine.request(ctx, args, key)
	if err != nil {
		return findings{}, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := s.client.Do(req)
	if err != nil {
		return findings{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	found, err := s.engine.read(resp)
	return found.without(key), err
}
