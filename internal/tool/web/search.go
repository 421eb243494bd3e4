package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"sibyl/internal/tool"
)

const (
	defaultLimit    = 8
	maxLimit        = 20
	maxQueryChars   = 400
	maxSnippetChars = 400
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
	Engine    string `json:"engine,omitempty"`    // which found it; with SearXNG, one of those behind it
	Published string `json:"published,omitempty"` // as the engine wrote it
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
	found, err := s.ask(ctx, args)
	if err != nil {
		return tool.Result{}, explain(ctx, err, s.engine.place())
	}
	return list(args, found)
}

// list makes a result of what was found: hits with a web address only, each address once.
func list(args searchArgs, found findings) (tool.Result, error) {
	data := SearchData{Query: args.query, Results: []SearchResult{}}
	for _, silent := range found.silent {
		data.Silent = append(data.Silent, cutChars(oneLine(silent), 80))
	}
	seen := map[string]bool{}
	for _, hit := range found.hits {
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
			Snippet:   cutChars(oneLine(hit.Snippet), maxSnippetChars),
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
