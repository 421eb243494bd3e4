package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"sibyl/internal/keys/cleartext"
	"sibyl/internal/tool"
)

const (
	maxSearchBytes = 2 << 20 // bytes of an engine's answer
	maxBraveWords  = 50      // the limit of the Brave Search API; its limit of characters is that of searchArgs
)

// engine says how to ask a search engine, and how to read its answer.
type engine struct {
	label         string // for people
	address, path string
	post          bool // send parameters as JSON in a POST, not as a query
	fixedParams   map[string]any
	queryParam    string // names of parameters; "": not supported
	limitParam    string
	rangeParam    string
	rangeValue    func(string) string
	keyHeader     string // "": it has no key
	keyPrefix     string
	maxWords      int // of a query; 0: any number
	toText        func(string) string
}

func engines() map[string]engine {
	unchanged := func(s string) string { return s }
	return map[string]engine{
		// A SearXNG server gets its credentials in its address.
		SearXNG: {
			label: "the SearXNG server", path: "search", fixedParams: map[string]any{"format": "json"},
			queryParam: "q", rangeParam: "time_range", rangeValue: unchanged, toText: unchanged,
		},
		Brave: {
			label: "Brave Search", address: "https://api.search.brave.com", path: "res/v1/web/search",
			keyHeader: "X-Subscription-Token", queryParam: "q", limitParam: "count", maxWords: maxBraveWords, toText: textOfHTML,
			rangeParam: "freshness", rangeValue: func(s string) string { return "p" + s[:1] }, // pd, pw, pm, py
		},
		Tavily: { // its text is no HTML, so a < is meant so; only entities are left from the page
			label: "Tavily", address: "https://api.tavily.com", path: "search",
			keyHeader: "Authorization", keyPrefix: "Bearer ", post: true, queryParam: "query", limitParam: "max_results",
			rangeParam: "time_range", rangeValue: unchanged, toText: html.UnescapeString,
		},
	}
}

// searcher is the web_search tool with an engine.
type searcher struct {
	engine
	name      string // in the settings
	base      *url.URL
	key       func(ctx context.Context) (string, error) // nil: it has none
	client    *http.Client
	timeout   time.Duration
	checkPage func(*url.URL) error // refuses pages that may not be opened
}

// newSearcher makes a searcher for the engine that cfg chooses; nil if there is none, or its key or address is missing.
func newSearcher(cfg Config) *searcher {
	s := &searcher{name: cmp.Or(cfg.Engine, SearXNG), timeout: cfg.Timeout, checkPage: cfg.checkPage}
	s.engine = engines()[s.name]
	address := cfg.SearXNG
	if s.keyHeader != "" {
		s.key = cfg.Key
		address = cmp.Or(cfg.BaseURL, s.address)
	}
	s.base = searchBase(address)
	if s.label == "" || s.base == nil || s.keyHeader != "" && s.key == nil {
		return nil
	}
	transport := newTransport(&net.Dialer{Timeout: connectTimeout, Resolver: cfg.Resolver})
	s.client = &http.Client{Transport: cleartext.Transport(transport, cfg.PlainHTTP), CheckRedirect: s.checkRedirect}
	return s
}

// displayName names the engine and its host, for people.
func (s *searcher) displayName() string { return s.label + " at " + s.base.Host }

// checkRedirect refuses redirects of an engine with a key, and redirects to another origin.
func (s *searcher) checkRedirect(req *http.Request, via []*http.Request) error {
	switch to := req.URL; {
	case s.key != nil:
		return tool.Errorf(tool.Denied, "check the address it is asked at",
			"%s redirects elsewhere, where the key is not sent", s.label)
	case to.Scheme != s.base.Scheme || to.Host != s.base.Host:
		return tool.Errorf(tool.Denied, "set web.searxng to the address the server really has",
			"%s redirects to another origin, %s://%s", s.label, to.Scheme, to.Host)
	case len(via) > maxRedirects:
		return tool.Errorf(tool.Failed, "", "%s redirects more than %d times", s.label, maxRedirects)
	}
	return nil
}

// engineAnswer holds an engine's hits, the best first.
type engineAnswer struct {
	hits   []SearchResult
	silent []string // engines behind a SearXNG server that did not answer
}

