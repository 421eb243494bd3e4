package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestModelThatTellsTheTextAloneIsNotAskedForMore(t *testing.T) {
	for name, want := range map[string]string{"gpt-4o-mini-transcribe": "json", "whisper-1": "verbose_json"} {
		server := modeltest.NewServer(t, modeltest.Answer{Transcript: model.Transcript{Text: "hi", Seconds: 1}})
		m := connect(t, server, func(c *openai.Config) { c.Model = name })
		got, err := m.Transcribe(t.Context(), model.Audio{Name: "a.wav", Content: strings.NewReader("RIFF")})
		assert.That(t, err == nil && got.Text == "hi" && (got.Seconds != 0) == (want == "verbose_json"),
			"%s: got %+v, %v", name, got, err)
		r := server.Requests()[0]
		assert.That(t, r.Form.Get("response_format") == want && r.File == "RIFF" && !r.Form.Has("language"),
			"%s: sent %v", name, r.Form)
	}
}

func TestEndpointThatRejectsTheDetailsOfATranscriptIsAskedForItsText(t *testing.T) {
	rejection := modeltest.Answer{Raw: &modeltest.Raw{Status: 400,
		Body: `{"error":{"message":"response_format 'verbose_json' is not compatible with model"}}`}}
	said := modeltest.Answer{Transcript: model.Transcript{Text: "hi"}}
	server := modeltest.NewServer(t, rejection, said, said)
	m := connect(t, server)
	for range 2 {
		got, err := m.Transcribe(t.Context(), model.Audio{Name: "a.wav", Content: strings.NewReader("RIFF")})
		assert.Require(t, err == nil && got.Text == "hi", "got %+v, %v", got, err)
	}
	var formats []string
	for _, r := range server.Requests() {
		formats = append(formats, r.Form.Get("response_format")+" "+r.File)
	}
	assert.Same(t, []string{"verbose_json RIFF", "json RIFF", "json RIFF"}, formats)
}

func TestFailureOfATranscriptionThatComesAsASuccessIsOne(t *testing.T) {
	server := modeltest.NewServer(t,
		modeltest.Answer{Raw: &modeltest.Raw{Body: `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`,
			Header: http.Header{"Retry-After": {"7"}}}})
	_, err := connect(t, server).Transcribe(t.Context(), model.Audio{Name: "a.wav", Content: strings.NewReader("RIFF")})
	var failed *model.Error
	assert.That(t, errors.As(err, &failed) && failed.Kind == model.RateLimit && failed.RetryAfter == 7*time.Second &&
		strings.Contains(err.Error(), "slow down"), "got %v", err)
}

func connect(t testing.TB, server *modeltest.Server, adjust ...func(*openai.Config)) *openai.Model {
	c := openai.Config{Provider: "house", Model: "llama3.1:8b", BaseURL: server.BaseURL}
	for _, f := range adjust {
		f(&c)
	}
	m := openai.New(c)
	t.Cleanup(m.Close)
	return m
}

func hello() model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Text: "hello"}}}
}

func TestListIsSortedIDs(t *testing.T) {
	server := modeltest.NewServer(t)
	server.Models = []string{"qwen3:4b", "llama3.1:8b"}
	got, err := connect(t, server).List(t.Context())
	diff := cmp.Diff([]string{"llama3.1:8b", "qwen3:4b"}, got)
	assert.That(t, err == nil && diff == "", "error %v, ids (-want +got):\n%s", err, diff)
}

// canaryKey is a key that goes where the endpoint looks for it, and nowhere else.
const canaryKey = "canary-0123456789"

func canary(context.Context) (string, error) { return canaryKey, nil }

func response(status int, kind, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}},
		Body: io.NopCloser(strings.NewReader(body))}
}

func delta(text string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"}}]}` + "\n\n"
}

const done = "data: [DONE]\n\n"

// asked keeps a request, and answers it with a word.
type asked struct{ *http.Request }

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	a.Request = r
	return response(200, "text/event-stream", delta("ok")+done), nil
}

func TestClassicAzureGetsItsKeyVersionAndDeployment(t *testing.T) {
	var got asked
	m := openai.New(openai.Config{Provider: "house", Model: "m",
		BaseURL: "https://person.openai.azure.com/openai/deployments/mine",
		Key:     canary, Query: map[string]string{"api-version": "2024-10-21"},
		HTTPClient: &http.Client{Transport: &got}})
	assert.Must(m.Chat(t.Context(), hello(), nil))(t)
	if got.URL.String() != "https://person.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21" ||
		got.Header.Get("Api-Key") != canaryKey || got.Header.Get("Authorization") != "" {
		t.Errorf("sent to %s with %v", got.URL, got.Header)
	}
}

