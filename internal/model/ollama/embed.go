package ollama

import (
	"context"
	"encoding/json"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// embedRequest is the body of api/embed.
type embedRequest struct {
	Model    string   `json:"model"`
	Input    []string `json:"input"`
	Truncate bool     `json:"truncate"`
	Options  options  `json:"options"`
}

// Embed turns texts into vectors, 64 in a request. A text that does not fit into the window is ContextLength, where Ollama by
// itself drops its end.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, model.Usage, error) {
	return m.Client.Embed(ctx, texts, "api/embed", func(some []string) any {
		return embedRequest{Model: m.name, Input: some, Options: options{NumCtx: m.numCtx}}
	}, func(answer []byte) (v wire.Vectors, err error) {
		var body struct {
			Embeddings  [][]float32 `json:"embeddings"`
			InputTokens int         `json:"prompt_eval_count"`
		}
		err = json.Unmarshal(answer, &body)
		v.List, v.Usage.InputTokens = body.Embeddings, body.InputTokens
		return v, err
	})
}
