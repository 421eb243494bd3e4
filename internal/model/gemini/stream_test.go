package gemini_test

import (
	"strings"
	"testing"

	"google.golang.org/genai"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// raw is an answer of these events, one line each.
func raw(events ...string) modeltest.Answer {
	return modeltest.Answer{Raw: &modeltest.Raw{Body: strings.Join(events, "\r\n\r\n") + "\r\n\r\n"}}
}

func parts(list ...string) string {
	return `data: {"candidates": [{"content": {"parts": [` + strings.Join(list, ", ") + `],"role": "model"},"index": 0}]}`
}

func text(s string) string { return parts(`{"text": "` + s + `"}`) }

func finish(reason string) string {
	return `data: {"candidates": [{"finishReason": "` + reason + `","index": 0}]}`
}

var stop = finish("STOP")

func TestFinishReasonHasItsMeaning(t *testing.T) {
	for reason, want := range map[string]model.Finish{
		string(genai.FinishReasonStop): model.FinishStop, string(genai.FinishReasonMaxTokens): model.FinishLength,
		string(genai.FinishReasonSafety): model.FinishFilter, string(genai.FinishReasonRecitation): model.FinishFilter,
		string(genai.FinishReasonProhibitedContent): model.FinishFilter, string(genai.FinishReasonBlocklist): model.FinishFilter,
		string(genai.FinishReasonSPII): model.FinishFilter, string(genai.FinishReasonImageSafety): model.FinishFilter,
		string(genai.FinishReasonImageProhibitedContent): model.FinishFilter, string(genai.FinishReasonImageRecitation): model.FinishFilter,
		string(genai.FinishReasonLanguage): model.FinishOther, string(genai.FinishReasonTooManyToolCalls): model.FinishOther,
		"BY_MAGIC": model.FinishOther,
	} {
		got, err := connect(t, modeltest.NewServer(t, raw(text("hi"), finish(reason)))).Chat(t.Context(), hello(), nil)
		if err != nil || got.Finish != want || got.Text != "hi" {
			t.Errorf("%s: got %q with %q, %v; want %s", reason, got.Text, got.Finish, err, want)
		}
	}
}
