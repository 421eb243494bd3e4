package cli

import (
	"context"
	"path/filepath"
	"testing"

	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/service/servicetest"
)

const pricedModel = "anthropic:claude-haiku-4-5-20251001"

type pricedEnv struct{}

func (pricedEnv) Models() []string { return []string{pricedModel} }

// expensive has an assistant each of whose answers costs a dollar.
func expensive(store journal.Store) ([]*assistant.Assistant, error) {
	a, err := servicetest.Describe(store, run.Performer{Do: func(context.Context, run.Job) (any, error) {
		return "dear", nil
	}})
	if err != nil {
		return nil, err
	}
	begin := a.Begin
	a.Begin = func(ctx context.Context, r assistant.Request) (run.Spec, error) {
		r.Options = "ada"
		spec, err := begin(ctx, r)
		spec.Env = pricedEnv{}
		return spec, err
	}
	a.Used = func(*run.CompletionRecord) (journal.Used, bool) {
		return journal.Used{Model: pricedModel, Input: 1_000_000}, true
	}
	return []*assistant.Assistant{a}, nil
}

func TestAddedAssistantGoesBeyondTheLimitOfCostsOnceItMay(t *testing.T) {
	h := newTrial(t)
	h.also = expensive
	tree, err := servicetest.Trees.ReadFile("panel.xml")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(h.home, "panel.xml"), string(tree))
	write(t, filepath.Join(h.home, "sibyl", "config.yaml"), "models:\n  limit: 0.5\n")
	h.has("the first answer", h.says(ExitAnswered, "panel", "-q", "Tea?"), "ada: dear")
	h.has("the refusal", h.says(ExitFailed, "panel", "-q", "Milk?"), "the limit (models.limit) is 0.50 USD",
		"--over-limit goes on")
	h.has("the second answer", h.says(ExitAnswered, "panel", "-q", "--over-limit", "Milk?"), "ada: dear")
}
