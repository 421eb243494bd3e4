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

type readingKey struct{}

// WithReading has tell told how far models are with reading what they are asked in this context: see model.WithReading.
func WithReading(ctx context.Context, tell func(model.Reading)) context.Context {
	return context.WithValue(ctx, readingKey{}, tell)
}

// Chat implements model.Model.
func (n *Noting) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	asked := n.Model
	if tell, _ := ctx.Value(readingKey{}).(func(model.Reading)); tell != nil {
		asked = model.WithReading(asked, tell)
	}
	return asked.Chat(ctx, req, func(d model.Delta) error {
		if d.Wait != nil && d.Wait.Kind == model.Timeout {
			n.TimedOut = append(n.TimedOut, model.Try{Model: d.Wait.Model, Kind: d.Wait.Kind})
		}
		if emit == nil {
			return nil
		}
		return emit(d)
	})
}
