package app

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// prepared is the program on a settings file, without a journal.
func prepared(t *testing.T, file string, environ ...string) *App {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "config.yaml", file)
	cfg, err := config.Load(config.Options{Path: filepath.Join(dir, "config.yaml"), Home: t.TempDir(), Environ: environ})
	assert.NoError(t, err)
	a := assert.Must(Prepare(cfg))(t)
	return a
}

const shownLlama = `{"template":"{{ if .Tools }}{{ .Tools }}{{ end }}{{ if .ToolCalls }}{\"name\"}{{ end }}","capabilities":["completion","tools","thinking"],
	"model_info":{"general.architecture":"llama","llama.context_length":131072}}`

func TestModelIsDescribedByItsProviderOnceOrBySettingOrName(t *testing.T) {
	ollama := modeltest.NewServer(t)
	ollama.ModelInfo = map[string]string{"llama3.1:8b": shownLlama}
	anthropic := modeltest.NewServer(t)
	anthropic.ModelInfo = map[string]string{"claude-x": `{"max_input_tokens":300000,"max_tokens":9000}`}
	gemini := modeltest.NewServer(t)
	gemini.ModelInfo = map[string]string{
		"gemini-x": `{"inputTokenLimit":5000,"outputTokenLimit":600,"supportedGenerationMethods":["generateContent"]}`}
	a := prepared(t, fmt.Sprintf(`
ollama: {host: %s, context: 16384}
providers:
  box: {kind: ollama, base_url: %[1]s, window: 20000}
  house: {kind: anthropic, base_url: %s, local: false}
  google: {kind: gemini, base_url: %s, local: false}
  set: {kind: anthropic, base_url: %[2]s, local: false, window: 7000}
`, ollama.BaseURL, anthropic.BaseURL, gemini.BaseURL))
	for _, c := range []struct {
		id   string
		want model.Info
	}{
		{"ollama:llama3.1:8b", model.Info{Window: 16_384, NoPictures: true, BareCalls: true}},
		{"box:llama3.1:8b", model.Info{Window: 20_000, NoPictures: true, BareCalls: true}},
		{"house:claude-x", model.Info{Window: 300_000, Output: 9000}},
		{"house:claude-opus-4-5", model.Info{Window: 200_000, Output: 64_000}}, // which the server does not know
		{"google:gemini-x", model.Info{Window: 5000, Output: 600}},
		{"set:claude-x", model.Info{Window: 7000}},
		{"offline:rules", model.Info{NoPictures: true}},
		{"nobody:x", model.Info{}},
		{"", model.Info{}},
	} {
		for range 2 {
			assert.Equalf(t, a.Describe(t.Context(), c.id), c.want, "%s", c.id)
		}
	}
	n, m, k := len(ollama.InfoRequests()), len(anthropic.InfoRequests()), len(gemini.InfoRequests())
	assert.That(t, n == 2 && m == 3 && k == 1,
		"the servers were asked %d, %d and %d times; want once for each model that they know", n, m, k)
}

// asked asks a model hello, which its server answers.
func asked(t *testing.T, a *App, id string) {
	t.Helper()
	m := assert.Must(a.Models.Open(id))(t)
	req := model.Request{Messages: []model.Message{{Role: model.User, Text: "hello"}}}
	_, err := m.Chat(t.Context(), req, nil)
	assert.That(t, err == nil, "%s: %v", id, err)
}

func TestSettingsOfAProviderReachItsRequests(t *testing.T) {
	ok := modeltest.Stream("ok")
	ollama := modeltest.NewServer(t, ok, ok)
	ollama.ModelInfo = map[string]string{"llama3.1:8b": shownLlama}
	anthropic, gemini, openai := modeltest.NewServer(t, ok), modeltest.NewServer(t, ok), modeltest.NewServer(t, ok)
	const shared = "max_output: 777, headers: {X-Team: search, X-Gateway-Token: " +
		"$GATEWAY}, query: {tenant: a}, body: {extra: [1]}"
	a := prepared(t, fmt.Sprintf(`
ollama: {host: %[1]s, think: low, keep_alive: 10m, %[5]s}
providers:
  box: {kind: ollama, base_url: %[1]s, window: 20000, think: on, keep_alive: forever, %[5]s}
  house: {kind: anthropic, base_url: %[2]s, think: high, %[5]s}
  google: {kind: gemini, base_url: %[3]s, think: off, %[5]s}
  work: {base_url: %[4]s, api: chat, %[5]s}
`, ollama.BaseURL, anthropic.BaseURL, gemini.BaseURL, openai.BaseURL, shared), "GATEWAY=gateway-value-0123456789")
	for _, id := range []string{"ollama:llama3.1:8b", "box:llama3.1:8b", "house:m", "google:m", "work:m"} {
		asked(t, a, id)
	}
	for name, c := range map[string]struct {
		sent  modeltest.Request
		holds []string
	}{
		"ollama": {ollama.Requests()[0], []string{`"num_ctx":32768`, `"num_predict":777`, `"think":"low"`,
			`"keep_alive":"10m0s"`}},
		"box": {ollama.Requests()[1], []string{`"num_ctx":20000`, `"num_predict":777`, `"think":true`,
			`"keep_alive":"-1s"`}},
		"house":  {anthropic.Requests()[0], []string{`"max_tokens":777`, `"adaptive"`, `"effort":"high"`}},
		"google": {gemini.Requests()[0], []string{`"maxOutputTokens":777`, `"thinkingBudget":0`}},
		"work":   {openai.Requests()[0], []string{`777`}},
	} {
		assert.Contains(t, name, c.sent.Body, append(c.holds, `"extra":[1]`)...)
		assert.That(t, c.sent.Header.Get("X-Team") == "search" &&
			c.sent.Header.Get("X-Gateway-Token") == "gateway-value-0123456789" && c.sent.Query.Get("tenant") == "a",
			"%s: sent with %v and %v", name, c.sent.Header, c.sent.Query)
	}
	text := a.Redact("gateway-value-0123456789")
	assert.That(t, !strings.Contains(text, "gateway-value"), "the header from the environment is not redacted")
}

func TestHeaderThatIsNotThereIsToldBeforeAnythingIsSent(t *testing.T) {
	a := prepared(t, "providers: {work: {base_url: 'http://127.0.0.1:1/v1', headers: {X-Gateway-Token: $GATEWAY}}}")
	_, err := a.Models.Open("work:m")
	assert.That(t, err != nil && strings.Contains(err.Error(), "GATEWAY, which is not set"), "opened with %v", err)
	_, err = a.Models.Choose(t.Context(), "work")
	assert.That(t, err != nil && strings.Contains(err.Error(), "GATEWAY, which is not set"), "chosen with %v", err)
}

func TestProviderSaysHowItsModelsReport(t *testing.T) {
	a := prepared(t, "ollama: {report: tool}\nproviders: {work: {base_url: 'https://w.test/v1', report: signals}, "+
		"other: {base_url: 'https://o.test/v1', report: tool}}")
	for id, want := range map[string]model.ReportForm{"ollama:a": model.ReportTool, "work:a": model.ReportText,
		"other:a": model.ReportTool, "other": model.ReportTool, "offline:rules": ""} {
		assert.Equalf(t, a.ReportForm(id), want, "%s", id)
	}
}
