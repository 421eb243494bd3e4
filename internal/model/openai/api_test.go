package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/openai"
)

// apis answers each request by the end of its path, and counts them.
type apis map[string]func() (status int, body string)

func (a apis) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := a[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]()
	kind := "application/json"
	if status == 200 {
		kind = "text/event-stream"
	}
	return response(status, kind, body), nil
}

func TestAPIIsThatOfTheEndpointUnlessItSaysOtherwise(t *testing.T) {
	const (
		onlyResponses = `{"error":{"message":"This model is only supported in v1/responses and not in v1/chat/completions.","type":"invalid_request_error","param":"model"}}`
		noTools       = `{"error":{"message":"Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.","param":"reasoning_effort"}}`
		onlyChat      = `{"error":{"message":"The requested model 'gpt-4o-search-preview' is not supported with the Responses API.","code":"model_not_found"}}`
		nowhere       = `{"error":{"message":"Unknown request URL"}}`
	)
	fine := map[string]string{"completions": delta("ok") + done, "responses": `data: {"type":"response.output_text.delta","output_index":0,"delta":"ok"}` + "\n\n" +
		`data: {"type":"response.completed","response":{"status":"completed"}}` + "\n\n"}
	req := hello()
	req.Tools = []model.Tool{{Name: "f"}}
	for _, c := range []struct {
		name     string
		adjust   func(*openai.Config)
		refuses  map[string]string // by API
		asked    string            // in two turns
		attempts [2]int
		fails    string
	}{
		{"OpenAI itself", func(c *openai.Config) { c.Provider, c.BaseURL = openai.OpenAI, "" }, nil, "responses responses", [2]int{1, 1}, ""},
		{"OpenAI under another name", func(c *openai.Config) { c.BaseURL = "https://api.openai.com/v1" }, nil, "responses responses", [2]int{1, 1}, ""},
		{"a proxy in the place of OpenAI", func(c *openai.Config) { c.Provider = openai.OpenAI }, nil, "completions completions", [2]int{1, 1}, ""},
		{"another", func(*openai.Config) {}, nil, "completions completions", [2]int{1, 1}, ""},
		{"responses, as set", func(c *openai.Config) { c.API = openai.Responses }, nil, "responses responses", [2]int{1, 1}, ""},
		{"chat, as set", func(c *openai.Config) { c.BaseURL, c.API = "https://api.openai.com/v1", openai.Chat }, nil, "completions completions", [2]int{1, 1}, ""},
		{"a model with one API alone", func(*openai.Config) {}, map[string]string{"completions": onlyResponses}, "completions responses responses", [2]int{2, 1}, ""},
		{"tools with one API alone", func(c *openai.Config) { c.Think = "high" }, map[string]string{"completions": noTools},
			"completions responses responses", [2]int{2, 1}, ""},
		{"a model without responses", func(c *openai.Config) { c.BaseURL = "https://api.openai.com/v1" }, map[string]string{"responses": onlyChat},
			"responses completions completions", [2]int{2, 1}, ""},
		{"an endpoint without responses", func(*openai.Config) {}, map[string]string{"completions": noTools, "responses": nowhere},
			"completions responses completions responses", [2]int{2, 2}, "set reasoning_effort"},
		{"chat, as set, but refused", func(c *openai.Config) { c.API = openai.Chat }, map[string]string{"completions": onlyResponses},
			"completions completions", [2]int{1, 1}, "only supported in v1/responses"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []string
			ends := apis{}
			for api, body := range fine {
				ends[api] = func() (int, string) {
					asked = append(asked, api)
					if refusal := c.refuses[api]; refusal != "" {
						return 400, refusal
					}
					return 200, body
				}
			}
			config := openai.Config{Provider: "house", Model: "gpt-5.6", BaseURL: "https://house.example/v1", HTTPClient: &http.Client{Transport: ends}}
			c.adjust(&config)
			m := openai.New(config)
			for i, want := range c.attempts {
				resp, err := m.Chat(t.Context(), req, nil)
				switch {
				case resp.Attempts != want:
					t.Errorf("turn %d took %d requests; want %d", i, resp.Attempts, want)
				case c.fails != "" && (model.KindOf(err) != model.Invalid || !strings.Contains(err.Error(), c.fails)):
					t.Errorf("got %v; want the first refusal", err)
				case c.fails == "" && (err != nil || resp.Text != "ok"):
					t.Errorf("got %+v, %v", resp, err)
				}
			}
			if got := strings.Join(asked, " "); got != c.asked {
				t.Errorf("asked %s; want %s", got, c.asked)
			}
		})
	}
}

func TestAnswerThatHadBegunIsNotAskedForInTheOtherAPI(t *testing.T) {
	server := modeltest.NewServer(t, modeltest.Answer{Raw: &modeltest.Raw{Body: delta("half") + `data: {"error":{"message":"use /v1/responses","type":"invalid_request_error"}}` + "\n\n"}})
	if resp, err := connect(t, server).Chat(t.Context(), hello(), nil); model.KindOf(err) != model.Invalid || resp.Text != "half" || resp.Attempts != 1 {
		t.Errorf("got %+v, %v", resp, err)
	}
}
