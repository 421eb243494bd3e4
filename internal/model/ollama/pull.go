package ollama

import (
	"context"
	"encoding/json"
	"errors"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// What a server may say of a model: how many layers it has, and how large one is, in bytes. Their sum can be counted
// with.
const (
	mostLayers = 1000
	mostLayer  = 1 << 44
)

// Pull has the server load the model, and tells how far it is: at least once, from one goroutine. Cancelling ctx stops
// it; the server keeps what it has loaded, and the next Pull goes on from there.
func (m *Model) Pull(ctx context.Context, told func(model.PullProgress)) error {
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
	return x.PostAndReadLines("api/pull", body, func(line []byte) error { return pulled(x, layers, line, told) })
}

// pulled takes a line of a pull in: layers are how far each layer of the model is.
func pulled(x *wire.Call, layers map[string]model.PullProgress, line []byte, told func(model.PullProgress)) error {
	var at struct {
		Status    string `json:"status"`
		Digest    string `json:"digest"`
		Total     int64  `json:"total"`
		Completed int64  `json:"completed"`
		Error     string `json:"error"`
	}
	if err := json.Unmarshal(line, &at); err != nil {
		return x.BadEventError(err)
	}
	if at.Error != "" {
		return x.StreamError(line)
	}
	if at.Digest != "" && at.Total > 0 {
		whole := min(at.Total, mostLayer)
		layers[at.Digest] = model.PullProgress{Done: min(max(at.Completed, 0), whole), Total: whole}
	}
	if len(layers) > mostLayers {
		return x.BadEventError(errors.New("the model has too many layers"))
	}
	sum := model.PullProgress{Status: at.Status}
	for _, layer := range layers {
		sum.Done += layer.Done
		sum.Total += layer.Total
	}
	told(sum)
	x.Done = at.Status == "success"
	return nil
}
