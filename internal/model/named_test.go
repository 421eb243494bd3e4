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
		{Name: "absent", Missing: "set a key", List: hanging}, {Name: "maker", Missing: "set a key"},
		{Name: "router", List: listing("qwen/qwen3-coder", "deepseek/deepseek-chat", "meta/llama3", "meta/llama3.3",
			"maker/one", "org/small:free", "tuned:free", "absent:two", "gemma3:4b")},
		{Name: "own", Default: "house-7b", List: func(context.Context) ([]string, error) { return nil, errors.New("off") }},
		{Name: "ollama", Local: true, Probe: true, List: listing("qwen3:8b", "qwen3:14b", "llama3:latest", "gemma3:4b",
			"nomic-embed-text:latest", "openai:7b", "router:7b")},
	}
	for wanted, want := range map[string]string{
		"gpt-4o": "openai:gpt-4o", "GPT-4o": "openai:gpt-4o", "o3": "openai:o3", "gpt4o": "openai:gpt-4o",
		// of this machine, though a hosted one has the name as well
		"gemma3:4b": "ollama:gemma3:4b", "openai:7b": "ollama:openai:7b", "router:7b": "ollama:router:7b",
		"org/small:free": "router:org/small:free", "small:free": "router:org/small:free", "tuned:free": "router:tuned:free",
		// a provider that is not set up hides no model, and is not replaced by one that has less than the whole name
		"maker": "router:maker/one", "absent:two": "router:absent:two", "maker:one": "maker is not set up: set a key",
		"absent:t": "absent is not set up: set a key", "org/none:free": `no model is called "org/none:free": ‘sibyl models’`,
		"openai:gpt-9": "openai:gpt-9", "qwen3:8b": "ollama:qwen3:8b", "llama3": "ollama:llama3:latest", "gemma3": "ollama:gemma3:4b", "gem": "ollama:gemma3:4b",
		"sonnet": "anthropic:claude-sonnet-4-5", "sonnet-4.5": "anthropic:claude-sonnet-4-5",
		"haiku": "anthropic:claude-3-5-haiku-latest", "claude-op": "anthropic:claude-opus-4-1",
		"deepseek-chat": "router:deepseek/deepseek-chat", "meta/llama3.3": "router:meta/llama3.3",
		"house-7b": "own:house-7b", "anthropic:opus": "anthropic:opus",
		"qwen3": "fits 2 models: ollama:qwen3:8b, ollama:qwen3:14b. ",
		// a hosted model alone has the part, but one of this machine begins with it
		"coder": "router:qwen/qwen3-coder", "qwen": "fits 3 models: ollama:qwen3:8b, ollama:qwen3:14b, router:qwen/qwen3-coder. ",
		"claude":  `"claude" fits 3 models: anthropic:claude-sonnet-4-5, anthropic:claude-opus-4-1, `,
		"mini":    "openai:gpt-4o-mini",
		"nomic":   `no model is called "nomic"`,
		"onnet":   `no model is called "onnet": ‘sibyl models’ lists those that are there; not set up: absent, maker; not reached: own`,
		"foo:bar": `there is no provider "foo", and no model is called "foo:bar": write provider:model, with one of openai, `,
	} {
		id, err := catalog.Choose(context.Background(), wanted)
		if err != nil {
			id = err.Error()
		}
		assert.That(t, id == want || err != nil && strings.Contains(id, want), "%s: %s, want %s", wanted, id, want)
	}
}

func TestNoHostedProviderIsAskedForANameOfThisMachine(t *testing.T) {
	asked := false
	catalog := model.Catalog{{Name: "hosted", Listed: kept(time.Minute, "qwen3:8b", "o4"),
		List: func(context.Context) ([]string, error) { asked = true; return []string{"qwen3:8b", "o4"}, nil }},
		{Name: "ollama", Local: true, List: listing("qwen3:8b", "gemma3:latest"), Listed: kept(72*time.Hour, "gemma3:latest")}}
	for wanted, want := range map[string]string{"qwen3:8b": "ollama:qwen3:8b", "gemma3": "ollama:gemma3:latest",
		"o4": "hosted:o4", "hosted:qwen3:8b": "hosted:qwen3:8b"} {
		id, err := catalog.Choose(t.Context(), wanted)
		assert.That(t, id == want && err == nil && !asked, "%s: %s, %v; asked: %v", wanted, id, err, asked)
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
