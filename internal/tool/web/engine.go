package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"sibyl/internal/tool"
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
	agent   string
	timeout time.Duration
}

func newSearcher(cfg Config, e engine) *searcher {
	client := &http.Client{Transport: newTransport(&net.Dialer{Timeout: connectTimeout, Resolver: cfg.Resolver})}
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error { return e.follow(req.URL, len(via)) }
	return &searcher{engine: e, client: client, agent: cfg.UserAgent, timeout: cfg.Timeout}
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
	req.Header.Set("User-Agent", s.agent)
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

// keyed is what the engines with a key have in common.
type keyed struct {
	setting string // its name in the settings
	label   string // its name for people
	base    *url.URL
	ask     func(ctx context.Context) (string, error)
}

func newKeyed(cfg Config, label, usual string) (k keyed, ok bool) {
	k = keyed{setting: cfg.Engine, label: label, ask: cfg.Key, base: searchBase(cmp.Or(cfg.BaseURL, usual))}
	return k, k.ask != nil && k.base != nil
}

func (k keyed) place() string { return k.label + " at " + k.base.Host }

func (k keyed) key(ctx context.Context) (string, error) {
	key, err := k.ask(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", tool.Errorf(tool.Unavailable, k.keyHint(), "the key for %s cannot be read: %w", k.label, err)
	}
	switch key = strings.TrimSpace(key); {
	case key == "":
		return "", tool.Errorf(tool.Unavailable, k.keyHint(), "there is no key for %s", k.label)
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }):
		return "", tool.Errorf(tool.Unavailable, k.keyHint(), "the key for %s holds a character that no key has, perhaps a line break", k.label)
	}
	return key, nil
}

func (k keyed) keyHint() string {
	return fmt.Sprintf("‘sibyl config set-key %s’ stores one", k.setting)
}

func (k keyed) follow(*url.URL, int) error {
	return tool.Errorf(tool.Denied, "check the address it is asked at", "%s redirects elsewhere, where the key is not sent", k.label)
}

// refusal says what an HTTP status other than success means, and what helps; nil is success.
func (k keyed) refusal(resp *http.Response) error {
	const another = ", or choose another engine with web.engine"
	code := resp.StatusCode
	switch {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return k.wrongKey(code)
	case code == http.StatusTooManyRequests:
		return tool.Errorf(tool.Unavailable, waitHint(resp.Header), "%s has had too many requests with this key (HTTP 429)", k.label)
	case code == http.StatusPaymentRequired, code == 432, code == 433: // the last two are Tavily's own
		return tool.Errorf(tool.Unavailable, "see the account at "+k.label+another, "the plan of the key for %s is used up (HTTP %d)", k.label, code)
	case code == http.StatusBadRequest, code == http.StatusUnprocessableEntity:
		return tool.Errorf(tool.InvalidArgs, "use a few keywords", "%s does not take this search (HTTP %d)", k.label, code)
	}
	return tool.Errorf(tool.Unavailable, "try again later"+another, "%s failed (HTTP %d)", k.label, code)
}

func (k keyed) wrongKey(code int) error {
	return tool.Errorf(tool.Unavailable, "check the key for "+k.setting+"; "+k.keyHint(), "%s does not accept the key (HTTP %d)", k.label, code)
}

// decode reads a response's JSON.
func (k keyed) decode(resp *http.Response, into any) error {
	body, err := readBody(resp, maxSearchBytes)
	if err != nil {
		return err
	}
	if json.Unmarshal(body, into) != nil {
		return k.unreadable()
	}
	return nil
}

func (k keyed) unreadable() error {
	return tool.Errorf(tool.Failed, "try again later, or choose another engine with web.engine", "the answer of %s cannot be read", k.label)
}

// waitHint says how long to wait, by Retry-After or, as Brave has it, by the fullest of several windows: the headers
// X-RateLimit-Remaining and X-RateLimit-Reset list a number for each.
func waitHint(header http.Header) string {
	if header.Get("Retry-After") != "" {
		return retryHint(header)
	}
	wait := 0
	resets := strings.Split(header.Get("X-RateLimit-Reset"), ",")
	for i, left := range strings.Split(header.Get("X-RateLimit-Remaining"), ",") {
		if strings.TrimSpace(left) != "0" || i >= len(resets) {
			continue
		}
		if seconds, err := strconv.Atoi(strings.TrimSpace(resets[i])); err == nil {
			wait = max(wait, seconds)
		}
	}
	if wait == 0 {
		return retryHint(header)
	}
	return fmt.Sprintf("it asks to wait %d seconds", wait)
}

// plainText is a piece of HTML without its markup.
func plainText(source string) string {
	var text strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(source))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		if kind == html.TextToken {
			text.Write(tokens.Text())
		}
	}
	return text.String()
}
