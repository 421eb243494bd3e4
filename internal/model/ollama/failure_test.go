package ollama_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/ollama"
)

func TestRejectedStatusHasItsKindAndSaysWhatHelps(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		kind   model.Kind
		says   string
	}{
		{"model", 404, `{"error":"model 'llama3.1:8b' not found"}`, model.Invalid, "ollama pull llama3.1:8b"},
		{"model, by an older server", 404, `{"error":"model \"llama3.1:8b\" not found, try pulling it first"}`, model.Invalid, "ollama pull llama3.1:8b"},
		{"path", 404, `404 page not found`, model.Invalid, "no /v1"},
		{
			"no tools", 400, `{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}`,
			model.Invalid, "gemma:2b does not support tools: choose a model with tools; ‘ollama show llama3.1:8b’",
		},
		{"no chat", 400, `{"error":"\"bert\" does not support chat"}`, model.Invalid, "does not support chat"},
		{"window", 400, `{"error":"the input length exceeds the context length"}`, model.ContextLength, "set a larger one"},
		{"window as a failure", 500, `{"error":"the prompt exceeds the context window"}`, model.ContextLength, "set a larger one"},
		{"entity", 413, ``, model.ContextLength, "Too Large"},
		{"memory", 500, `{"error":"model requires more system memory (48 GiB) than is available (7 GiB)"}`, model.Invalid, "smaller model"},
		{"queue", 503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, model.RateLimit, "try again"},
		{"rate", 429, `{"error":"too fast"}`, model.RateLimit, "too fast"},
		{"credit", 402, `{"error":"buy more"}`, model.RateLimit, "buy more"},
		{"not signed in", 401, `{"error":"unauthorized","signin_url":"https://ollama.com/connect?key=x"}`, model.Auth, "ollama signin"},
		{"forbidden", 403, `{"error":"ollama cloud is disabled: remote model is unavailable"}`, model.Auth, "disabled"},
		{"policy", 400, `{"error":"violates our usage policies"}`, model.Refused, "policies"},
		{"bad argument", 400, `{"error":"json: cannot unmarshal"}`, model.Invalid, "unmarshal"},
		{"gateway's form", 400, `{"error":{"message":"odd argument","type":"x"}}`, model.Invalid, "odd argument"},
		{"crash", 500, `{"error":"llama runner process has terminated"}`, model.Server, "terminated"},
		{"nothing said", 500, `{}`, model.Server, "Internal Server Error"},
		{"cloud out of reach", 502, `<html><body>nginx</body></html>`, model.Server, "Bad Gateway"},
		{"request timeout", 408, ``, model.Timeout, "Timeout"},
		{"gateway time-out", 504, ``, model.Timeout, "Timeout"},
		{"redirect", 307, ``, model.Invalid, "redirects"},
		{"control characters", 500, "{\"error\":\"a\\u001b[31m\\nb\"}", model.Server, "a [31m b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := modeltest.Answer{Raw: &modeltest.Raw{
				Status: c.status, Body: c.body, Header: http.Header{"Location": {"http://127.0.0.1:1/elsewhere"}},
			}}
			_, err := connect(t, modeltest.NewOllamaServer(t, answer)).Chat(t.Context(), hello(), nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Status != c.status || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %v; want kind %s, status %d, saying %q", err, c.kind, c.status, c.says)
			}
			if strings.Contains(err.Error(), "nginx") || strings.Contains(err.Error(), "connect?key") {
				t.Errorf("markup or an address to sign in at is in the error: %v", err)
			}
		})
	}
}

func TestFullWindowNamesTheWindowThatWasSet(t *testing.T) {
	answer := modeltest.Answer{Fail: model.ContextLength}
	m := connect(t, modeltest.NewOllamaServer(t, answer), func(c *ollama.Config) { c.NumCtx = 2048 })
	if _, err := m.Chat(t.Context(), hello(), nil); model.KindOf(err) != model.ContextLength || !strings.Contains(err.Error(), "2048 tokens") {
		t.Errorf("got %v", err)
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
		_, err := connect(t, modeltest.NewOllamaServer(t, answer)).Chat(t.Context(), hello(), nil)
		var e *model.Error
		if !errors.As(err, &e) || e.RetryAfter < c.min || e.RetryAfter > c.max {
			t.Errorf("Retry-After %q gave %#v; want between %v and %v", c.header, err, c.min, c.max)
		}
	}
}

