package ollama_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/ollama"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNoTextIsCutOffInEmbedding(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Answer{Vectors: [][]float32{{1}}})
	m := connect(t, server, func(c *ollama.Config) { c.NumCtx = 2048 })
	_, _, err := m.Embed(t.Context(), []string{"a"})
	assert.NoError(t, err)
	r := server.Last()
	assert.That(t, r.At("truncate") == false && r.At("options", "num_ctx") == 2048.0, "sent %s", r.Body)
}

func connect(t testing.TB, server *modeltest.Server, adjust ...func(*ollama.Config)) *ollama.Model {
	c := ollama.Config{Provider: ollama.Ollama, Model: "llama3.1:8b", BaseURL: server.BaseURL}
	for _, f := range adjust {
		f(&c)
	}
	m := ollama.New(c)
	t.Cleanup(m.Close)
	return m
}

func hello() model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Text: "hello"}}}
}

func TestLocalIsWhatWasPromisedButForCloudModels(t *testing.T) {
	for _, c := range []struct {
		name           string
		promise, local bool
	}{
		{"llama3.1:8b", true, true},
		{"llama3.1:8b", false, false},
		{"cloud", true, true},
		{"my-cloud", true, true}, // the name may say cloud, only the tag counts
		{"gpt-oss:120b-cloud", true, false},
		{"glm-4.7:cloud", true, false},
		{"127.0.0.1:5000/me/glm-4.7:cloud", true, false},
	} {
		m := ollama.New(ollama.Config{Provider: ollama.Ollama, Model: c.name, Local: c.promise})
		assert.That(t, m.Local() == c.local && m.ID() == "ollama:"+c.name,
			"%s promised %v: id %q, local %v; want %v", c.name, c.promise, m.ID(), m.Local(), c.local)
	}
}

func TestModelThatAnswersFromElsewhereIsNotTakenForALocalOne(t *testing.T) {
	answer := raw(`{"remote_host":"https://ollama.com:443","remote_model":"gpt-oss:20b","message":{"content":"hi"},"done":false}`, done)
	for _, local := range []bool{true, false} {
		m := connect(t, modeltest.NewServer(t, answer), func(c *ollama.Config) { c.Local = local })
		var emitted string
		got, err := m.Chat(t.Context(), hello(), func(d model.Delta) error { emitted += d.Text; return nil })
		switch {
		case !local && (err != nil || got.Text != "hi"):
			t.Errorf("without the promise: got %q, %v", got.Text, err)
		case local && (model.KindOf(err) != model.Invalid || !strings.Contains(err.Error(), "ollama.com") ||
			emitted != ""):
			t.Errorf("with the promise: emitted %q, error %v; want invalid, naming the host", emitted, err)
		}
	}
}

func TestListIsSortedAndLeavesOutCloudModelsOfALocalServer(t *testing.T) {
	server := modeltest.NewServer(t)
	server.ModelInfo = map[string]string{
		"/api/tags": `{"models":[{"name":"qwen3:4b"},{"name":"alias:latest","remote_host":"https://ollama.com:443"},` +
			`{"name":"gpt-oss:120b-cloud"},{"name":"llama3.1:8b"}]}`}
	for local, want := range map[bool][]string{
		true:  {"llama3.1:8b", "qwen3:4b"},
		false: {"alias:latest", "gpt-oss:120b-cloud", "llama3.1:8b", "qwen3:4b"},
	} {
		got, err := connect(t, server, func(c *ollama.Config) { c.Local = local }).List(t.Context())
		diff := cmp.Diff(want, got)
		assert.That(t, err == nil && diff == "", "local %v: error %v, names (-want +got):\n%s", local, err, diff)
	}
}

func TestServerWithoutAModelHasAnEmptyList(t *testing.T) {
	got, err := connect(t, modeltest.NewServer(t)).List(t.Context())
	assert.That(t, err == nil && got != nil && len(got) == 0, "got %v, %v; want an empty list", got, err)
}

// raw is an answer of these lines.
func raw(lines ...string) modeltest.Answer {
	return modeltest.Answer{Raw: &modeltest.Raw{Body: strings.Join(lines, "\n") + "\n"}}
}

func chunk(text string) string {
	return `{"model":"m","message":{"role":"assistant","content":"` + text + `"},"done":false}`
}

const done = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`

func TestModelIsKeptLoadedAsLongAsIsSet(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Stream("a"))
	m := connect(t, server, func(c *ollama.Config) { c.KeepAlive = 10 * time.Minute })
	_, err := m.Chat(t.Context(), hello(), nil)
	assert.That(t, err == nil && server.Last().At("keep_alive") == "10m0s", "%v, sent %s", err, server.Last().Body)
}

func TestUnreachableServerIsToldWithHowToStartIt(t *testing.T) {
	server := modeltest.NewServer(t)
	server.Close()
	_, err := connect(t, server).Chat(t.Context(), hello(), nil)
	assert.That(t, strings.Contains(err.Error(), "ollama serve"), "got %v", err)
}
