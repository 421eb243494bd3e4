package gemini_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/gemini"
	"sibyl/internal/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t testing.TB, server *modeltest.Server, adjust ...func(*gemini.Config)) *gemini.Model {
	c := gemini.Config{Provider: "google", Model: "gemini-fake", BaseURL: server.BaseURL}
	for _, f := range adjust {
		f(&c)
	}
	m := gemini.New(c)
	t.Cleanup(m.Close)
	return m
}

func fixedKey(key string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return key, nil }
}

func hello() model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Text: "hello"}}}
}

func TestModelIsAskedUnderItsCollection(t *testing.T) {
	for name, want := range map[string]string{
		"gemini-2.5-flash":        "/v1beta/models/gemini-2.5-flash:streamGenerateContent",
		"models/gemini-2.5-flash": "/v1beta/models/gemini-2.5-flash:streamGenerateContent",
		"tunedModels/mine":        "/v1beta/tunedModels/mine:streamGenerateContent",
		"org/model":               "/v1beta/models/org/model:streamGenerateContent",
		"what?key=x#y":            "/v1beta/models/what%3Fkey=x%23y:streamGenerateContent",
		"50%/a%2F..%2Fb":          "/v1beta/models/50%25/a%252F..%252Fb:streamGenerateContent",
	} {
		server := modeltest.NewServer(t, modeltest.Stream("ok"))
		m := connect(t, server, func(c *gemini.Config) { c.Model = name })
		resp, err := m.Chat(t.Context(), hello(), nil)
		if err != nil || resp.Model != "google:"+name {
			t.Errorf("%s: stamped %q, %v", name, resp.Model, err)
			continue
		}
		if got := server.Requests()[0]; got.Path != want || got.Query.Encode() != "alt=sse" {
			t.Errorf("%s: asked %s?%s; want %s?alt=sse", name, got.Path, got.Query.Encode(), want)
		}
	}
}

func TestBaseURLWithoutAPathGetsTheVersion(t *testing.T) {
	for path, want := range map[string]string{"": "/v1beta", "/": "/v1beta", "/v1beta": "/v1beta",
		"/v1beta/": "/v1beta", "/proxy/v1": "/proxy/v1"} {
		server := modeltest.NewServer(t, modeltest.Stream("ok"))
		m := connect(t, server, func(c *gemini.Config) { c.Model, c.BaseURL = "m", c.BaseURL+path })
		_, err := m.Chat(t.Context(), hello(), nil)
		if asked := server.Last().Path; err != nil || asked != want+"/models/m:streamGenerateContent" {
			t.Errorf("%q: asked %s, %v; want it under %s", path, asked, err, want)
		}
	}
}

func TestNameThatLeadsOutOfItsCollectionIsInvalidWithoutARequest(t *testing.T) {
	server := modeltest.NewServer(t)
	for _, name := range []string{"", "../files", "models/", "tunedModels/../x", "a//b", "./x"} {
		m := connect(t, server, func(c *gemini.Config) { c.Model = name })
		resp, err := m.Chat(t.Context(), hello(), nil)
		assert.That(t, model.KindOf(err) == model.Invalid && resp.Attempts == 0 &&
			strings.Contains(err.Error(), "gemini-2.5-flash"),
			"%q: got %v after %d attempts; want invalid, with an example", name, err, resp.Attempts)
	}
	n := len(server.Requests())
	assert.That(t, n == 0, "%d requests were made", n)
}

func TestListIsWhatGeneratesContentSorted(t *testing.T) {
	server := modeltest.NewServer(t)
	server.ModelInfo = map[string]string{
		"/v1beta/models": `{"models":[{"name":"tunedModels/mine","supportedGenerationMethods":["generateContent","countTokens"]},
		{"name":"models/embedding-001","supportedGenerationMethods":["embedContent"]},{"name":"models/gemini-flash","supportedGenerationMethods":["generateContent"]}]}`}
	got, err := connect(t, server, func(c *gemini.Config) { c.Key = fixedKey("list-key") }).List(t.Context())
	diff := cmp.Diff([]string{"gemini-flash", "tunedModels/mine"}, got)
	assert.That(t, err == nil && diff == "", "error %v, names (-want +got):\n%s", err, diff)
	if look := server.InfoRequests()[0]; look.Key() != "list-key" || strings.Contains(look.Query.Encode(), "list-key") {
		t.Errorf("the key is not in its header alone: %+v", look)
	}
}

