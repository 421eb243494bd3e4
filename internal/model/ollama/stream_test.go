package ollama_test

import (
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// raw is an answer of these lines.
func raw(lines ...string) modeltest.Answer {
	return modeltest.Answer{Raw: &modeltest.Raw{Body: strings.Join(lines, "\n") + "\n"}}
}

func chunk(text string) string {
	return `{"model":"m","message":{"role":"assistant","content":"` + text + `"},"done":false}`
}

const done = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`

func TestThinkingOfACutAnswerIsKept(t *testing.T) {
	answer := raw(`{"message":{"content":"","thinking":"hmm"}}`)
	resp, err := connect(t, modeltest.NewServer(t, answer)).Chat(t.Context(), hello(), nil)
	if model.KindOf(err) != model.Server || resp.Native == nil || string(resp.Native.Turn) != `{"thinking":"hmm"}` || resp.Text != "" {
		t.Errorf("got %+v, %v", resp, err)
	}
}
