package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

// hanging is a list that never comes.
func hanging(ctx context.Context) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() }

// kept is a list that was kept so long ago.
func kept(ago time.Duration, names ...string) func() ([]string, time.Time) {
	at := time.Now().Add(-ago)
	return func() ([]string, time.Time) { return names, at }
}

func TestAModelIsFoundByItsName(t *testing.T) {
	catalog := model.Catalog{
		{Name: "openai", List: listing("gpt-4o", "gpt-4o-mini", "gpt-4o-2024-08-06", "o3", "gpt-4o-audio-preview")},
		{Name: "anthropic", List: listing("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", "claude-opus-4-1",
			"claude-3-5-haiku-latest")},
		{Name: "absent", Missing: "set a key", List: hanging},
		{Name: "router", List: listing("qwen/qwen3-coder", "deepseek/deepseek-chat", "meta/llama3", "meta/llama3.3")},
		{Name: "own", Default: "house-7b", List: func(context.Context) ([]string, error) { return nil, errors.New("off") }},
		{Name: "ollama", Local: true, Probe: true, List: listing("qwen3:8b", "qwen3:14b", "llama3:latest", "gemma3:4b",
			"nomic-embed-text:latest")},
	}
	for wanted, want := range map[string]string{
		"gpt-4o": "openai:gpt-4o", "GPT-4o": "openai:gpt-4o", "o3": "openai:o3",
		"qwen3:8b": "ollama:qwen3:8b", "llama3": "ollama:llama3:latest", "gemma3": "ollama:gemma3:4b", "gem": "ollama:gemma3:4b",
		"sonnet": "anthropic:claude-sonnet-4-5", "sonnet-4.5": "anthropic:claude-sonnet-4-5",
		"haiku": "anthropic:claude-3-5-haiku-latest", "claude-op": "anthropic:claude-opus-4-1",
		"deepseek-chat": "router:deepseek/deepseek-chat", "meta/llama3.3": "router:meta/llama3.3",
		"house-7b": "own:house-7b", "anthropic:opus": "anthropic:opus",
		"qwen3": "fits 2 models: ollama:qwen3:8b, ollama:qwen3:14b. ",
		// a hosted model alone has the part, but one of this machine begins with it
		"coder": "router:qwen/qwen3-coder", "qwen": "fits 3 models: router:qwen/qwen3-coder, ollama:qwen3:8b, ollama:qwen3:14b. ",
		"claude":  `"claude" fits 3 models: anthropic:claude-sonnet-4-5, anthropic:claude-opus-4-1, `,
		"mini":    "openai:gpt-4o-mini",
		"nomic":   `no model is called "nomic"`,
		"onnet":   `no model is called "onnet": ‘sibyl models’ lists those that are there; not set up: absent; not reached: own`,
		"foo:bar": `there is no provider "foo", and no model is called "foo:bar": write provider:model, with one of openai, `,
	} {
		id, err := catalog.Choose(context.Background(), wanted)
		if err != nil {
			id = err.Error()
		}
		assert.That(t, id == want || err != nil && strings.Contains(id, want), "%s: %s, want %s", wanted, id, want)
	}
}

func TestAListThatHangsIsWaitedForShortlyAndNotAtAllForWhatWasListedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		catalog := model.Catalog{
			{Name: "new", List: listing("gpt-5")},
			{Name: "dead", List: hanging, Listed: kept(48*time.Hour, "gpt-5-mini", "o4")},
		}
		for _, step := range []struct {
			wanted, want string
			most         time.Duration
		}{
			{"o4", "dead:o4", 0}, {"gpt-5-mini", "dead:gpt-5-mini", 0}, // whole names, as they were listed
			{"gpt-5", "new:gpt-5", 2 * time.Second}, {"mini", "dead:gpt-5-mini", 2 * time.Second}, // the kept list is old
			{"what", "no model is called", 2 * time.Second},
		} {
			begun := time.Now()
			id, err := catalog.Choose(t.Context(), step.wanted)
			if err != nil {
				id = err.Error()
			}
			assert.That(t, strings.HasPrefix(id, step.want), "%s: %s", step.wanted, id)
			assert.That(t, time.Since(begun) <= step.most, "%s: it took %v", step.wanted, time.Since(begun))
		}
		catalog[1].Listed = kept(time.Minute, "gpt-5-mini", "o4")
		begun := time.Now()
		id, err := catalog.Choose(t.Context(), "mini")
		assert.That(t, id == "dead:gpt-5-mini" && err == nil && time.Since(begun) == 0, "%s, %v", id, err)
		stopped, stop := context.WithCancel(t.Context())
		stop()
		_, err = catalog.Choose(stopped, "what")
		assert.That(t, errors.Is(err, context.Canceled), "%v", err)
	})
}
