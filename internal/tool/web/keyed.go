package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"sibyl/internal/tool"
)

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
