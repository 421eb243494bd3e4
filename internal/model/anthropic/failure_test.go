package anthropic_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/anthropic"
	"sibyl/internal/model/modeltest"
)

func complaint(kind, message string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_1"}`
}

func TestRejectedStatusHasItsKind(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		kind   model.Kind
		says   string
	}{
		{"auth", 401, complaint("authentication_error", "invalid x-api-key"), model.Auth, "invalid x-api-key"},
		{"permission", 403, complaint("permission_error", "no access to this model"), model.Auth, "no access"},
		{"billing", 402, complaint("billing_error", "pay first"), model.RateLimit, "pay first"},
		{"no credit", 400, complaint("invalid_request_error", "Your credit balance is too low"), model.RateLimit, "credit"},
		{"rate", 429, complaint("rate_limit_error", "slow down"), model.RateLimit, "slow down"},
		{"model", 404, complaint("not_found_error", "model: claude-0"), model.Invalid, "model: claude-0"},
		{"path", 404, "404 page not found", model.Invalid, "/v1/messages"},
		{"argument", 400, complaint("invalid_request_error", "max_tokens: 9 > 8"), model.Invalid, "max_tokens"},
		{"another status with the general type", 409, complaint("invalid_request_error", "in use"), model.Invalid, "in use"},
		{"auth with the general type", 401, complaint("invalid_request_error", "who are you"), model.Auth, "who are you"},
		{"overlong prompt", 400, complaint("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), model.ContextLength, "210000"},
		{"overlong with the answer", 400, complaint("invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
			model.ContextLength, "190000"},
		{"overlong for a local server", 400, complaint("invalid_request_error", "the request exceeds the available context size"), model.ContextLength, "size"},
		{"too many bytes", 413, complaint("request_too_large", "Request exceeds the maximum size"), model.ContextLength, "maximum size"},
		{"too many bytes for a proxy", 413, "<html>nginx</html>", model.ContextLength, "Too Large"},
		{"policy", 400, complaint("invalid_request_error", "Output blocked by content filtering policy"), model.Refused, "policy"},
		{"failure", 500, complaint("api_error", "Internal server error"), model.Server, "Internal"},
		{"bare failure", 500, "", model.Server, "Internal Server Error"},
		{"gateway", 502, "<html><body>nginx</body></html>", model.Server, "Bad Gateway"},
		{"time-out", 504, complaint("timeout_error", "too slow"), model.Timeout, "too slow"},
		{"time-out of a proxy", 504, "", model.Timeout, "Timeout"},
		{"overloaded", 529, complaint("overloaded_error", "Overloaded"), model.Server, "Overloaded"},
		{"overloaded without words", 529, "", model.Server, ""},
		{"unknown type", 503, complaint("meteor_error", "impact"), model.Server, "impact"},
		{"error as text", 400, `{"error":"odd argument"}`, model.Invalid, "odd argument"},
		{"flat", 400, `{"message":"odd argument","error":null}`, model.Invalid, "odd argument"},
		{"detail", 422, `{"detail":[{"msg":"field required"}]}`, model.Invalid, "field required"},
		{"JSON that is no object", 401, `["nobody","knows"]`, model.Auth, "nobody"},
		{"redirect", 302, "", model.Invalid, "redirects"},
		{"control characters", 500, complaint("api_error", `a\u001b[31m\nb`), model.Server, "a [31m b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := modeltest.Answer{Raw: &modeltest.Raw{
				Status: c.status, Body: c.body, Header: http.Header{"Location": {"http://127.0.0.1:1/elsewhere"}},
			}}
			resp, err := connect(t, modeltest.NewAnthropicServer(t, answer)).Chat(t.Context(), hello(), nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Status != c.status || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %v; want kind %s, status %d, saying %q", err, c.kind, c.status, c.says)
			}
			if strings.Contains(err.Error(), "nginx") {
				t.Errorf("a page's markup is in the error: %v", err)
			}
			if resp.Attempts != 1 {
				t.Errorf("%d attempts; want 1", resp.Attempts)
			}
		})
	}
}

// counted is a long body that counts what is read of it.
type counted struct{ left, read int }

func (c *counted) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), c.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	c.left, c.read = c.left-n, c.read+n
	return n, nil
}

func (*counted) Close() error { return nil }

// failing answers every request with status 500 and its body.
type failing struct{ body io.ReadCloser }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusInternalServerError, Header: http.Header{}, Body: f.body}, nil
}

func TestLittleIsReadOfALongFailure(t *testing.T) {
	body := &counted{left: 20 << 20}
	m := anthropic.New(anthropic.Config{
		Provider: "house", Model: "m", BaseURL: "http://house", HTTPClient: &http.Client{Transport: failing{body}},
	})
	_, err := m.Chat(t.Context(), hello(), nil)
	if model.KindOf(err) != model.Server || len(err.Error()) > 600 || body.read > 1<<20 {
		t.Errorf("%d bytes were read for an error of %d: %.100v", body.read, len(err.Error()), err)
	}
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	inTwoMinutes := time.Now().Add(2 * time.Minute).UTC().Format(http.TimeFormat)
	for _, c := range []struct {
		header   string
		min, max time.Duration
	}{
		{"7", 7 * time.Second, 7 * time.Second},
		{"0.5", 500 * time.Millisecond, 500 * time.Millisecond},
		{inTwoMinutes, 100 * time.Second, 2 * time.Minute},
		{"Mon, 02 Jan 2006 15:04:05 GMT", 0, 0},
		{"-3", 0, 0},
		{"NaN", 0, 0},
		{"1e300", time.Hour, 366 * 24 * time.Hour},
		{"soon", 0, 0},
		{"", 0, 0},
	} {
		answer := modeltest.Answer{Raw: &modeltest.Raw{Status: 529, Header: http.Header{"Retry-After": {c.header}}}}
		_, err := connect(t, modeltest.NewAnthropicServer(t, answer)).Chat(t.Context(), hello(), nil)
		var e *model.Error
		if !errors.As(err, &e) || e.RetryAfter < c.min || e.RetryAfter > c.max {
			t.Errorf("Retry-After %q gave %#v; want between %v and %v", c.header, err, c.min, c.max)
		}
	}
}

