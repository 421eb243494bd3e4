package openai_test

import (
	"fmt"
	"net/http"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/openai"
)

// lists answers the requests for a list, and for what is beside it.
type lists map[string]string

func (l lists) RoundTrip(r *http.Request) (*http.Response, error) {
	if body, ok := l[r.URL.Path]; ok {
		return response(200, "application/json", body), nil
	}
	return response(404, "text/plain", "404 page not found"), nil
}

func TestModelIsDescribedAsItsEndpointListsIt(t *testing.T) {
	const models = "/v1/models"
	entry := func(fields string) lists {
		return lists{models: `{"object":"list","data":[{"id":"other"},{"id":"m"` + fields + `}]}`}
	}
	for name, c := range map[string]struct {
		lists lists
		want  model.Info
	}{
		"OpenAI: an id alone": {entry(`,"object":"model","created":1,"owned_by":"openai"`), model.Info{}},
		"OpenRouter": {entry(`,"context_length":200000,"top_provider":{"context_length":128000,"max_completion_tokens":16384},"supported_parameters":["tools","reasoning"]`),
			model.Info{Window: 128000, Output: 16384}},
		"OpenRouter: a model without tools, of an unknown output": {
			entry(`,"context_length":8192,"top_provider":{"context_length":null,"max_completion_tokens":null},"supported_parameters":["temperature"]`),
			model.Info{Window: 8192, NoTools: true}},
		"vLLM": {entry(`,"owned_by":"vllm","max_model_len":32768`), model.Info{Window: 32768}},
		"Groq": {entry(`,"context_window":131072,"max_completion_tokens":32768`),
			model.Info{Window: 131072, Output: 32768}},
		"Mistral": {entry(`,"max_context_length":131072,"capabilities":{"completion_chat":true,"function_calling":true,"vision":false}`),
			model.Info{Window: 131072, NoPictures: true}},
		"OpenRouter: a model of text alone": {
			entry(`,"context_length":8192,"architecture":{"input_modalities":["text"]}`),
			model.Info{Window: 8192, NoPictures: true}},
		"OpenRouter: one that takes pictures": {
			entry(`,"context_length":8192,"architecture":{"input_modalities":["text","image"]}`),
			model.Info{Window: 8192}},
		"Mistral: a model that embeds": {
			entry(`,"max_context_length":8192,"capabilities":{"completion_chat":false,"function_calling":false}`),
			model.Info{Window: 8192, NoChat: true, NoTools: true}},
		"capabilities in words": {entry(`,"capabilities":["completion","vision"]`), model.Info{}},
		"numbers that are none": {
			entry(`,"context_length":"a lot","max_model_len":-1,"context_window":1e300,"top_provider":{"context_length":2.5e9}`), model.Info{}},
		"a model that is not listed": {lists{models: `{"data":[{"id":"other","context_length":5}]}`}, model.Info{}},
		"llama.cpp: what it trained on": {entry(`,"meta":{"n_ctx_train":131072,"n_params":1}`),
			model.Info{Window: 131072, Parameters: 1}},
		"llama.cpp: what it serves": {lists{
			models:   `{"data":[{"id":"m","meta":{"n_ctx_train":131072}}]}`,
			"/props": `{"default_generation_settings":{"n_ctx":4096},"total_slots":1}`,
		}, model.Info{Window: 4096}},
		"llama.cpp: what it lists as served": {entry(`,"meta":{"n_ctx_train":131072,"n_ctx":8192}`),
			model.Info{Window: 8192}},
	} {
		m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: "http://house/v1",
			HTTPClient: &http.Client{Transport: c.lists}})
		got, err := m.Describe(t.Context())
		got.Digest = "" // a test of its own says what it depends on
		if err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

func TestEndpointWithoutAListDescribesNothingButItsError(t *testing.T) {
	for body, kind := range map[string]model.Kind{`{"data":null}`: model.Garbled, "": model.Invalid} {
		l := lists{}
		if body != "" {
			l["/v1/models"] = body
		}
		m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: "http://house/v1",
			HTTPClient: &http.Client{Transport: l}})
		if got, err := m.Describe(t.Context()); model.KindOf(err) != kind || got != (model.Info{}) {
			t.Errorf("%q: got %+v, %v; want kind %s", body, got, err, kind)
		}
	}
	var _ model.Describer = (*openai.Model)(nil)
}

func TestDigestOfAModelChangesWithItsWeightsAndItsTemplateAlone(t *testing.T) {
	digest := func(l lists) string {
		m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: "http://house/v1",
			HTTPClient: &http.Client{Transport: l}})
		info, err := m.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.Digest
	}
	llama := func(created, params, window int, props string) string {
		l := lists{"/v1/models": fmt.Sprintf(
			`{"data":[{"id":"m","created":%d,"meta":{"n_ctx_train":131072,"n_ctx":%d,"n_params":%d}}]}`, created, window,
			params)}
		if props != "" {
			l["/props"] = props
		}
		return digest(l)
	}
	const props = `{"chat_template":"{{ tools }}","media_marker":"<1>"}`
	first := llama(1, 7, 4096, props)
	for name, c := range map[string]struct {
		digest string
		same   bool
	}{
		"started again, with another window": {llama(2, 7, 8192, `{"chat_template":"{{ tools }}","media_marker":"<2>"}`), true},
		"other weights":                      {llama(1, 8, 4096, props), false},
		"another template":                   {llama(1, 7, 4096, `{"chat_template":"{{ messages }}"}`), false},
		"an endpoint without properties":     {llama(1, 7, 4096, ""), false},
	} {
		if c.digest == "" || (c.digest == first) != c.same {
			t.Errorf("%s: %q after %q; want the same: %v", name, c.digest, first, c.same)
		}
	}
	if one, other := digest(lists{"/v1/models": `{"data":[{"id":"m","root":"/weights/1"}]}`}),
		digest(lists{"/v1/models": `{"data":[{"id":"m","root":"/weights/2"}]}`}); one == other || one == "" {
		t.Errorf("vLLM: %q and %q for two folders", one, other)
	}
	if got := digest(lists{"/v1/models": `{"data":[{"id":"m","created":1,"owned_by":"openai"}]}`}); got != "" {
		t.Errorf("%q where nothing is told", got)
	}
}
