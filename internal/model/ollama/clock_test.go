package ollama_test

import (
	"testing"

	"sibyl/internal/model/modeltest"
)

func TestWaitsAreForProgress(t *testing.T) {
	modeltest.Clocks(t, over, modeltest.Wire{
		Alive:   []string{"\n", chunk("") + "\n"},
		Thought: `{"model":"m","message":{"role":"assistant","content":"","thinking":"hm"},"done":false}` + "\n",
		Text:    chunk("word ") + "\n",
		End:     done + "\n",
		Usage: func(input string) string {
			return `{"model":"m","done":true,"done_reason":"stop","eval_count":3,"prompt_eval_count":` + input + "}\n"
		},
	})
}