// runQuery asks the engine. No part of the answer holds the key.
func (s *searcher) runQuery(ctx context.Context, args searchArgs) (engineAnswer, error) {
	key, err := s.readKey(ctx)
	if err != nil {
		return engineAnswer{}, err
	}
	req, err := s.newRequest(ctx, args)
	if err != nil {
		return engineAnswer{}, err
	}
	if s.keyHeader != "" {
		req.Header.Set(s.keyHeader, s.keyPrefix+key)
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := s.client.Do(req)
	if err != nil {
		return engineAnswer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := s.statusError(resp); err != nil {
		return engineAnswer{}, err
	}
	return s.readAnswer(resp, key)
}

func (s *searcher) readKey(ctx context.Context) (string, error) {
	if s.key == nil {
		return "", nil
	}
	key, err := s.key(ctx)
	switch key = strings.TrimSpace(key); {
	case err != nil && ctx.Err() != nil:
		return "", err
	case err != nil:
		return "", tool.Errorf(tool.Unavailable, s.keyHint(), "the key for %s cannot be read: %w", s.label, err)
	case key == "":
		return "", tool.Errorf(tool.Unavailable, s.keyHint(), "there is no key for %s", s.label)
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }):
		return "", tool.Errorf(tool.Unavailable, s.keyHint(),
			"the key for %s holds a character that no key has, perhaps a line break", s.label)
	}
	return key, nil
}

func (s *searcher) keyHint() string {
	return fmt.Sprintf("‘sibyl config set-key %s’ stores one", s.name)
}

func (s *searcher) newRequest(ctx context.Context, args searchArgs) (*http.Request, error) {
	if words := len(strings.Fields(args.Query)); s.maxWords > 0 && words > s.maxWords {
		return nil, tool.Errorf(tool.InvalidArgs, "use a few keywords", "query has %d words; %s takes at most %d",
			words, s.label, s.maxWords)
	}
	params := map[string]any{s.queryParam: args.Query}
	if s.limitParam != "" {
		params[s.limitParam] = args.Limit
	}
	if args.TimeRange != "" {
		params[s.rangeParam] = s.rangeValue(args.TimeRange)
	}
	target := s.base.JoinPath(s.path)
	if !s.post {
		query := url.Values{}
		for _, all := range []map[string]any{s.fixedParams, params} {
			for name, value := range all {
				query.Set(name, fmt.Sprint(value))
			}
		}
		target.RawQuery = query.Encode()
		return http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	}
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err == nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, err
}

// hitForm is a hit, with the names of all engines.
type hitForm struct {
	URL         string `json:"url"`
	Title       string `json:"title"`
	Content     string `json:"content"`        // of SearXNG and Tavily
	Description string `json:"description"`    // of Brave
	Engine      string `json:"engine"`         // of SearXNG: the one behind it
	Date        string `json:"publishedDate"`  // of SearXNG
	Published   string `json:"published_date"` // of Tavily
	PageAge     string `json:"page_age"`       // of Brave, “2026-01-02T03:04:05”
	Age         string `json:"age"`            // of Brave, “3 days ago”
}

// readAnswer reads the hits of a response, and removes the key from every text.
func (s *searcher) readAnswer(resp *http.Response, key string) (f engineAnswer, err error) {
	body, err := readBody(resp, maxSearchBytes)
	if err != nil {
		return f, err
	}
	var answer struct {
		Results []hitForm `json:"results"`
		Web     struct {  // of Brave; missing if nothing was found
			Results []hitForm `json:"results"`
		} `json:"web"`
		Silent any `json:"unresponsive_engines"` // of SearXNG: pairs of engine and reason
	}
	if json.Unmarshal(body, &answer) != nil || s.name == Tavily && answer.Results == nil {
		hint := "try again later, or choose another engine with web.engine"
		if s.name == SearXNG {
			hint = "check that web.searxng leads to a SearXNG server"
		}
		return f, tool.Errorf(tool.Failed, hint, "the answer of %s cannot be read", s.label)
	}
	if s.name == Brave {
		answer.Results = answer.Web.Results
	}
	withoutKey := func(text string) string {
		if key == "" {
			return text
		}
		return strings.ReplaceAll(text, key, "[key]")
	}
	for _, r := range answer.Results {
		f.hits = append(f.hits, SearchResult{
			Title:     withoutKey(s.toText(r.Title)),
			URL:       withoutKey(r.URL),
			Snippet:   withoutKey(s.toText(cmp.Or(r.Content, r.Description))),
			Published: withoutKey(cmp.Or(r.Date, r.Published, r.PageAge, r.Age)),
			Engine:    r.Engine,
		})
		if s.name != SearXNG {
			f.hits[len(f.hits)-1].Engine = s.name
		}
	}
	f.silent = silentEngines(answer.Silent)
	return f, nil
}

