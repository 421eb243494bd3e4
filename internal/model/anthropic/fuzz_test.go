package anthropic_test

import (
	"net/http"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/anthropic"
	"sibyl/internal/model/modeltest"
)

func over(client *http.Client) model.Model {
	return anthropic.New(anthropic.Config{Provider: "house", Model: "m", BaseURL: "http://house", HTTPClient: client})
}

func FuzzStream(f *testing.F) {
	modeltest.FuzzStreams(f, over,
		start+begin(0, textBlock)+textDelta(0, "hi")+end(0)+finish("end_turn")+stop,
		thinkingAnswer().Raw.Body,
		start+begin(0, toolBlock("", "f"))+argumentsDelta(0, "{")+": note\r\n"+finish("refusal")+stop,
		start+begin(0, textBlock)+textDelta(0, "half")+event("error", `"error":{"type":"overloaded_error","message":"x"}`),
		start+event("weather", `"delta":7`)+begin(3, `"type":"x"`)+textDelta(3, "leak")+textDelta(4, "lost"),
		"{\"error\":\"x\"}",
	)
}
