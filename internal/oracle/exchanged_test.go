package oracle_test

import (
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/oracle"
	"sibyl/internal/service/assistant"
)

func TestTurnIsToldAsItWasSentAndCallsWithWhatTheyGave(t *testing.T) {
	h := askedHarness(t)
	a := assert.Must(oracle.New(oracle.Deps{}))(t)
	row := assert.Must(h.store.Run(t.Context(), owner, h.last.ID))(t)
	v := assert.Must(a.Recorded(h.store, row, h.records()))(t)
	turns := 0
	for seq, c := range v.Receipts() {
		x, err := oracle.Describe(a, oracle.Surroundings{}).ShowEffect(t.Context(), v, c)
		assert.NoErrorf(t, err, "record %d", seq)
		switch c.Kind {
		case agent.EffectTurn:
			turns++
			toldAsSent(t, h, turns, x)
		case agent.EffectCall:
			got := c.Value.(agent.CallReceipt)
			assert.That(t, x.To == got.Tool && len(x.Got) == 1 && x.Got[0].Text == got.Result.Text &&
				x.Sent[0].Kind == assistant.PartCall, "record %d is told as %+v", seq, x)
		}
	}
	same(t, "turns", turns, 3)
}

// toldAsSent holds the parts of a turn against its request.
func toldAsSent(t *testing.T, h *harness, turn int, x assistant.ShownEffect) {
	t.Helper()
	sent := h.request(turn)
	var segments, texts []string
	tools := 0
	for _, p := range x.Sent {
		switch p.Kind {
		case assistant.PartSegment:
			segments = append(segments, p.Text)
		case assistant.PartTool:
			tools++
		case assistant.PartCall:
		default:
			texts = append(texts, p.Text)
		}
	}
	same(t, "the prompt", strings.Join(segments, "\n\n---\n\n"), sent.System)
	same(t, "tools", tools, len(sent.Tools))
	var said []string
	for _, m := range sent.Messages {
		if m.Text != "" {
			said = append(said, m.Text)
		}
	}
	same(t, "what was said", texts, said)
	assert.That(t, !x.Changed && x.To != "" && len(x.Got) != 0 && x.Got[0].Kind == assistant.PartModel,
		"turn %d is told as %+v", turn, x)
}
