package anthropic_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/anthropic"
	"sibyl/internal/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t testing.TB, server *modeltest.Server, adjust ...func(*anthropic.Config)) *anthropic.Model {
	c := anthropic.Config{Provider: "house", Model: "claude-test-1", BaseURL: server.BaseURL}
	for _, f := range adjust {
		f(&c)
	}
	m := anthropic.New(c)
	t.Cleanup(m.Close)
	return m
}

func hello() model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Text: "hello"}}}
}

func TestBaseURLMeansTheSameWithItsVersion(t *testing.T) {
	for _, end := range []string{"", "/", "/v1", "/v1/"} {
		server := modeltest.NewServer(t, modeltest.Stream("a"))
		m := connect(t, server, func(c *anthropic.Config) { c.BaseURL += end })
		_, err := m.Chat(t.Context(), hello(), nil)
		assert.That(t, err == nil, "base URL ending in %q: %v", end, err)
	}
}

func TestRequestGoesUnderThePathOfTheBaseURL(t *testing.T) {
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	m := anthropic.New(anthropic.Config{Provider: "house", Model: "m", BaseURL: server.URL + "/gate/anthropic"})
	t.Cleanup(m.Close)
	_, err := m.Chat(t.Context(), hello(), nil)
	assert.That(t, asked == "/gate/anthropic/v1/messages" && model.KindOf(err) == model.Invalid &&
		strings.Contains(err.Error(), "/gate/anthropic"), "asked %q, got %v; want the hint to name the path", asked, err)
}

func TestModelIsDescribedByItsEntryIfThereIsOne(t *testing.T) {
	server := modeltest.NewServer(t)
	info, err := connect(t, server).Describe(t.Context())
	assert.That(t, model.KindOf(err) == model.Invalid && info == (model.Info{}), "without an entry: %+v, %v", info, err)
	server.ModelInfo = map[string]string{"claude-test-1": `{"type":"model","max_input_tokens":190000,"max_tokens":16000}`}
	info, err = connect(t, server).Describe(t.Context())
	want := (model.Info{Window: 190_000, Output: 16_000})
	assert.That(t, err == nil && info == want, "described as %+v, %v; want %+v", info, err, want)
}
