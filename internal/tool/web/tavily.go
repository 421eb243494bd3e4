package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"golang.org/x/net/html"
)

// tavily is the search of the Tavily API.
type tavily struct{ keyed }

func (t tavily) request(ctx context.Context, args searchArgs, key string) (*http.Request, error) {
	body, err := json.Marshal(struct {
		Query      string `json:"query"`
		MaxResults int    `json:"max_results"`
		TimeRange  string `json:"time_range,omitempty"`
	}{args.Query, args.Limit, args.TimeRange})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.base.JoinPath("search").String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	return req, nil
}

func (t tavily) read(resp *http.Response) (findings, error) {
	if err := t.refusal(resp); err != nil {
		return findings{}, err
	}
	var answer struct {
		Results []struct {
			Title     string `json:"title"`
			URL       string `json:"url"`
			Content   string `json:"content"`
			Published string `json:"published_date"`
		} `json:"results"`
	}
	if err := t.decode(resp, &answer); err != nil {
		return findings{}, err
	}
	if answer.Results == nil {
		return findings{}, t.unreadable()
	}
	var found findings
	for _, r := range answer.Results {
		// The text is no HTML, so a < in it is one; only entities are left over from the page.
		found.hits = append(found.hits, SearchResult{
			Title: html.UnescapeString(r.Title), URL: r.URL, Snippet: html.UnescapeString(r.Content),
			Engine: Tavily, Published: r.Published,
		})
	}
	return found, nil
}