const text = `data: {"candidates": [{"content": {"parts": [{"text": "hi"}],"role": "model"},"index": 0}]}` + "\r\n\r\n"

func finish(reason string) string {
	return `data: {"candidates": [{"finishReason": "` + reason + `","index": 0}]}` + "\r\n\r\n"
}

func raw(stream string) modeltest.Answer { return modeltest.Answer{Raw: &modeltest.Raw{Body: stream}} }

// finishes are the meanings of the reasons.
func finishes() map[string]model.Finish {
	return map[string]model.Finish{
		"STOP": model.FinishStop, "MAX_TOKENS": model.FinishLength, "SAFETY": model.FinishFilter,
		"RECITATION": model.FinishFilter, "PROHIBITED_CONTENT": model.FinishFilter, "BLOCKLIST": model.FinishFilter,
		"SPII": model.FinishFilter, "IMAGE_SAFETY": model.FinishFilter,
		"IMAGE_PROHIBITED_CONTENT": model.FinishFilter, "IMAGE_RECITATION": model.FinishFilter,
		"LANGUAGE": model.FinishOther, "TOO_MANY_TOOL_CALLS": model.FinishOther,
		"BY_MAGIC": model.FinishOther,
	}
}

func TestFinishReasonHasItsMeaning(t *testing.T) {
	for reason, want := range finishes() {
		got, err := connect(t, modeltest.NewServer(t, raw(text+finish(reason)))).Chat(t.Context(), hello(), nil)
		assert.That(t, err == nil && got.Finish == want && got.Text == "hi",
			"%s: got %q with %q, %v; want %s", reason, got.Text, got.Finish, err, want)
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
		"tunedModels/mine": {`{"inputTokenLimit": 2048,"supportedGenerationMethods": ["embedContent"]}`,
			model.Info{Window: 2048, NoChat: true}, ""},
		"missing": {"", model.Info{}, model.Invalid},
		"..":      {"", model.Info{}, model.Invalid},
	} {
		server := modeltest.NewServer(t)
		server.ModelInfo = map[string]string{name: c.told}
		got, err := connect(t, server, func(o *gemini.Config) { o.Model = name }).Describe(t.Context())
		assert.That(t, got == c.want && (err != nil) == (c.kind != "") && (err == nil || model.KindOf(err) == c.kind),
			"%s: %+v, %v; want %+v", name, got, err, c.want)
	}
}

// followUp is the conversation after a turn with calls, with their results.
func followUp(resp model.Response) model.Request {
	req := hello()
	req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: resp.Text, ToolCalls: resp.ToolCalls,
		Native: resp.Native})
	for _, c := range resp.ToolCalls {
		req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, ToolCallID: c.ID, ToolName: c.Name,
			Text: "found"})
	}
	return req
}

func TestIDsThatTheProviderDidNotGiveAreNotSent(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Answer{Calls: []model.ToolCall{{Name: "f", Arguments: `{"n":1}`},
		{Name: "f", Arguments: `{"n":1}`}}}, modeltest.Stream("done"))
	m := connect(t, server)
	resp, err := m.Chat(t.Context(), hello(), nil)
	assert.Require(t, err == nil && len(resp.ToolCalls) == 2 && resp.ToolCalls[0].ID != resp.ToolCalls[1].ID,
		"%+v, %v", resp, err)
	_, err = m.Chat(t.Context(), followUp(resp), nil)
	assert.That(t, err == nil && !strings.Contains(server.Last().Body, `"id"`), "%v, sent %s", err, server.Last().Body)
}

func TestCallsThatWereNotRunAreLeftOutOfTheTurn(t *testing.T) {
	calls := []model.ToolCall{{ID: "a", Name: "f", Arguments: `{"n":1}`}, {ID: "b", Name: "f", Arguments: `{"n":2}`},
		{ID: "c", Name: "g"}}
	server := modeltest.NewServer(t, modeltest.Answer{Chunks: []string{"So: "}, Calls: calls}, modeltest.Stream("done"))
	m := connect(t, server)
	resp := assert.Must(m.Chat(t.Context(), hello(), nil))(t)
	resp.ToolCalls = resp.ToolCalls[:2]
	assert.Must(m.Chat(t.Context(), followUp(resp), nil))(t)
	parts, _ := server.Last().At("contents", "1", "parts").([]any)
	assert.That(t, len(parts) == 3 && strings.Contains(server.Last().Body, "c2lnbmVkL2J5K3RoZS9mYWtlCg=="),
		"sent back %s; want the text and two calls, as they came", server.Last().Body)
}
