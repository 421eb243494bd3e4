package app

import (
	"context"
	"fmt"
	"time"

	"sibyl/internal/model"
)

// Embedder returns the model of that id, with retries. One that can't be opened fails only when it is used, since
// searches can do without it.
func (a *App) Embedder(id string) model.Embedder {
	e := embedder{id: id}
	m, err := a.Models.Open(id)
	if err != nil {
		e.problem = fmt.Errorf("%s: %w", id, err)
		return e
	}
	var embeds bool
	if e.Embedder, embeds = m.(model.Embedder); !embeds {
		e.problem = fmt.Errorf("%s does not embed: name an embedding model, such as ollama:nomic-embed-text", id)
	}
	return e
}

type embedder struct {
	model.Embedder
	id      string
	problem error // why there is none
}

// embedPatience limits the wait for an overloaded provider: there is another way to search.
const embedPatience = 30 * time.Second

// Embed implements model.Embedder.
func (e embedder) Embed(ctx context.Context, texts []string) (vectors [][]float32, usage model.Usage, err error) {
	if e.problem != nil {
		return nil, usage, e.problem
	}
	err = model.RetryPolicy{Patience: embedPatience}.Do(ctx, e.id, func() error {
		var spent model.Usage
		vectors, spent, err = e.Embedder.Embed(ctx, texts)
		usage = usage.Add(spent)
		return err
	}, nil)
	return vectors, usage, err
}
