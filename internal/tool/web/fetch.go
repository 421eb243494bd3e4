package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"sibyl/internal/files"
	"sibyl/internal/keys/cleartext"
	"sibyl/internal/redact"
	"sibyl/internal/tool"
)

const maxTitleChars = 300

// FetchData is the structured result of web_fetch. Offsets and lengths count characters of the page's whole text.
type FetchData struct {
	URL         string `json:"url"` // after redirects, without fragment
	ContentType string `json:"content_type"`
	Title       string `json:"title,omitempty"`
	Byline      string `json:"byline,omitempty"`
	Published   string `json:"published,omitempty"` // RFC 3339, as the page says
	Extract     string `json:"extract"`             // see the Extract constants
	Text        string `json:"text"`                // the part asked for
	Offset      int    `json:"offset"`
	Total       int    `json:"total"`
	Next        int    `json:"next,omitempty"` // the offset of the next part; 0 at the end
}

// How the text was extracted from the page.
const (
	ExtractArticle = "article" // the main part of an HTML page
	ExtractPage    = "page"    // a whole HTML page, because no part of it stands out
	ExtractBare    = "bare"    // the bare words of an HTML page too large or too deep for a layout
	ExtractRaw     = "raw"     // plain text, Markdown, JSON and the like, as they are
)

type fetcher struct {
	client *http.Client
	cfg    Config
}

type fetchArgs struct {
	URL      string `json:"url" min:"1" max:"2048"`
	MaxChars int    `json:"max_chars,omitempty" min:"1" max:"40000" default:"16000"`
	Offset   int    `json:"offset,omitempty" min:"0" max:"104857600"`
}

func (f *fetcher) fetchTool() tool.Tool {
	return tool.New(tool.Spec{
		Name:        "web_fetch",
		Description: "Reads a web page as text: a search result, or an address of the user. Go on with offset.",
		Source:      tool.Web, Effect: tool.Repeatable, Foreign: true, Out: tool.Out{To: tool.ToAddress, Arg: "url"},
	}, f.fetch)
}

// fetch returns a result whose Data is a FetchData. The hash of its Ref is that of the page's whole text, so that it
// stays the same if only markup or an advertisement changed.
func (f *fetcher) fetch(ctx context.Context, _ tool.Call, args fetchArgs) (tool.Result, error) {
	address, err := f.cfg.pageURL(args.URL)
	if err != nil {
		return tool.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.cfg.Timeout)
	defer cancel()
	resp, err := f.requestPage(ctx, address)
	if err != nil {
		return tool.Result{}, toolError(ctx, err, address.Hostname())
	}
	defer func() { _ = resp.Body.Close() }()
	page, err := f.readPage(resp)
	if err != nil {
		return tool.Result{}, toolError(ctx, err, resp.Request.URL.Hostname())
	}
	return cutPage(page, args)
}

func (c Config) pageURL(raw string) (*url.URL, error) {
	const form = "write it as https://host/path"
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return nil, tool.Errorf(tool.InvalidArgs, form, "url is not a web address")
	}
	if u.Scheme == "" {
		return nil, tool.Errorf(tool.InvalidArgs, form, "url lacks https:// or http://")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, c.checkPage(u)
}

func (f *fetcher) requestPage(ctx context.Context, u *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept",
		"text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/json;q=0.9,*/*;q=0.1")
	req.Header.Set("Accept-Encoding", "gzip")
	return f.client.Do(req)
}

// readPage converts a whole response: offset and next are not set.
func (f *fetcher) readPage(resp *http.Response) (FetchData, error) {
	final := *resp.Request.URL
	final.Fragment, final.RawFragment = "", ""
	p := FetchData{URL: final.String()}
	if err := checkStatus(resp); err != nil {
		return p, err
	}
	form, err := formOf(resp.Header.Get("Content-Type"))
	if err != nil {
		return p, err
	}
	body, err := readBody(resp, f.cfg.MaxBytes)
	if err != nil {
		return p, err
	}
	p.ContentType = resp.Header.Get("Content-Type")
	if form == formUnknown {
		p.ContentType = http.DetectContentType(body)
		if form, err = formOf(p.ContentType); err != nil {
			return p, err
		}
		if form == formUnknown {
			return p, errBinary()
		}
	}
	text, err := decodeText(body, p.ContentType)
	if err != nil {
		return p, err
	}
	text = redact.Text(text) // before Markdown's signs could split a secret
	if form == formHTML {
		convertHTML(&p, text, &final)
	} else {
		p.Text, p.Extract = cleanText(text), ExtractRaw
		if heading, ok := strings.CutPrefix(p.Text, "# "); ok {
			p.Title, _, _ = strings.Cut(heading, "\n")
		}
	}
	p.Text = redact.Text(p.Text) // secrets that markup had split, before the text is cut into parts
	p.Title = cutChars(oneLine(p.Title), maxTitleChars)
	p.Byline = cutChars(oneLine(p.Byline), maxTitleChars)
	if p.Text == "" {
		return p, tool.Errorf(tool.Failed, "it may be built by JavaScript: try another page",
			"the page holds no readable text")
	}
	return p, nil
}

