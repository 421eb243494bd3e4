// Package gemini speaks the Gemini API of Google AI (generativelanguage.googleapis.com, not Vertex AI).
//
// Besides the guarantees of package model:
//   - An answer is read to its end or the request is ended; no goroutine and no request outlives Chat.
//   - A redirect is never followed, so that neither the key nor the conversation goes anywhere but to BaseURL.
//   - The key goes in a header, never in a URL, and is in no error. What the provider says is shortened, and the key is
//     cut out should it be echoed.
//   - Nothing is read from the environment but the proxy settings of net/http: no GOOGLE_* or GEMINI_* variable redirects,
//     authenticates or switches a request.
//   - A turn goes back as it came: its parts, and with them their thought signatures, are kept and sent byte for byte.
//     Thoughts are never text.
//   - One answer is at most 8 MB, its calls at most 256; more is Garbled.
//   - One Chat makes one request.
//
// Google's SDK (google.golang.org/genai) is what the tests hold this package and its fake server against, but it is not
// linked. Its client takes keys, addresses and the backend from the environment; drops the Retry-After of a failure;
// takes a stream that was cut between two events for a whole answer; logs on its own; and puts its whole configuration,
// key included, into the text of some errors. Its types cannot hold a turn byte for byte: arguments become Go maps,
// which lose their order and large numbers, and fields it does not know are lost. What remains are field names, and
// those would bring gRPC and Google's sign-in into the binary (5 MB).
package gemini

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// version is the only one of the API that has all of what is used here.
const version = "/v1beta"

// Config says which model is asked, where, and for how long.
type Config struct {
	// Provider is the first half of the model's stamp, and marks the turns that go back as they came.
	Provider string

	// Model is "gemini-2.5-flash", or with its collection "models/gemini-2.5-flash" or "tunedModels/mine".
	Model string

	// BaseURL is "https://host.example", or with a path that includes the version, "https://host.example/gemini/v1beta".
	// Empty: Google's own.
	BaseURL string

	// Key returns the API key and is asked before every request. Nil, or an empty key: none is sent.
	Key func(ctx context.Context) (string, error)

	// Local promises that BaseURL stays on this machine: no proxy is used then.
	Local bool

	// Timeout bounds a whole request; zero: 120 s, or 360 s for a local model. Idle bounds the silence between two
	// parts of a stream, once the first has come; zero: only Timeout bounds it.
	Timeout time.Duration
	Idle    time.Duration

	// HTTPClient replaces the model's own, whose connections and proxy are those of http.DefaultTransport.
	HTTPClient *http.Client
}

// Model is one model of the Gemini API. It is a model.Model, safe for concurrent use.
type Model struct {
	at       *wire.Endpoint
	provider string
	name     string
}

// New returns the model that c describes. It sends nothing; a wrong BaseURL is reported by the first request, a wrong
// name by the first Chat. List needs no name.
func New(c Config) *Model {
	return &Model{
		at: wire.New(wire.Config(c), wire.Protocol{
			DefaultURL: "https://generativelanguage.googleapis.com",
			URLForm:    "https://host or https://host/path/v1beta",
			URLHint:    "a path in it ends in /v1beta",
			URLPath:    withVersion,
			Accept:     "text/event-stream",
			Authorize:  func(h http.Header, key string) { h.Set("x-goog-api-key", key) },
			CallID:     madeUp,
		}),
		provider: c.Provider,
		name:     c.Model,
	}
}

func withVersion(path string) string {
	if strings.Trim(path, "/") == "" {
		return version
	}
	return path
}

// The collections in which a model can be; a bare name is in the first.
const (
	baseModels  = "models/"
	tunedModels = "tunedModels/"
)

// streamPath is where a model's answers come from, escaped. A name cannot lead out of its collection.
func streamPath(name string) (string, error) {
	full := name
	if !strings.HasPrefix(name, baseModels) && !strings.HasPrefix(name, tunedModels) {
		full = baseModels + name
	}
	segments := strings.Split(full, "/")
	for i, s := range segments {
		if s == "" || s == "." || s == ".." {
			return "", fmt.Errorf("%q is no model's name: write it as in gemini-2.5-flash or tunedModels/mine", name)
		}
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/") + ":streamGenerateContent", nil
}

// ID is "provider:model", the model as Config has it.
func (m *Model) ID() string { return m.at.ID() }

// Local is what the Config promised.
func (m *Model) Local() bool { return m.at.Local() }

// Close closes the connections that wait for another request. The Model can still be used.
func (m *Model) Close() { m.at.Close() }

// Chat streams one assistant turn. A blocked prompt, or a filter that left nothing, is Refused; a filter that cut a text
// short is FinishFilter. A call that the provider could not read from its own model is Server, not Garbled: asking again
// is what helps. Response.Native is the provider's turn as {"role":"model","parts":[…]}; it comes with whole answers only.
func (m *Model) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	resp := model.Response{Model: m.ID()}
	x, err := m.open(ctx)
	if err != nil {
		return resp, err
	}
	defer x.Close()

	path, err := streamPath(m.name)
	if err != nil {
		return resp, x.Fail(model.Invalid, err.Error(), nil)
	}
	body, err := m.encode(req)
	if err != nil {
		return resp, x.Fail(model.Invalid, err.Error(), err)
	}
	resp.Attempts = 1
	answer, err := x.Send(wire.Request{Method: http.MethodPost, Path: path, Query: url.Values{"alt": {"sse"}}, Body: body}, x.complaint)
	if err != nil {
		return resp, err
	}
	defer func() { _ = answer.Body.Close() }()

	t := turn{emit: emit}
	err = x.readStream(answer.Body, &t)
	t.fill(&resp)
	if err == nil {
		resp.Native = t.native(m.provider)
	}
	return resp, err
}

// maxPages bounds the pages of one List.
const maxPages = 100

// List returns the names of the models that generate content, sorted; base models are named without "models/". Errors
// are *model.Error, as from Chat.
func (m *Model) List(ctx context.Context) ([]string, error) {
	x, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	defer x.Close()

	names := []string{}
	query := url.Values{"pageSize": {"1000"}}
	for range maxPages {
		page, err := x.page(query)
		if err != nil {
			return nil, err
		}
		for _, entry := range page.Models {
			if slices.Contains(entry.Methods, "generateContent") {
				names = append(names, strings.TrimPrefix(entry.Name, baseModels))
			}
		}
		if page.NextPageToken == "" {
			slices.Sort(names)
			return slices.Compact(names), nil
		}
		query.Set("pageToken", page.NextPageToken)
	}
	return nil, x.Fail(model.Garbled, fmt.Sprintf("the list of models has more than %d pages", maxPages), nil)
}

// modelPage is one page of the list of models.
type modelPage struct {
	Models []struct {
		Name    string   `json:"name"`
		Methods []string `json:"supportedGenerationMethods"`
	} `json:"models"`
	NextPageToken string `json:"nextPageToken"`
}

func (x *exchange) page(query url.Values) (modelPage, error) {
	var page modelPage
	get := wire.Request{Method: http.MethodGet, Path: "models", Query: query}
	err := x.List(get, x.complaint, &page, func() bool { return page.Models != nil || page.NextPageToken != "" })
	return page, err
}
