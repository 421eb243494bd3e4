package openai_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/openai"
)

func TestRejectedStatusHasItsKind(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		kind   model.Kind
		says   string
	}{
		{"auth", 401, `{"error":{"message":"bad key","code":"invalid_api_key"}}`, model.Auth, "bad key"},
		{"forbidden", 403, `{"error":{"message":"no access to this model"}}`, model.Auth, "no access"},
		{"forbidden by moderation", 403, `{"error":{"message":"input was flagged"}}`, model.Refused, "flagged"},
		{"no credit", 402, `{"error":{"message":"buy more","code":402}}`, model.RateLimit, "buy more"},
		{"quota", 429, `{"error":{"message":"quota","code":"insufficient_quota"}}`, model.RateLimit, "quota"},
		{"model", 404, `{"error":{"message":"no such model"}}`, model.Invalid, "no such model"},
		{"path", 404, `404 page not found`, model.Invalid, "/v1"},
		{"array", 400, `[{"error":{"code":400,"message":"odd argument","status":"INVALID_ARGUMENT"}}]`, model.Invalid, "odd argument"},
		{"detail", 422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, model.Invalid, "field required"},
		{"string", 400, `{"error":"odd argument"}`, model.Invalid, "odd argument"},
		{"flat", 400, `{"object":"error","message":"odd argument","code":400}`, model.Invalid, "odd argument"},
		{"context by code", 400, `{"error":{"message":"too long","code":"context_length_exceeded"}}`, model.ContextLength, "too long"},
		{"context by words", 400, `{"error":{"message":"the maximum context length is 8192"}}`, model.ContextLength, "8192"},
		{"context as a failure", 500, `{"error":{"message":"the request exceeds the available context size"}}`, model.ContextLength, "size"},
		{"entity", 413, ``, model.ContextLength, "Too Large"},
		{"policy", 400, `{"error":{"message":"no","code":"content_filter"}}`, model.Refused, "no"},
		{"policy by words", 400, `{"error":{"message":"violates our usage policies"}}`, model.Refused, "policies"},
		{"server", 500, ``, model.Server, "Internal Server Error"},
		{"gateway", 502, `<html><body>nginx</body></html>`, model.Server, "Bad Gateway"},
		{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, model.Server, "Overloaded"},
		{"request timeout", 408, ``, model.Timeout, "Timeout"},
		{"gateway time-out", 504, ``, model.Timeout, "Timeout"},
		{"redirect", 302, ``, model.Invalid, "redirects"},
		{"control characters", 500, "{\"error\":\"a\\u001b[31m\\nb\"}", model.Server, "a [31m b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := modeltest.Answer{Raw: &modeltest.Raw{
				Status: c.status, Body: c.body, Header: http.Header{"Location": {"http://127.0.0.1:1/elsewhere"}},
			}}
			_, err := connect(t, modeltest.NewOpenAIServer(t, answer)).Chat(t.Context(), hello(), nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Status != c.status || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %v; want kind %s, status %d, saying %q", err, c.kind, c.status, c.says)
			}
			if strings.Contains(err.Error(), "nginx") {
				t.Errorf("a page's markup is in the error: %v", err)
			}
		})
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
		answer := modeltest.Answer{Raw: &modeltest.Raw{Status: 503, Header: http.Header{"Retry-After": {c.header}}}}
		_, err := connect(t, modeltest.NewOpenAIServer(t, answer)).Chat(t.Context(), hello(), nil)
		var e *model.Error
		if !errors.As(err, &e) || e.RetryAfter < c.min || e.RetryAfter > c.max {
			t.Errorf("Retry-After %q gave %#v; want between %v and %v", c.header, err, c.min, c.max)
		}
	}
}

func TestKeyIsSentAndAskedForBeforeEveryRequest(t *testing.T) {
	server := modeltest.NewOpenAIServer(t, modeltest.Stream("a"), modeltest.Stream("b"), modeltest.Stream("c"))
	keys := []string{"first", " second\n", ""}
	m := connect(t, server, func(c *openai.Config) {
		c.Key = func(context.Context) (string, error) {
			key := keys[0]
			keys = keys[1:]
			return key, nil
		}
	})
	for _, want := range []string{"Bearer first", "Bearer second", ""} {
		if _, err := m.Chat(t.Context(), hello(), nil); err != nil {
			t.Fatal(err)
		}
		requests := server.Requests()
		if got := requests[len(requests)-1].Header.Get("Authorization"); got != want {
			t.Errorf("sent %q; want %q", got, want)
		}
	}
}

func TestUnusableKeyIsAuthWithoutARequest(t *testing.T) {
	server := modeltest.NewOpenAIServer(t)
	locked := errors.New("the keyring is locked")
	for name, key := range map[string]func(context.Context) (string, error){
		"locked":     func(context.Context) (string, error) { return "", locked },
		"line break": fixedKey("sk-secret\nsk-other"),
	} {
		m := connect(t, server, func(c *openai.Config) { c.Key = key })
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
	body := `{"error":"` + strings.Repeat("x", 490) + key + `"}`
	answer := modeltest.Answer{Raw: &modeltest.Raw{Status: 500, Body: body}}
	m := connect(t, modeltest.NewOpenAIServer(t, answer), func(c *openai.Config) { c.Key = fixedKey(key) })
	_, err := m.Chat(t.Context(), hello(), nil)
	if err == nil || strings.Contains(err.Error(), key[:6]) {
		t.Errorf("the error shows the key: %v", err)
	}
	if len(err.Error()) > 600 {
		t.Errorf("the error is %d bytes long", len(err.Error()))
	}
}

func TestUnreachableEndpointIsServerAndNamesTheHost(t *testing.T) {
	server := modeltest.NewOpenAIServer(t)
	server.Close()
	host := strings.TrimSuffix(strings.TrimPrefix(server.BaseURL, "http://"), "/v1")
	m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: "http://user:hunter2@" + host + "/v1?k=hunter2"})
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
		{"house", ""}, {"house", "localhost:11434"}, {"house", "ftp://hunter2@host/v1"}, {"openai", "http://%zz-hunter2"},
	} {
		m := openai.New(openai.Config{Provider: c.provider, Model: "m", BaseURL: c.url})
		_, err := m.Chat(t.Context(), hello(), nil)
		if model.KindOf(err) != model.Invalid || !strings.Contains(err.Error(), c.provider) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v; want invalid, naming the provider, without the URL", c.url, err)
		}
	}
}

func TestLongMessageIsShortenedBetweenCharacters(t *testing.T) {
	answer := modeltest.Answer{Raw: &modeltest.Raw{Status: 500, Body: "x" + strings.Repeat("ü", 1000)}}
	_, err := connect(t, modeltest.NewOpenAIServer(t, answer)).Chat(t.Context(), hello(), nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Message != "x"+strings.Repeat("ü", 249)+"…" {
		t.Errorf("got %v", err)
	}
}
