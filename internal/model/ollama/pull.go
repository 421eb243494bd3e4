package ollama

import (
	"context"
	"encoding/json"
	"errors"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// Bounds of what a server may report of a model: its layers, and the bytes of each. Their product does not overflow.
const (
	maxLayers     = 1000
	maxLayerBytes = 1 << 44
)

// Pull has the server load the model, and reports the progress: at least once, from one goroutine. Cancelling ctx stops
// it; the server keeps what it has loaded, and the next Pull continues from there.
func (m *Model) Pull(ctx context.Context, report func(model.PullProgress)) error {
	x, err := m.Open(ctx)
	if err != nil {
		return err
	}
	defer x.Close()
	body, err := json.Marshal(map[string]any{"model": m.config.Model, "stream": true})
	if err != nil {
		return x.Fail(model.Invalid, err.Error(), err)
	}
	layers := map[string]model.PullProgress{}
	return x.PostAndReadLines("api/pull", body, func(line []byte) error { return handlePullLine(x, layers, line, report) })
}

// handlePullLine reads a line of a pull and reports the sum of the progress. layers is the progress of each layer, by
// digest.
func handlePullLine(
	x *wire.Call, layers map[string]model.PullProgress, line []byte, report func(model.PullProgress),
) error {
	var update struct {
		Status    string `json:"status"`
		Digest    string `json:"digest"`
		Total     int64  `json:"total"`
		Completed int64  `json:"completed"`
		Error     string `json:"error"`
	}
	if err := json.Unmarshal(line, &update); err != nil {
		return x.BadEventError(line, err)
	}
	if update.Error != "" {
		return x.StreamError(line)
	}
	if update.Digest != "" && update.Total > 0 {
		total := min(update.Total, maxLayerBytes)
		layers[update.Digest] = model.PullProgress{Done: min(max(update.Completed, 0), total), Total: total}
	}
	if len(layers) > maxLayers {
		return x.BadEventError(line, errors.New("the model has too many layers"))
	}
	sum := model.PullProgress{Status: update.Status}
	for _, layer := range layers {
		sum.Done += layer.Done
		sum.Total += layer.Total
	}
	report(sum)
	x.Done = update.Status == "success"
	return nil
}
