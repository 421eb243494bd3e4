package web

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"sibyl/internal/tool"
)

// searx is a SearXNG server. Credentials of its own it gets by its address.
type searx struct{ base *url.URL }

func (s searx) place() string { return "the SearXNG server at " + s.base.Host }

func (s searx) key(context.Context) (string, error) { return "", nil }

func (s searx) follow(to *url.URL, hops int) error {
	if to.Scheme != s.base.Scheme || to.Host != s.base.Host {
		return tool.Errorf(tool.Denied, "set web.searxng to the address the server really has",
			"the SearXNG server redirects to another origin, %s://%s", to.Scheme, to.Host)
	}
	if hops > maxRedirects {
		return tool.Errorf(tool.Failed, "", "the SearXNG server redirects more than %d times", maxRedirects)
	}
	return nil
}

func (s searx) request(ctx context.Context, args searchArgs, _ string) (*http.Request, error) {
	query := url.Values{"q": {args.Query}, "format": {"json"}}
	if args.TimeRange != "" {
		query.Set("time_range", args.TimeRange)
	}
	target := s.base.JoinPath("search")
	target.RawQuery = query.Encode()
	return http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
}

// searxAnswer is the part of SearXNG's JSON that is used.
type searxAnswer struct {
	Results []struct {
		URL       string `json:"url"`
		Title     string `json:"title"`
		Content   string `json:"content"`
		Engine    string `json:"engine"`
		Published string `json:"publishedDate"`
	} `json:"results"`
	Silent [][]string `json:"unresponsive_engines"` // pairs of engine and reason
}

func (s searx) read(resp *http.Response) (findings, error) {
	var found findings
	if err := checkSearxStatus(resp); err != nil {
		return found, err
	}
	body, err := readBody(resp, maxSearchBytes)
	if err != nil {
		return found, err
	}
	var answer searxAnswer
	if err := json.Unmarshal(body, &answer); err != nil {
		return found, tool.Errorf(tool.Failed, "check that web.searxng leads to a SearXNG server", "the search server's JSON cannot be read")
	}
	for _, pair := range answer.Silent {
		found.silent = append(found.silent, strings.Join(pair, ": "))
	}
	for _, r := range answer.Results {
		found.hits = append(found.hits, SearchResult{
			Title: r.Title, URL: r.URL, Snippet: r.Content, Engine: r.Engine, Published: r.Published,
		})
	}
	return found, nil
}

// checkSearxStatus knows the ways in which a SearXNG server says no, and what its owner can do about each.
func checkSearxStatus(resp *http.Response) error {
	const enableJSON = "in its settings.yml, add json to the formats under search, and restart it"
	code := resp.StatusCode
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case code == http.StatusForbidden:
		return tool.Errorf(tool.Unavailable, enableJSON, "the SearXNG server refuses to answer in JSON (HTTP 403)")
	case code == http.StatusUnauthorized:
		return tool.Errorf(tool.Unavailable, "put user and password into SIBYL_SEARXNG_URL", "the SearXNG server asks for a password (HTTP 401)")
	case code == http.StatusTooManyRequests:
		return tool.Errorf(tool.Unavailable, retryHint(resp.Header)+"; if the server is yours, its limiter blocks this program",
			"the SearXNG server has had too many requests (HTTP 429)")
	case code == http.StatusNotFound:
		return tool.Errorf(tool.Unavailable, "check the path in web.searxng; /search is added to it", "there is no SearXNG server at this address (HTTP 404)")
	case code < 200 || code >= 300:
		return tool.Errorf(tool.Unavailable, "try again later", "the SearXNG server failed (HTTP %d)", code)
	case media != "application/json":
		return tool.Errorf(tool.Unavailable, "check that web.searxng leads to a SearXNG server; if it does, "+enableJSON,
			"the search server answered with something else than JSON")
	}
	return nil
}
