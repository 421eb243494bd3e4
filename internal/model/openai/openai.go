// Package openai speaks the Chat Completions protocol: OpenAI itself, Ollama's /v1 and every endpoint that calls
// itself compatible.
//
// Besides the guarantees of package model:
//   - An answer is read to its end or the request is ended; no goroutine and no request outlives Chat.
//   - A redirect is never followed, so that neither the key nor the conversation goes anywhere but to BaseURL.
//   - The key is in no error. What a provider says is shortened, and the key is cut out should it be echoed.
//   - Text, arguments and refusal of one answer are at most 8 MB together, its calls at most 256; more is Garbled.
//   - One exchange makes one request. The one exception: an endpoint that rejects stream_options is asked once more
//     without it, both requests are counted in Response.Attempts, and the Model remembers.
//
// Compatible endpoints differ, and these differences are accepted: parts of tool calls without index or id, several
// whole calls under one index, arguments as an object or left out, no usage, no finish reason before [DONE], no [DONE]
// after a finish reason, errors inside the stream, and one whole JSON answer where a stream was asked for.
//
// Requests are built of go-openai's types, but its client is not used. Its stream reader matches several regular
// expressions per line and decodes into large structs, which costs 1.7 times the CPU of a bare net/http and
// encoding/json reader where this package costs 0.6 times (BenchmarkStream100Chunks); it drops the Retry-After of a
// failed request and cannot tell a cut line from a bad one; it takes its key once and for all; and it refuses some
// models by name before asking.
package openai

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// The two providers that have an address of their own; for any other name Config.BaseURL is required.
const (
	OpenAI = "openai"
	Ollama = "ollama"
)

// Config says which model is asked, where, and for how long.
type Config struct {
	// Provider is OpenAI, Ollama or the user's name for a compatible endpoint; Model is the model's name there.
	Provider string
	Model    string

	// BaseURL includes the version: "http://127.0.0.1:11434/v1". Empty: the usual one of OpenAI or Ollama.
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

// Model is one model of one endpoint. It is a model.Model, safe for concurrent use.
type Model struct {
	at   *wire.Endpoint
	name string

	// maxTokensOld chooses max_tokens, which compatible endpoints know, over OpenAI's max_completion_tokens.
	maxTokensOld bool

	// noStreamOptions is set once the endpoint has rejected stream_options.
	noStreamOptions atomic.Bool
}

// New returns the model that c describes. It sends nothing; a wrong BaseURL is reported by the first request.
func New(c Config) *Model {
	return &Model{
		at: wire.New(wire.Config(c), wire.Protocol{
			DefaultURL: defaultURL(c.Provider),
			ExampleURL: "https://host.example/v1",
			URLForm:    "http://host/v1 or https://host/v1",
			URLHint:    "most end in /v1",
			Accept:     "text/event-stream",
			Authorize:  wire.Bearer,
		}),
		name:         c.Model,
		maxTokensOld: c.Provider != OpenAI,
	}
}

func defaultURL(provider string) string {
	switch provider {
	case OpenAI:
		return "https://api.openai.com/v1"
	case Ollama:
		return "http://127.0.0.1:11434/v1"
	}
	return ""
}

// ID is "provider:model".
func (m *Model) ID() string { return m.at.ID() }

// Local is what the Config promised.
func (m *Model) Local() bool { return m.at.Local() }

// Close closes the connections that wait for another request. The Model can still be used.
func (m *Model) Close() { m.at.Close() }

// Chat streams one assistant turn. A refusal, or a content filter that left nothing, is Refused; a filter that cut a
// text short is FinishFilter. Failed tool results are marked in their text, as the protocol has no field for it.
func (m *Model) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	resp := model.Response{Model: m.ID()}
	x, err := m.open(ctx)
	if err != nil {
		return resp, err
	}
	defer x.Close()

	answer, attempts, err := x.ask(req)
	resp.Attempts = attempts
	if err != nil {
		return resp, err
	}
	defer func() { _ = answer.Body.Close() }()

	t := turn{emit: emit}
	err = x.read(answer, &t)
	t.fill(&resp)
	return resp, err
}

// List returns the ids of the models that the endpoint offers, sorted. Errors are *model.Error, as from Chat.
func (m *Model) List(ctx context.Context) ([]string, error) {
	x, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	defer x.Close()

	var list sdk.ModelsList
	get := wire.Request{Method: http.MethodGet, Path: "models"}
	if err := x.List(get, x.complaint, &list, func() bool { return list.Models != nil }); err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(list.Models))
	for _, entry := range list.Models {
		ids = append(ids, entry.ID)
	}
	slices.Sort(ids)
	return ids, nil
}
