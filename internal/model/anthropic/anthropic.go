// Package anthropic speaks the Messages protocol: Anthropic itself and every endpoint that offers the same.
//
// Besides the guarantees of package model:
//   - An answer is read to its end or the request is ended; no goroutine and no request outlives Chat.
//   - Nothing is read from the environment: no ANTHROPIC_ variable and no profile file changes where a request goes,
//     with which key, or what is told of it.
//   - A redirect is never followed, so that neither the key nor the conversation goes anywhere but to BaseURL.
//   - No header describes the machine.
//   - The key is in no error. What a provider says is shortened, and the key is cut out should it be echoed.
//   - All that is kept of one answer is at most 8 MB, in at most 1024 blocks; more is Garbled.
//   - One exchange makes one request. A list of models takes one for every thousand.
//   - Thinking is not asked for. Where it comes, it is never part of the text: it is kept, with its signature, in
//     Response.Native and goes back in the next request to the same model of the same provider, which alone can check it.
//
// Requests are built and sent by the official client, its retries and its telemetry off. The stream is read here: the
// client's own reader shows neither pings, without which a model that thinks for long looks silent, nor the difference
// between a stream that ended and one that was cut; it puts no bound on an event of many lines; and it costs twice the
// CPU (BenchmarkStream100Chunks).
package anthropic

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// Anthropic is the provider that has an address of its own; for any other name Config.BaseURL is required.
const Anthropic = "anthropic"

// DefaultBaseURL is where Anthropic itself answers.
const DefaultBaseURL = "https://api.anthropic.com"

// DefaultMaxOutputTokens is sent for a request that sets no limit, as the protocol wants one. Every model of the Claude
// 4 family or later accepts it, and it is about what one writes in the usual Timeout.
const DefaultMaxOutputTokens = 8192

// Config says which model is asked, where, and for how long.
type Config struct {
	// Provider is Anthropic or the user's name for an endpoint that speaks its protocol; Model is the model's name there.
	Provider string
	Model    string

	// BaseURL is without the version: "https://api.anthropic.com". One that ends in /v1 means the same. Empty: Anthropic's.
	BaseURL string

	// Key returns the API key and is asked before every request. Nil, or an empty key: none is sent.
	Key func(ctx context.Context) (string, error)

	// Local promises that BaseURL stays on this machine: no proxy is used then.
	Local bool

	// Timeout bounds a whole request; zero: 120 s, or 360 s for a local model. Idle bounds the silence between two
	// parts of a stream, once the first has come; zero: only Timeout bounds it. A ping is a part.
	Timeout time.Duration
	Idle    time.Duration

	// HTTPClient replaces the model's own, whose connections and proxy are those of http.DefaultTransport.
	HTTPClient *http.Client
}

// Model is one model of one endpoint. It is a model.Model, safe for concurrent use.
type Model struct {
	at       *wire.Endpoint
	provider string
	name     string
	client   sdk.Client // unusable if the BaseURL is wrong
}

// New returns the model that c describes. It sends nothing; a wrong BaseURL is reported by the first request.
func New(c Config) *Model {
	m := &Model{
		at: wire.New(wire.Config(c), wire.Protocol{
			DefaultURL: defaultURL(c.Provider),
			ExampleURL: "https://host.example",
			URLForm:    "http://host or https://host",
			URLHint:    "it ends before /v1/messages",
			URLPath:    withoutVersion,
		}),
		provider: c.Provider,
		name:     c.Model,
	}
	if base, err := m.at.BaseURL(); err == nil {
		m.client = sdk.NewClient(
			option.WithoutEnvironmentDefaults(),
			option.WithoutOpenTelemetry(),
			option.WithMaxRetries(0),
			option.WithBaseURL(base),
			option.WithHTTPClient(m.at.Client()),
			option.WithMiddleware(discreet),
		)
	}
	return m
}

func defaultURL(provider string) string {
	if provider == Anthropic {
		return DefaultBaseURL
	}
	return ""
}

func withoutVersion(path string) string {
	return strings.TrimSuffix(strings.TrimRight(path, "/"), "/v1")
}

// ID is "provider:model".
func (m *Model) ID() string { return m.at.ID() }

// Local is what the Config promised.
func (m *Model) Local() bool { return m.at.Local() }

// Close closes the connections that wait for another request. The Model can still be used.
func (m *Model) Close() { m.at.Close() }

// Chat streams one assistant turn. A refusal that left nothing is Refused; one that cut a text short is FinishFilter.
func (m *Model) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	resp := model.Response{Model: m.ID()}
	x, err := m.open(ctx)
	if err != nil {
		return resp, err
	}
	defer x.Close()

	params, err := m.params(req)
	if err != nil {
		return resp, x.Fail(model.Invalid, err.Error(), err)
	}
	resp.Attempts = 1
	answer, err := x.ask(params)
	if err != nil {
		return resp, err
	}
	defer func() { _ = answer.Body.Close() }()

	t := turn{emit: emit}
	err = x.read(answer, &t)
	t.fill(&resp)
	if err != nil {
		return resp, err
	}
	resp.Native = m.native(&t)
	return resp, nil
}

// maxPages bounds the pages of a list, should an endpoint give pages without end.
const maxPages = 100

// List returns the ids of the models that the endpoint offers, sorted. Errors are *model.Error, as from Chat.
func (m *Model) List(ctx context.Context) ([]string, error) {
	x, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	defer x.Close()

	var ids []string
	after := ""
	for range maxPages {
		page, err := x.page(after)
		if err != nil {
			return nil, err
		}
		for _, entry := range page.Data {
			ids = append(ids, entry.ID)
		}
		if !page.HasMore || page.LastID == "" || page.LastID == after {
			break
		}
		after = page.LastID
	}
	slices.Sort(ids)
	return ids, nil
}

// modelPage is one page of the list of models.
type modelPage struct {
	Data []struct {
		ID string `json:"id"`
	} `json:"data"`
	HasMore bool   `json:"has_more"`
	LastID  string `json:"last_id"`
}

func (x *exchange) page(after string) (modelPage, error) {
	var page modelPage
	resp, err := x.list(after)
	if err != nil {
		return page, err
	}
	defer func() { _ = resp.Body.Close() }()
	err = x.ReadList(resp, &page, func() bool { return page.Data != nil })
	return page, err
}
