package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// silent is a report that says nothing.
type silent struct{}

func (silent) Said() string                            { return "" }
func (silent) Called() []model.ToolCall                { return nil }
func (silent) Among([]model.ToolCall) []model.ToolCall { return nil }

// A run is not ended by a journal that is away: who drives it must be able to tell that from a request that can't be
// composed.
func TestRequestThatCanNotReadTheJournalIsAFaultThatSaysWhy(t *testing.T) {
	b := &Builder[silent]{Of: func(TurnPayload) (TurnPrompt, error) {
		return nil, fmt.Errorf("an earlier exchange: %w", journal.ErrUnreachable)
	}}
	job := run.Job{View: &run.View{}, Effect: bt.Effect{Kind: EffectTurn, Payload: json.RawMessage(`{}`)}}
	_, err := Turns(b, nil, nil).Do(context.Background(), job)
	var f *bt.Fault
	if !errors.As(err, &f) || f.Kind != "request" || !errors.Is(err, journal.ErrUnreachable) {
		t.Errorf("the error is %v, with the fault %+v", err, f)
	}
}