func TestKeyIsAskedForBeforeEveryRequest(t *testing.T) {
	server := modeltest.NewAnthropicServer(t, modeltest.Stream("a"), modeltest.Stream("b"), modeltest.Stream("c"))
	keys := []string{"first", " second\n", ""}
	m := connect(t, server, func(c *anthropic.Config) {
		c.Key = func(context.Context) (string, error) {
			key := keys[0]
			keys = keys[1:]
			return key, nil
		}
	})
	for _, want := range []string{"first", "second", ""} {
		if _, err := m.Chat(t.Context(), hello(), nil); err != nil {
			t.Fatal(err)
		}
		requests := server.Requests()
		if got := requests[len(requests)-1].Header.Get("X-Api-Key"); got != want {
			t.Errorf("sent %q; want %q", got, want)
		}
	}
}

func TestUnusableKeyIsAuthWithoutARequest(t *testing.T) {
	server := modeltest.NewAnthropicServer(t)
	locked := errors.New("the keyring is locked")
	for name, key := range map[string]func(context.Context) (string, error){
		"locked":     func(context.Context) (string, error) { return "", locked },
		"line break": fixedKey("sk-secret\nsk-other"),
	} {
		m := connect(t, server, func(c *anthropic.Config) { c.Key = key })
		resp, err := m.Chat(t.Context(), hello(), nil)
		if model.KindOf(err) != model.Auth || resp.Attempts != 0 || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%s: got %v after %d attempts; want auth after none", name, err, resp.Attempts)
		}
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

func TestKeyEchoedByTheProviderIsCutOutBeforeShortening(t *testing.T) {
	const key = "sk-0123456789abcdef"
	// The key stands where the message is cut off, so that a cut first would leave half of it.
	echo := strings.Repeat("x", 490) + key
	for name, answer := range map[string]modeltest.Answer{
		"as a failure":      {Raw: &modeltest.Raw{Status: 500, Body: complaint("api_error", echo)}},
		"inside the stream": raw(start, event("error", `"error":{"type":"api_error","message":"`+echo[20:]+`"}`)),
		"as a refusal":      raw(start, event("message_delta", `"delta":{"stop_reason":"refusal","stop_details":{"explanation":"`+echo+`"}}`), stop),
	} {
		m := connect(t, modeltest.NewAnthropicServer(t, answer), func(c *anthropic.Config) { c.Key = fixedKey(key) })
		_, err := m.Chat(t.Context(), hello(), nil)
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), key[:6]) {
				t.Errorf("%s: the error shows the key: %v", name, e)
			}
		}
		if err == nil || len(err.Error()) > 600 {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func TestUnreachableEndpointIsServerAndNamesTheHost(t *testing.T) {
	server := modeltest.NewAnthropicServer(t)
	server.Close()
	host := strings.TrimPrefix(server.BaseURL, "http://")
	m := anthropic.New(anthropic.Config{Provider: "house", Model: "m", BaseURL: "http://user:hunter2@" + host + "/x?k=hunter2"})
	t.Cleanup(m.Close)
	_, err := m.Chat(t.Context(), hello(), nil)
	if model.KindOf(err) != model.Server || !strings.Contains(err.Error(), host) {
		t.Errorf("got %v; want a server error that names %s", err, host)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), "hunter2") {
			t.Errorf("the error shows the URL's secrets: %v", e)
		}
	}
}

func TestWrongBaseURLIsInvalidAndNotRepeated(t *testing.T) {
	for _, c := range []struct{ provider, url string }{
		{"house", ""}, {"house", "localhost:8080"}, {"house", "ftp://hunter2@host"}, {"anthropic", "http://%zz-hunter2"},
	} {
		m := anthropic.New(anthropic.Config{Provider: c.provider, Model: "m", BaseURL: c.url})
		_, err := m.Chat(t.Context(), hello(), nil)
		if model.KindOf(err) != model.Invalid || !strings.Contains(err.Error(), c.provider) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v; want invalid, naming the provider, without the URL", c.url, err)
		}
	}
}

func TestLongMessageIsShortenedBetweenCharacters(t *testing.T) {
	answer := modeltest.Answer{Raw: &modeltest.Raw{Status: 500, Body: "x" + strings.Repeat("ü", 1000)}}
	_, err := connect(t, modeltest.NewAnthropicServer(t, answer)).Chat(t.Context(), hello(), nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Message != "x"+strings.Repeat("ü", 249)+"…" {
		t.Errorf("got %v", err)
	}
}
