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
