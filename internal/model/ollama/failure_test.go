package ollama_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

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
		{"window", 400, `{"error":"the input length exceeds the context length"}`, model.ContextLength, "8192 tokens; ollama.context in the settings sets a larger one"},
		{"window as a failure", 500, `{"error":"the prompt exceeds the context window"}`, model.ContextLength, "8192 tokens; ollama.context in the settings sets a larger one"},
		{"entity", 413, ``, model.ContextLength, "Too Large"},
		{"memory", 500, `{"error":"model requires more system memory (48 GiB) than is available (7 GiB)"}`, model.Invalid, "smaller model"},
		{"queue", 503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, model.RateLimit, "try again"},
		{"rate", 429, `{"error":"too fast"}`, model.RateLimit, "too fast"},
		{"credit", 402, `{"error":"buy more"}`, model.Payment, "buy more"},
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