// silentEngines names the engines that did not answer, with the reason: pairs, or texts, or reasons by engine.
func silentEngines(told any) (all []string) {
	add := func(parts ...any) {
		var words []string
		for _, part := range parts {
			if word, is := part.(string); is && strings.TrimSpace(word) != "" {
				words = append(words, strings.TrimSpace(word))
			}
		}
		if len(words) > 0 {
			all = append(all, strings.Join(words, ": "))
		}
	}
	switch told := told.(type) {
	case []any:
		for _, one := range told {
			switch one := one.(type) {
			case []any:
				add(one...)
			case map[string]any:
				add(one["engine"], one["name"], one["error_type"], one["reason"])
			default:
				add(one)
			}
		}
	case map[string]any:
		for _, engine := range slices.Sorted(maps.Keys(told)) {
			add(engine, told[engine])
		}
	}
	return all
}

// statusError returns the error for a response without hits, and what helps; nil is success.
func (s *searcher) statusError(resp *http.Response) error {
	if s.key == nil {
		return searxStatusError(resp)
	}
	const another = ", or choose another engine with web.engine"
	code := resp.StatusCode
	switch {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusUnauthorized, code == http.StatusForbidden,
		code == http.StatusUnprocessableEntity && isTokenInvalid(resp):
		return tool.Errorf(tool.Unavailable, "check the key for "+s.name+"; "+s.keyHint(),
			"%s does not accept the key (HTTP %d)", s.label, code)
	case code == http.StatusTooManyRequests:
		return tool.Errorf(tool.Unavailable, waitHint(resp.Header),
			"%s has had too many requests with this key (HTTP 429)", s.label)
	case code == http.StatusPaymentRequired, code == 432, code == 433: // the last two are Tavily's own
		return tool.Errorf(tool.Unavailable, "see the account at "+s.label+another,
			"the plan of the key for %s is used up (HTTP %d)", s.label, code)
	case code == http.StatusBadRequest, code == http.StatusUnprocessableEntity:
		return tool.Errorf(tool.InvalidArgs, "use a few keywords",
			"%s does not take this search (HTTP %d)", s.label, code)
	}
	return tool.Errorf(tool.Unavailable, "try again later"+another, "%s failed (HTTP %d)", s.label, code)
}

// isTokenInvalid says whether Brave rejects the key; the status is the same if it rejects the search.
func isTokenInvalid(resp *http.Response) bool {
	var answer struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	body, err := readBody(resp, maxSearchBytes)
	return err == nil && json.Unmarshal(body, &answer) == nil && answer.Error.Code == "SUBSCRIPTION_TOKEN_INVALID"
}

// searxStatusError returns the error for a SearXNG server's refusal, and what its owner can do about it.
func searxStatusError(resp *http.Response) error {
	const enableJSON = "in its settings.yml, add json to the formats under search, and restart it"
	code := resp.StatusCode
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case code == http.StatusForbidden:
		return tool.Errorf(tool.Unavailable, enableJSON, "the SearXNG server refuses to answer in JSON (HTTP 403)")
	case code == http.StatusUnauthorized:
		return tool.Errorf(tool.Unavailable, "put user and password into SIBYL_SEARXNG_URL",
			"the SearXNG server asks for a password (HTTP 401)")
	case code == http.StatusTooManyRequests:
		return tool.Errorf(tool.Unavailable, retryHint(resp.Header)+
			"; if the server is yours, its limiter blocks this program",
			"the SearXNG server has had too many requests (HTTP 429)")
	case code == http.StatusNotFound:
		return tool.Errorf(tool.Unavailable, "check the path in web.searxng; /search is added to it",
			"there is no SearXNG server at this address (HTTP 404)")
	case code < 200 || code >= 300:
		return tool.Errorf(tool.Unavailable, "try again later", "the SearXNG server failed (HTTP %d)", code)
	case media != "application/json":
		return tool.Errorf(tool.Unavailable, "check that web.searxng leads to a SearXNG server; if it does, "+
			enableJSON, "the search server answered with something else than JSON")
	}
	return nil
}

// waitHint says how long to wait: by Retry-After or, for Brave, until the last of the used-up windows is reset: the
// headers X-RateLimit-Remaining and X-RateLimit-Reset list a number for each window.
func waitHint(header http.Header) string {
	wait := 0
	resets := strings.Split(header.Get("X-RateLimit-Reset"), ",")
	for i, left := range strings.Split(header.Get("X-RateLimit-Remaining"), ",") {
		if strings.TrimSpace(left) == "0" && i < len(resets) {
			if seconds, err := strconv.Atoi(strings.TrimSpace(resets[i])); err == nil {
				wait = max(wait, seconds)
			}
		}
	}
	if wait == 0 || header.Get("Retry-After") != "" {
		return retryHint(header)
	}
	return fmt.Sprintf("it asks to wait %d seconds", wait)
}

// textOfHTML returns a piece of HTML without its markup.
func textOfHTML(source string) string {
	var text strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(source))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		if kind == html.TextToken {
			text.Write(tokens.Text())
		}
	}
	return text.String()
}