// checkStatus returns an error for every status but a success, and says whether trying again makes sense.
func checkStatus(resp *http.Response) error {
	host := resp.Request.URL.Hostname()
	code := resp.StatusCode
	status := strings.TrimSpace(fmt.Sprintf("HTTP %d %s", code, http.StatusText(code)))
	switch {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusNotFound || code == http.StatusGone:
		return tool.Errorf(tool.NotFound, "check the address, or search for the page", "%s has no such page (%s)",
			host, status)
	case code == http.StatusUnauthorized || code == http.StatusForbidden || code == http.StatusPaymentRequired ||
		code == http.StatusUnavailableForLegalReasons:
		return tool.Errorf(tool.Denied, "look for another source", "%s refuses to show this page (%s)", host, status)
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
		return tool.Errorf(tool.Unavailable, retryHint(resp.Header), "%s is too busy to answer (%s)", host, status)
	case code == http.StatusRequestTimeout || code == http.StatusGatewayTimeout:
		return tool.Errorf(tool.Timeout, "try again later", "%s took too long (%s)", host, status)
	case code >= 500:
		return tool.Errorf(tool.Unavailable, "try again later, or look for another source", "%s failed (%s)",
			host, status)
	}
	return tool.Errorf(tool.Failed, "look for another source", "%s answered with %s", host, status)
}

// retryHint says how long to wait, by Retry-After in seconds.
func retryHint(header http.Header) string {
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && seconds > 0 {
		return fmt.Sprintf("it asks to wait %d seconds", seconds)
	}
	return "try again later, or look for another source"
}

// toolError makes a *tool.Error of any failure of a request to host. A *tool.Error stays unchanged.
func toolError(ctx context.Context, err error, host string) error {
	var known *tool.Error
	var shown *cleartext.Error
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &shown):
		return tool.Errorf(tool.Denied, "", "%w", shown)
	case errors.Is(ctx.Err(), context.Canceled):
		return tool.Errorf(tool.Cancelled, "", "the call was withdrawn: %w", context.Canceled)
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return tool.Errorf(tool.Timeout, "try again later, or look for another source",
			"%s did not answer in time", host)
	case errors.As(err, &dns) && dns.IsNotFound:
		return tool.Errorf(tool.NotFound, "check the address", "there is no host called %s", host)
	case errors.As(err, &dns):
		return tool.Errorf(tool.Unavailable, "check the network connection", "the name %s could not be looked up", host)
	}
	return &tool.Error{Kind: tool.Unavailable, Message: host + " " + connectionFailure(err), Err: err}
}

// connectionFailure says in our own words why a connection failed: the error's own words may quote what the server
// sent, or the whole address with its query.
func connectionFailure(err error) string {
	var certificate *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	switch {
	case files.Is(err, syscall.ECONNREFUSED):
		return "refused the connection: nothing answers at that port"
	case files.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF):
		return "closed the connection without an answer"
	case errors.As(err, &certificate):
		return "has a certificate that cannot be trusted"
	case errors.As(err, &notTLS), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "does not speak https at that port"
	}
	return "could not be reached, or its answer is not HTTP"
}

// cutPage returns the part of p that args ask for, within tool.MaxText.
func cutPage(p FetchData, args fetchArgs) (tool.Result, error) {
	total := utf8.RuneCountInString(p.Text)
	if args.Offset >= total {
		return tool.Result{}, tool.Errorf(tool.InvalidArgs, "begin at 0",
			"offset is %d, but the page ends at %d", args.Offset, total)
	}
	head := fmt.Sprintf("URL: %s\n", p.URL)
	for _, line := range []struct{ name, value string }{{"Title", p.Title}, {"By", p.Byline},
		{"Published", p.Published}} {
		if line.value != "" {
			head += line.name + ": " + line.value + "\n"
		}
	}
	const partLine = 200 // bytes, reserved for the line that says which part this is
	part := cutChars(p.Text[byteOffset(p.Text, args.Offset):], args.MaxChars)
	part = tool.Clip(part, tool.MaxText-len(head)-partLine)
	end := args.Offset + utf8.RuneCountInString(part)
	if args.Offset > 0 || end < total {
		head += fmt.Sprintf("Part: characters %d to %d of %d", args.Offset, end, total)
		if end < total {
			head += fmt.Sprintf("; the rest begins at offset %d", end)
		}
		head += "\n"
	}
	hash := files.Hash([]byte(p.Text))
	p.Text, p.Offset, p.Total = part, args.Offset, total
	if end < total {
		p.Next = end
	}
	return tool.Result{
		Text:      head + "\n" + part,
		Items:     1,
		Truncated: end < total,
		Refs:      []tool.Ref{{Source: tool.Web, URL: p.URL, Title: p.Title, Hash: hash, Opened: true}},
	}.WithData(p)
}
