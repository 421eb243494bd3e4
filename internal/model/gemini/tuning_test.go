package gemini_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/gemini"
	"sibyl/internal/model/modeltest"
)

func jsonOf(v any) string {
	raw, _ := json.Marshal(v) // JSON always encodes
	return string(raw)
}

func TestWithdrawnToolsAreShownAndForbidden(t *testing.T) {
	for _, noCalls := range []bool{true, false} {
		server := modeltest.NewServer(t, modeltest.Stream("ok"))
		req := wholeRequest()
		req.NoCalls = noCalls
		if _, err := connect(t, server).Chat(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{true: `{"functionCallingConfig":{"mode":"NONE"}}`, false: "null"}[noCalls]
		if got := jsonOf(server.Last().At("toolConfig")); got != want {
			t.Errorf("calls forbidden %v: sent %s", noCalls, got)
		}
	}
}

func TestLimitOfOutputIsTheRequestsElseTheSettings(t *testing.T) {
	for own, want := range map[int]float64{0: 700, 50: 50} {
		server := modeltest.NewServer(t, modeltest.Stream("ok"))
		req := hello()
		req.MaxOutputTokens = own
		if _, err := connect(t, server, func(c *gemini.Config) { c.MaxOutput = 700 }).Chat(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		if got := server.Last().At("generationConfig", "maxOutputTokens"); got != want {
			t.Errorf("of its own %d: sent %v; want %v", own, got, want)
		}
	}
}

func TestThinkingIsAskedForAsTheModelTakesIt(t *testing.T) {
	const noLevel, noZero = "Thinking level is not supported for this model.", "Budget 0 is invalid. This model only works in thinking mode."
	for _, c := range []struct {
		name, think string
		rejected    []string
		want        string
	}{
		{"nothing set", "", nil, `null`},
		{"on", "on", nil, `{"thinkingBudget":-1}`},
		{"off", "off", nil, `{"thinkingBudget":0}`},
		{"off, where it can't be", "off", []string{noZero}, `{"thinkingLevel":"LOW"}`},
		{"off, where it can't be, in other words", "off", []string{"The model does not support setting thinking_budget to 0"}, `{"thinkingLevel":"LOW"}`},
		{"off, where it can't be and there is no level", "off", []string{noZero, noLevel}, `null`},
		{"a level", "medium", nil, `{"thinkingLevel":"MEDIUM"}`},
		{"a level of an older model", "high", []string{noLevel}, `{"thinkingBudget":24576}`},
		{"a level of a model that does not think", "low", []string{"Thinking is not enabled for models/gemini-fake"}, `null`},
	} {
		var answers []modeltest.Answer
		for _, message := range c.rejected {
			answers = append(answers, modeltest.Answer{Raw: &modeltest.Raw{Status: http.StatusBadRequest, Body: `{"error": {"code": 400, "message": "` + message + `", "status": "INVALID_ARGUMENT"}}`}})
		}
		server := modeltest.NewServer(t, append(answers, modeltest.Stream("ok"), modeltest.Stream("ok"))...)
		m := connect(t, server, func(o *gemini.Config) { o.Think = c.think })
		for range 2 {
			if _, err := m.Chat(t.Context(), hello(), nil); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got := jsonOf(server.Last().At("generationConfig", "thinkingConfig")); got != c.want {
				t.Errorf("%s: %s; want %s", c.name, got, c.want)
			}
		}
		if n := len(server.Requests()); n != len(c.rejected)+2 {
			t.Errorf("%s: %d requests for two answers", c.name, n)
		}
	}
}

func TestModelIsDescribedByItsEntry(t *testing.T) {
	for name, c := range map[string]struct {
		told string
		want model.Info
		kind model.Kind
	}{
		"gemini-fake": {`{"name": "models/gemini-fake","inputTokenLimit": 1048576,"outputTokenLimit": 65536,"supportedGenerationMethods": ["generateContent","countTokens"]}`,
			model.Info{Window: 1_048_576, Output: 65_536}, ""},
		"tunedModels/mine": {`{"inputTokenLimit": 2048,"supportedGenerationMethods": ["embedContent"]}`, model.Info{Window: 2048, NoChat: true}, ""},
		"missing":          {"", model.Info{}, model.Invalid},
		"..":               {"", model.Info{}, model.Invalid},
	} {
		server := modeltest.NewServer(t)
		server.Told = map[string]string{name: c.told}
		got, err := connect(t, server, func(o *gemini.Config) { o.Model = name }).Describe(t.Context())
		if got != c.want || (err != nil) != (c.kind != "") || err != nil && model.KindOf(err) != c.kind {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

func TestCallsBeforeThereWereTooManyStand(t *testing.T) {
	answer := raw(parts(`{"functionCall": {"name": "f"}}`), finish("TOO_MANY_TOOL_CALLS"))
	resp, err := connect(t, modeltest.NewServer(t, answer)).Chat(t.Context(), hello(), nil)
	if err != nil || len(resp.ToolCalls) != 1 || resp.Finish != model.FinishOther {
		t.Errorf("%+v, %v", resp, err)
	}
}

func TestThinkingThatUsesUpTheOutputIsNoAnswer(t *testing.T) {
	answer := raw(parts(`{"text": "hm","thought": true}`), finish("MAX_TOKENS"))
	resp, err := connect(t, modeltest.NewServer(t, answer)).Chat(t.Context(), hello(), nil)
	if model.KindOf(err) != model.OutputLength || resp.Attempts != 1 {
		t.Errorf("%+v, %v", resp, err)
	}
}