func TestKeyIsSentAndAskedForBeforeEveryRequest(t *testing.T) {
	server := modeltest.NewOllamaServer(t, modeltest.Stream("a"), modeltest.Stream("b"), modeltest.Stream("c"))
	keys := []string{"first", " second\n", ""}
	m := connect(t, server, func(c *ollama.Config) {
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
	server := modeltest.NewOllamaServer(t)
	locked := errors.New("the keyring is locked")
	for name, key := range map[string]func(context.Context) (string, error){
		"locked":     func(context.Context) (string, error) { return "", locked },
		"line break": fixedKey("sk-secret\nsk-other"),
	} {
		m := connect(t, server, func(c *ollama.Config) { c.Key = key })
		resp, err := m.Chat(t.Context(), hello(), nil)
		if model.KindOf(err) != model.Auth || resp.Attempts != 0 || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%s: got %v after %d attempts; want auth after none", name, err, resp.Attempts)
		}
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

func TestNothingIsReadFromTheEnvironment(t *testing.T) {
	t.Setenv("OLLAMA_HOST", "127.0.0.1:1")
	t.Setenv("OLLAMA_AUTH", "true") // makes Ollama's own client sign with a key from the home folder
	t.Setenv("OLLAMA_API_KEY", "sk-environment")
	server := modeltest.NewOllamaServer(t, modeltest.Stream("a"))
	if _, err := connect(t, server).Chat(t.Context(), hello(), nil); err != nil {
		t.Fatal(err)
	}
	if got := server.Requests()[0].Header.Get("Authorization"); got != "" {
		t.Errorf("sent %q", got)
	}
}

func TestKeyEchoedByTheServerIsCutOutBeforeShortening(t *testing.T) {
	const key = "sk-0123456789abcdef"
	// The key stands where the message is cut off, so that a cut first would leave half of it.
	said := `{"error":"` + strings.Repeat("x", 480) + key + `"}`
	for name, answer := range map[string]modeltest.Answer{
		"status": {Raw: &modeltest.Raw{Status: 500, Body: said}},
		"stream": raw(said),
	} {
		m := connect(t, modeltest.NewOllamaServer(t, answer), func(c *ollama.Config) { c.Key = fixedKey(key) })
		_, err := m.Chat(t.Context(), hello(), nil)
		if err == nil || strings.Contains(err.Error(), key[:6]) {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
		if len(err.Error()) > 600 {
			t.Errorf("%s: the error is %d bytes long", name, len(err.Error()))
		}
	}
}

func TestUnreachableServerIsServerAndNamesTheHost(t *testing.T) {
	server := modeltest.NewOllamaServer(t)
	server.Close()
	host := strings.TrimPrefix(server.BaseURL, "http://")
	m := ollama.New(ollama.Config{Provider: "house", Model: "m", BaseURL: "http://user:hunter2@" + host + "/?k=hunter2"})
	t.Cleanup(m.Close)
	_, err := m.Chat(t.Context(), hello(), nil)
	if model.KindOf(err) != model.Server || !strings.Contains(err.Error(), host) || !strings.Contains(err.Error(), "ollama serve") {
		t.Errorf("got %v; want a server error that names %s and says how to start it", err, host)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), "hunter2") {
			t.Errorf("the error shows the URL's secrets: %v", e)
		}
	}
}

func TestWrongBaseURLIsInvalidAndNotRepeated(t *testing.T) {
	for _, c := range []struct{ provider, url string }{
		{"house", ""}, {"house", "localhost:11434"}, {"house", "ftp://hunter2@host"}, {"ollama", "http://%zz-hunter2"},
	} {
		m := ollama.New(ollama.Config{Provider: c.provider, Model: "m", BaseURL: c.url})
		_, err := m.Chat(t.Context(), hello(), nil)
		if model.KindOf(err) != model.Invalid || !strings.Contains(err.Error(), c.provider) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v; want invalid, naming the provider, without the URL", c.url, err)
		}
	}
}
