package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

func TestOllamaHostTakesTheFormsOfOllama(t *testing.T) {
	for host, want := range map[string]Ollama{
		"gpu":                    {Host: "http://gpu:11434"},
		"gpu.lan:1234":           {Host: "http://gpu.lan:1234"},
		"127.0.0.1":              {Host: "http://127.0.0.1:11434", Local: true},
		"localhost:11434":        {Host: "http://localhost:11434", Local: true},
		"0.0.0.0":                {Host: "http://127.0.0.1:11434", Local: true},
		"0.0.0.0:8000":           {Host: "http://127.0.0.1:8000", Local: true},
		":8000":                  {Host: "http://127.0.0.1:8000", Local: true},
		"::1":                    {Host: "http://[::1]:11434", Local: true},
		"[::1]":                  {Host: "http://[::1]:11434", Local: true},
		"[::]:8000":              {Host: "http://[::1]:8000", Local: true},
		"http://gpu":             {Host: "http://gpu:80"},
		"https://ollama.test/":   {Host: "https://ollama.test:443"},
		"https://ollama.test/x/": {Host: "https://ollama.test:443/x"},
		"http://127.1.2.3:5":     {Host: "http://127.1.2.3:5", Local: true},
		"10.0.0.1":               {Host: "http://10.0.0.1:11434"},
		"127.0.0.1.evil.test":    {Host: "http://127.0.0.1.evil.test:11434"},
	} {
		cfg, err := newSetup(t, "", "OLLAMA_HOST="+host).load()
		assert.That(t, err == nil && cmp.Equal(cfg.Ollama, want), "%s: %+v, want %+v, error %v", host, cfg.Ollama, want, err)
	}
}

func TestSearchServerKeepsItsPasswordApart(t *testing.T) {
	cfg, _ := mustLoad(t, "", "SIBYL_SEARXNG_URL=https://me:p%40ss-word-1@s.test/sx")
	want := Web{Engine: SearXNG, SearXNG: "https://s.test/sx", User: "me", Password: NewSecret("p@ss-word-1"),
		Brave: cfg.Web.Brave, Tavily: cfg.Web.Tavily}
	assert.Same(t, want, cfg.Web, bySecret)
	assert.Equalf(t, cfg.Web.Address(), "https://me:p%40ss-word-1@s.test/sx", "Address()")
	assert.Equalf(t, (Web{SearXNG: "https://s.test"}).Address(), "https://s.test", "without a password")
}
