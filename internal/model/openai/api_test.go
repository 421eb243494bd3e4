package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/openai"
)

// ends answers each request by the end of its path.
type ends func(end string) (status int, body string)

func (e ends) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := e(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
	kind := "application/json"
	if status == 200 {
		kind = "text/event-stream"
	}
	return response(status, kind, body), nil
}

func TestAPIIsThatOfTheEndpointUnlessItSaysOtherwise(t *testing.T) {
	fine := map[string]string{"completions": delta("ok") + done,
		"responses": `data: {"type":"response.output_text.delta","output_index":0,"delta":"ok"}` + "\n\n" +
			`data: {"type":"response.completed","response":{"status":"completed"}}` + "\n\n"}
	for _, c := range []struct{ name, provider, url, api, want string }{
		{"OpenAI itself", openai.OpenAI, "", "", "responses"},
		{"OpenAI under another name", "house", "https://api.openai.com/v1", "", "responses"},
		{"a proxy in the place of OpenAI", openai.OpenAI, "https://house.example/v1", "", "completions"},
		{"another", "house", "https://house.example/v1", "", "completions"},
		{"responses, as set", "house", "https://house.example/v1", openai.Responses, "responses"},
		{"chat, as set", openai.OpenAI, "", openai.Chat, "completions"},
	} {
		asked := ""
		transport := ends(func(end string) (int, string) { asked = end; return 200, fine[end] })
		m := openai.New(openai.Config{Provider: c.provider, Model: "m", BaseURL: c.url, API: c.api,
			HTTPClient: &http.Client{Transport: transport}})
		if resp, err := m.Chat(t.Context(), hello(), nil); err != nil || resp.Text != "ok" || asked != c.want {
			t.Errorf("%s: asked %s, %q, %v", c.name, asked, resp.Text, err)
		}
	}
}

func TestModelThatNeedsTheOtherAPIIsAnErrorThatNamesTheSetting(t *testing.T) {
	for url, said := range map[string]string{
		"https://house.example/v1": "This model is only supported in v1/responses and not in v1/chat/completions.",
		"https://api.openai.com/v1": "The requested model 'gpt-4o-search-preview' is not supported with the " +
			"Responses API.",
	} {
		transport := ends(func(string) (int, string) { return 400, `{"error":{"message":"` + said + `"}}` })
		m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: url,
			HTTPClient: &http.Client{Transport: transport}})
		want := map[bool]string{true: "providers.house.api to chat",
			false: "providers.house.api to responses"}[strings.Contains(url, "openai.com")]
		resp, err := m.Chat(t.Context(), hello(), nil)
		if model.KindOf(err) != model.Invalid || resp.Attempts != 1 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v after %d requests", url, err, resp.Attempts)
		}
	}
}
