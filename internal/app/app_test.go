package app

import (
	"testing"

	"sibyl/internal/config"
)

func TestWindowIsKnownOfEveryProviderOfOllamasKind(t *testing.T) {
	a := &App{Config: config.Config{Ollama: config.Ollama{NumCtx: 16_384}, Providers: map[string]config.Provider{
		"box":    {Kind: config.KindOllama},
		"openai": {Kind: config.KindOpenAI},
		"studio": {Kind: config.KindOpenAI, Local: true},
	}}}
	for id, want := range map[string]int{
		"ollama:llama3.1:8b": 16_384,
		"ollama":             16_384,
		"box:qwen3:4b":       16_384,
		"openai:gpt-x":       0,
		"studio:llama":       0,
		"offline:rules":      0,
		"nobody:x":           0,
		"":                   0,
	} {
		if got := a.Window(id); got != want {
			t.Errorf("Window(%q) = %d, not %d", id, got, want)
		}
	}
}

func TestKeyForAllOfGoogleIsNoWishForGemini(t *testing.T) {
	for environ, automatic := range map[string]bool{"GOOGLE_API_KEY=key-0123456789": false, "GEMINI_API_KEY=key-0123456789": true} {
		cfg, err := config.Load(config.Options{Home: t.TempDir(), Environ: []string{environ}})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range catalog(cfg, newSecrets(cfg)) {
			if p.Name == "gemini" && (p.Automatic != automatic || p.Missing != "") {
				t.Errorf("%s: taken by itself %v, missing %q", environ, p.Automatic, p.Missing)
			}
		}
	}
}
