package witness

import (
	"context"

	"sibyl/internal/model"
)

// Noting is a model that notes the time-outs after which it was asked again. It serves one effect.
type Noting struct {
	model.Model
	TimedOut []model.Try
}

// Chat implements model.Model.
func (n *Noting) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	return n.Model.Chat(ctx, req, func(d model.Delta) error {
		if d.Wait != nil && d.Wait.Kind == model.Timeout {
			n.TimedOut = append(n.TimedOut, model.Try{Model: d.Wait.Model, Kind: d.Wait.Kind})
		}
		if emit == nil {
			return nil
		}
		return emit(d)
	})
}
