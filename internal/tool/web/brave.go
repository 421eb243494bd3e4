package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"sibyl/internal/tool"
)

// maxBraveWords is how many words the Brave Search API takes. Its limit of characters is that of searchArgs.
const maxBraveWords = 50

// brave is the web search of the Brave Search API.
type brave struct{ keyed }

func (b brave) request(ctx context.Context, args searchArgs, key string) (*http.Request, error) {
	if words := len(strings.Fields(args.Query)); words > maxBraveWords {
		return nil, tool.Errorf(tool.InvalidArgs, "use a few keywords", "query has %d words; %s takes at most %d", words, b.label, maxBraveWords)
	}
	query := url.Values{"q": {args.Query}, "count": {strconv.Itoa(args.Limit)}}
	if args.TimeRange != "" {
		query.Set("freshness", "p"+args.TimeRange[:1]) // pd, pw, pm, py
	}
	target := b.base.JoinPath("res/v1/web/search")
	target.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Subscription-Token", key)
	return req, nil
}

func (b brave) read(resp *http.Response) (findings, error) {
	if resp.StatusCode == http.StatusUnprocessableEntity {
		return findings{}, b.unprocessable(resp)
	}
	if err := b.refusal(resp); err != nil {
		return findings{}, err
	}
	var answer struct {
		Web struct { // left out where nothing was found
			Results []struct {
				Title       string `json:"title"`
				URL         string `json:"url"`
				Description string `json:"description"`
				Age         string `json:"age"`      // "3 days ago"
				PageAge     string `json:"page_age"` // "2026-01-02T03:04:05"
			} `json:"results"`
		} `json:"web"`
	}
	if err := b.decode(resp, &answer); err != nil {
		return findings{}, err
	}
	var found findings
	for _, r := range answer.Web.Results {
		found.hits = append(found.hits, SearchResult{
			Title: plainText(r.Title), URL: r.URL, Snippet: plainText(r.Description),
			Engine: Brave, Published: cmp.Or(r.PageAge, r.Age),
		})
	}
	return found, nil
}

// unprocessable tells a search that Brave does not take from a key that it does not know, which has the same status.
func (b brave) unprocessable(resp *http.Response) error {
	var said struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if b.decode(resp, &said) == nil && said.Error.Code == "SUBSCRIPTION_TOKEN_INVALID" {
		return b.wrongKey(resp.StatusCode)
	}
	return b.refusal(resp)
}
