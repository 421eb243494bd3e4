package web

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"sibyl/internal/redact"
	"sibyl/internal/tool"
)

const maxSnippetChars = 400

// SearchData is the structured result of web_search, best hit first.
type SearchData struct {
	Query   string         `json:"query"`
	Results []SearchResult `json:"results"`
	Silent  []string       `json:"silent,omitempty"` // engines that did not answer: the results may be incomplete
}

// SearchResult is one hit. Its page is not read yet.
type SearchResult struct {
	Title     string `json:"title"`
	URL       string `json:"url"`
	Snippet   string `json:"snippet,omitempty"`
	Engine    string `json:"engine,omitempty"`    // which found it; with SearXNG, one of its engines
	Published string `json:"published,omitempty"` // as the engine wrote it
}

type searchArgs struct {
	Query     string `json:"query" min:"1" max:"400"`
	Limit     int    `json:"limit,omitempty" min:"1" max:"20" default:"8"`
	TimeRange string `json:"time_range,omitempty" doc:"how recent" enum:"day,week,month,year"`
}

func (s *searcher) searchTool() tool.Tool {
	return tool.New(tool.Spec{
		Name: "web_search",
		Description: "Searches the public web for what lies outside the user's code and notes. Open a hit with web_fetch " +
			"before you cite it.",
		Source: tool.Web, Effect: tool.Repeatable, Foreign: true, Search: true, Out: tool.Out{To: tool.ToEngine,
			Arg: "query"},
	}, s.search)
}

// search returns a result whose Data is a SearchData. Items counts its results.
func (s *searcher) search(ctx context.Context, _ tool.Call, args searchArgs) (tool.Result, error) {
	args.Query = oneLine(args.Query)
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	answer, err := s.runQuery(ctx, args)
	if err != nil {
		return tool.Result{}, toolError(ctx, err, s.displayName())
	}
	return s.resultOf(args, answer)
}

// resultOf makes a result of the hits whose web address may be opened, each address once.
func (s *searcher) resultOf(args searchArgs, answer engineAnswer) (tool.Result, error) {
	data := SearchData{Query: args.Query, Results: []SearchResult{}}
	for _, silent := range answer.silent {
		data.Silent = append(data.Silent, cutChars(oneLine(silent), 80))
	}
	seen := map[string]bool{}
	for _, hit := range answer.hits {
		u, err := url.Parse(hit.URL)
		if err != nil || s.checkPage(u) != nil || seen[hit.URL] {
			continue
		}
		if len(data.Results) == args.Limit {
			break
		}
		seen[hit.URL] = true
		data.Results = append(data.Results, SearchResult{
			URL:       u.String(),
			Title:     cutChars(oneLine(redact.Text(hit.Title)), maxTitleChars),
			Snippet:   cutChars(oneLine(redact.Text(hit.Snippet)), maxSnippetChars),
			Engine:    cutChars(oneLine(hit.Engine), 40),
			Published: cutChars(oneLine(hit.Published), 40),
		})
	}
	result := tool.Result{Text: resultText(data), Items: len(data.Results)}
	if len(data.Silent) > 0 {
		result.LeaveOut(tool.Silent, len(data.Silent), data.Silent...)
	}
	for _, hit := range data.Results {
		result.Refs = append(result.Refs, tool.Ref{Source: tool.Web, URL: hit.URL, Title: hit.Title})
	}
	return result.WithData(data)
}

func resultText(data SearchData) string {
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
	return text.String()
}
