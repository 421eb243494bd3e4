package ollama_test

import (
	"errors"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/ollama"
)

func TestFullWindowNamesTheWindowThatWasSet(t *testing.T) {
	answer := modeltest.Answer{Fail: model.ContextLength}
	m := connect(t, modeltest.NewServer(t, answer), func(c *ollama.Config) { c.NumCtx = 2048 })
	if _, err := m.Chat(t.Context(), hello(), nil); model.KindOf(err) != model.ContextLength || !strings.Contains(err.Error(), "2048 tokens") {
		t.Errorf("got %v", err)
	}
}

func TestNothingIsReadFromTheEnvironment(t *testing.T) {
	t.Setenv("OLLAMA_HOST", "127.0.0.1:1")
	t.Setenv("OLLAMA_AUTH", "true") // makes Ollama's own client sign with a key from the home folder
	t.Setenv("OLLAMA_API_KEY", "sk-environment")
	server := modeltest.NewServer(t, modeltest.Stream("a"))
	if _, err := connect(t, server).Chat(t.Context(), hello(), nil); err != nil {
		t.Fatal(err)
	}
	if got := server.Requests()[0].Header.Get("Authorization"); got != "" {
		t.Errorf("sent %q", got)
	}
}

func TestUnreachableServerIsServerAndNamesTheHost(t *testing.T) {
	server := modeltest.NewServer(t)
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
