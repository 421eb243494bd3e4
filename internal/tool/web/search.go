package web

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"sibyl/internal/tool"
)

const (
	defaultLimit    = 8
	maxLimit        = 20
	maxQueryChars   = 400
	maxSnippetChars = 400
	maxSearchBytes  = 2 << 20
)

// SearchData is the structured result of web_search, best hit first.
type SearchData struct {
	Query   string         `json:"query"`
	Results []SearchResult `json:"results"`
	Silent  []string       `json:"silent,omitempty"` // engines that did not answer: the results may be incomplete
}

// SearchResult is one hit. Nobody has read the page behind it.
type SearchResult struct {
	Title     string `json:"title"`
	URL       string `json:"url"`
	Snippet   string `json:"snippet,omitempty"`
	Engine    string `json:"engine,omitempty"`
	Published string `json:"published,omitempty"` // as the engine wrote it
}

type searcher struct {
	client  *http.Client
	base    *url.URL
	agent   string
	timeout time.Duration
}

func newSearcher(cfg Config, base *url.URL) *searcher {
	client := &http.Client{Transport: newTransport(&net.Dialer{Timeout: connectTimeout, Resolver: cfg.Resolver})}
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if req.URL.Scheme != base.Scheme || req.URL.Host != base.Host {
			return tool.Errorf(tool.Denied, "set web.searxng to the address the server really has",
				"the SearXNG server redirects to another origin, %s://%s", req.URL.Scheme, req.URL.Host)
		}
		if len(via) > maxRedirects {
			return tool.Errorf(tool.Failed, "", "the SearXNG server redirects more than %d times", maxRedirects)
		}
		return nil
	}
	return &searcher{client: client, base: base, agent: cfg.UserAgent, timeout: cfg.Timeout}
}

// Spec implements tool.Tool.
func (s *searcher) Spec() tool.Spec {
	return tool.Spec{
		Name: "web_search",
		Description: "Search the public web. Returns titles, addresses and short excerpts of pages, best first. Use it for " +
			"what lies outside the user's code and notes: current facts, other people's software, the world. A hit " +
			"is not a source: open it with web_fetch before citing it.",
		Schema: json.RawMessage(fmt.Sprintf(`{
  "type": "object",
  "properties": {
    "query": {"type": "string", "minLength": 1, "maxLength": %d, "description": "what to search for"},
    "limit": {"type": "integer", "minimum": 1, "maximum": %d, "description": "how many results at most (default %d)"},
    "time_range": {"type": "string", "enum": ["day", "week", "month", "year"], "description": "only pages this recent"}
  },
  "required": ["query"],
  "additionalProperties": false
}`, maxQueryChars, maxLimit, defaultLimit)),
		Source:  tool.Web,
		Effect:  tool.Repeatable,
		Foreign: true,
		Search:  true,
	}
}

type searchArgs struct {
	query, timeRange string
	limit            int
}

// searchInput is the arguments as they are written.
type searchInput struct {
	Query     string `json:"query"`
	Limit     *int   `json:"limit"`
	TimeRange string `json:"time_range"`
}

func decodeSearchArgs(raw json.RawMessage) (args searchArgs, err error) {
	in, err := tool.DecodeArgs[searchInput](raw)
	if err != nil {
		return args, err
	}
	args.query = oneLine(in.Query)
	if args.query == "" {
		return args, tool.Errorf(tool.InvalidArgs, "say what to search for", "query is missing")
	}
	if chars := utf8.RuneCountInString(args.query); chars > maxQueryChars {
		return args, tool.Errorf(tool.InvalidArgs, "use a few keywords", "query has %d characters; at most %d are taken", chars, maxQueryChars)
	}
	switch in.TimeRange {
	case "", "day", "week", "month", "year":
		args.timeRange = in.TimeRange
	default:
		return args, tool.Errorf(tool.InvalidArgs, "use day, week, month or year", "time_range is %.40q", in.TimeRange)
	}
	args.limit, err = orDefault("limit", in.Limit, defaultLimit, 1, maxLimit)
	return args, err
}

// Call implements tool.Tool. Its result's Data is a SearchData, Items counts its results.
func (s *searcher) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	args, err := decodeSearchArgs(call.Args)
	if err != nil {
		return tool.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	answer, err := s.ask(ctx, args)
	if err != nil {
		return tool.Result{}, explain(ctx, err, "the SearXNG server at "+s.base.Host)
	}
	return list(args, answer)
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

func (s *searcher) ask(ctx context.Context, args searchArgs) (searxAnswer, error) {
	var answer searxAnswer
	query := url.Values{"q": {args.query}, "format": {"json"}}
	if args.timeRange != "" {
		query.Set("time_range", args.timeRange)
	}
	target := s.base.JoinPath("search")
	target.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return answer, err
	}
	req.Header.Set("User-Agent", s.agent)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := s.client.Do(req)
	if err != nil {
		return answer, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := checkSearxStatus(resp); err != nil {
		return answer, err
	}
	body, err := readBody(resp, maxSearchBytes)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return answer, tool.Errorf(tool.Failed, "check that web.searxng leads to a SearXNG server", "the search server's JSON cannot be read")
	}
	return answer, nil
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

// list makes a result of an answer: hits with a web address only, each address once.
func list(args searchArgs, answer searxAnswer) (tool.Result, error) {
	data := SearchData{Query: args.query, Results: []SearchResult{}}
	for _, pair := range answer.Silent {
		data.Silent = append(data.Silent, cutChars(oneLine(strings.Join(pair, ": ")), 80))
	}
	seen := map[string]bool{}
	for _, hit := range answer.Results {
		u, err := url.Parse(hit.URL)
		if err != nil || checkPageURL(u) != nil || seen[hit.URL] {
			continue
		}
		if len(data.Results) == args.limit {
			break
		}
		seen[hit.URL] = true
		data.Results = append(data.Results, SearchResult{
			URL:       u.String(),
			Title:     cutChars(oneLine(hit.Title), maxTitleChars),
			Snippet:   cutChars(oneLine(hit.Content), maxSnippetChars),
			Engine:    cutChars(oneLine(hit.Engine), 40),
			Published: cutChars(oneLine(hit.Published), 40),
		})
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return tool.Result{}, tool.Errorf(tool.Failed, "", "the results cannot be encoded: %w", err)
	}
	result := tool.Result{Text: describe(data), Items: len(data.Results), Data: encoded}
	for _, hit := range data.Results {
		result.Refs = append(result.Refs, tool.Ref{Source: tool.Web, URL: hit.URL, Title: hit.Title})
	}
	result.Truncated = len(result.Text) > tool.MaxText
	result.Text = cutBytes(result.Text, tool.MaxText)
	return result, nil
}

func describe(data SearchData) string {
	var text strings.Builder
	if len(data.Results) == 0 {
		fmt.Fprintf(&text, "No page was found for %q.\n", data.Query)
	}
	for i, hit := range data.Results {
		fmt.Fprintf(&text, "%d. %s\n   %s\n", i+1, hit.Title, hit.URL)
		if hit.Published != "" {
			fmt.Fprintf(&text, "   Published: %s\n", hit.Published)
		}
		if hit.Snippet != "" {
			fmt.Fprintf(&text, "   %s\n", hit.Snippet)
		}
	}
	if len(data.Silent) > 0 {
		fmt.Fprintf(&text, "These engines did not answer, so something may be missing: %s\n", strings.Join(data.Silent, "; "))
	}
	return text.String()
}