// TestWhatLlamaCppHasReadIsToldWithoutWhatItRemembers has chunks as its server sends them.
func TestWhatLlamaCppHasReadIsToldWithoutWhatItRemembers(t *testing.T) {
	progress := func(processed string) string {
		return `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],` +
			`"object":"chat.completion.chunk","prompt_progress":{"total":1100,"cache":100,"processed":` + processed +
			`,"time_ms":181}}` + "\n\n"
	}
	thought := `data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}` + "\n\n"
	server := modeltest.NewServer(t, modeltest.Answer{Raw: &modeltest.Raw{Body: progress("100") + progress("350") +
		progress("350") + progress("1100") + thought + delta("ok") + done}})
	m := connect(t, server, func(c *openai.Config) { c.Local = true })
	var told []model.Reading
	resp, err := m.Chat(t.Context(), hello(), func(d model.Delta) error {
		if d.Reading != nil {
			told = append(told, *d.Reading)
		}
		return nil
	})
	assert.NoError(t, err)
	assert.That(t, resp.Text == "ok" && server.Last().At("return_progress") == true, "%q, asked with %s", resp.Text,
		server.Last().Body)
	assert.Same(t, []model.Reading{{Tokens: 1000, Read: 250}, {Tokens: 1000, Read: 1000}, {}}, told)
}

func TestOnlyServersOfThePersonAreAskedWhatTheyHaveReadAndNoneThatRejectsIt(t *testing.T) {
	var got asked
	for address, want := range map[string]bool{"https://api.house.example/v1": false, "http://192.168.1.7:8080/v1": true} {
		m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: address,
			HTTPClient: &http.Client{Transport: &got}})
		assert.Must(m.Chat(t.Context(), hello(), nil))(t)
		body := string(assert.Must(io.ReadAll(got.Body))(t))
		assert.That(t, strings.Contains(body, "return_progress") == want, "%s was asked with %s", address, body)
	}
	server := modeltest.NewServer(t, modeltest.Answer{Raw: &modeltest.Raw{Status: 400,
		Body: `{"error":{"message":"unknown field: return_progress"}}`}}, modeltest.Stream("ok"), modeltest.Stream("ok"))
	m := connect(t, server, func(c *openai.Config) { c.Local = true })
	for range 2 {
		assert.Must(m.Chat(t.Context(), hello(), nil))(t)
	}
	var sent []bool
	for _, r := range server.Requests() {
		sent = append(sent, r.At("return_progress") == true)
	}
	assert.Same(t, []bool{true, false, false}, sent)
}

func TestReasoningThatAnEndpointRejectsIsLeftOut(t *testing.T) {
	for name, said := range map[string]string{
		"reasoning_content": "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : " +
			"property 'reasoning_content' is unsupported)]",
		"reasoning":         "'messages.1' : property 'reasoning' is unsupported",
		"reasoning_details": "messages.1.assistant.reasoning_details: property unsupported",
	} {
		thought := modeltest.Raw{
			Body: `data: {"choices":[{"index":0,"delta":{"content":"so","reasoning_content":"a","reasoning":"b","reasoning_details":[{"text":"c"}]}}]}` + "\n\n" + done}
		server := modeltest.NewServer(t, modeltest.Answer{Raw: &thought},
			modeltest.Answer{Raw: &modeltest.Raw{Status: 400, Body: `{"error":{"message":"` + said + `"}}`}},
			modeltest.Stream("ok"))
		m := connect(t, server)
		first := assert.Must(m.Chat(t.Context(), hello(), nil))(t)
		req := hello()
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: first.Text,
			Native: first.Native}, model.Message{Role: model.User, Text: "and?"})
		if _, err := m.Chat(t.Context(), req, nil); err != nil || strings.Contains(server.Last().Body, "reasoning") {
			t.Errorf("%s: %v, asked again with %s", name, err, server.Last().Body)
		}
	}
}

func TestLikeliestWordsAreAskedForOfServersOfThePersonAndOfNoneThatRejectsATemperature(t *testing.T) {
	greedy := hello()
	greedy.Greedy = true
	var got asked
	for address, want := range map[string]bool{"https://api.house.example/v1": false, "http://192.168.1.7:8080/v1": true} {
		m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: address,
			HTTPClient: &http.Client{Transport: &got}})
		assert.Must(m.Chat(t.Context(), greedy, nil))(t)
		body := string(assert.Must(io.ReadAll(got.Body))(t))
		assert.That(t, strings.Contains(body, `"temperature":0`) == want, "%s was asked with %s", address, body)
	}
	m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: "http://192.168.1.7:8080/v1",
		API: openai.Responses, HTTPClient: &http.Client{Transport: &got}})
	_, _ = m.Chat(t.Context(), greedy, nil) // what answers speaks the other protocol
	body := string(assert.Must(io.ReadAll(got.Body))(t))
	assert.Contains(t, "the request", body, `"temperature":0`)
	server := modeltest.NewServer(t, modeltest.Answer{Raw: &modeltest.Raw{Status: 400,
		Body: `{"error":{"message":"Unsupported value: 'temperature' does not support 0"}}`}}, modeltest.Stream("ok"),
		modeltest.Stream("ok"))
	m = connect(t, server, func(c *openai.Config) { c.Local = true })
	assert.Must(m.Chat(t.Context(), greedy, nil))(t)
	assert.Must(m.Chat(t.Context(), hello(), nil))(t)
	var sent []any
	for _, r := range server.Requests() {
		sent = append(sent, r.At("temperature"))
	}
	assert.Same(t, []any{0.0, nil, nil}, sent)
}
