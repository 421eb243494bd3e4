package anthropic_test

import (
	"testing"

	"sibyl/internal/model/modeltest"
)

func TestWaitsAreForProgress(t *testing.T) {
	modeltest.Clocks(t, over, modeltest.Wire{
		Begin:   start + begin(0, thinkingBlock) + begin(1, textBlock),
		Alive:   []string{ping, ": note\n\n", "\n", textDelta(1, ""), event("weather", `"delta":7`)},
		Thought: delta(0, `"type":"thinking_delta","thinking":"hm"`),
		Text:    textDelta(1, "word "),
		End:     finish("end_turn") + stop,
		Usage: func(input string) string {
			return event("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3,"cache_read_input_tokens":`+input+`}`) + stop
		},
	})
}
