// Package ollama speaks Ollama's own protocol: POST api/chat, a stream of one JSON object per line, and GET api/tags.
// Beside the compatible /v1 that package openai speaks, it sets the context window, tells thinking from text, and does
// not cut a conversation in silence.
//
// Besides the guarantees of package model:
//   - Nothing is left out unsaid: a conversation that does not fit into the window is ContextLength, where Ollama by
//     itself drops the oldest messages; an answer that reaches the window's end is FinishLength, where Ollama by itself
//     forgets the beginning and goes on.
//   - A model that Ollama runs elsewhere is not Local, whatever the Config promises: one whose tag says cloud is known
//     by its name, any other by its answer, which is then Invalid.
//   - An answer is read to its end or the request is ended; no goroutine and no request outlives Chat.
//   - A redirect is never followed, so that neither the key nor the conversation goes anywhere but to BaseURL.
//   - The key is in no error. What a server says is shortened, and the key is cut out should it be echoed.
//   - Text, thinking and arguments of one answer are at most 8 MB together, its calls at most 256; more is Garbled.
//   - One exchange makes one request. Nothing is read from the environment.
//
// Ollama reports no cached tokens, so Usage has none.
//
// Of Ollama's package api the types are used that keep what they hold. Its client is not: it reads OLLAMA_AUTH and signs
// requests with a key from the home folder, has no bound on silence, takes 8 MB of memory for every stream, drops the
// Retry-After of a failed request, and takes a stream that was cut for a whole one. Neither are its types for messages
// and tools: a whole number above 2^53 changes in their arguments, and a schema loses every word they do not know, such
// as additionalProperties and maximum.
package ollama

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// Ollama is the provider that has an address of its own; for any other name Config.BaseURL is required.
const Ollama = "ollama"

// Config says which model is asked, where, and for how long.
type Config struct {
	// Provider is Ollama or the user's name for another server; Model is the model's name there.
	Provider string
	Model    string

	// BaseURL is the server without a path: "http://127.0.0.1:11434". Empty: the usual one, for Ollama.
	BaseURL string

	// Key returns the bearer token that a proxy wants, and is asked before every request. Nil, or an empty key: none is
	// sent.
	Key func(ctx context.Context) (string, error)

	// Local promises that BaseURL stays on this machine: no proxy is used then.
	Local bool

	// NumCtx is the context window in tokens. Zero: the server's own, which is often 4096.
	NumCtx int

	// Timeout bounds a whole request, loading the model included; zero: 120 s, or 360 s for a local model. Idle bounds
	// the silence between two parts of a stream, once the first has come; zero: only Timeout bounds it.
	Timeout time.Duration
	Idle    time.Duration

	// HTTPClient replaces the model's own, whose connections and proxy are those of http.DefaultTransport.
	HTTPClient *http.Client
}

// Model is one model of one server. It is a model.Model, safe for concurrent use.
type Model struct {
	at       *wire.Endpoint
	provider string
	name     string
	numCtx   int
}

// New returns the model that c describes. It sends nothing; a wrong BaseURL is reported by the first request.
func New(c Config) *Model {
	return &Model{
		at: wire.New(wire.Config{
			Provider: c.Provider, Model: c.Model, BaseURL: c.BaseURL, Key: c.Key, Local: c.Local,
			Timeout: c.Timeout, Idle: c.Idle, HTTPClient: c.HTTPClient,
		}, wire.Protocol{
			DefaultURL: defaultURL(c.Provider),
			ExampleURL: "http://host.example:11434",
			URLForm:    "http://host:11434 or https://host",
			URLHint:    "it has no /v1 or /api at its end",
			Start:      "is Ollama running there? ‘ollama serve’ starts it",
			Accept:     "application/x-ndjson",
			Authorize:  wire.Bearer,
		}),
		provider: c.Provider,
		name:     c.Model,
		numCtx:   c.NumCtx,
	}
}

func defaultURL(provider string) string {
	if provider == Ollama {
		return "http://127.0.0.1:11434"
	}
	return ""
}

// ID is "provider:model".
func (m *Model) ID() string { return m.at.ID() }

// Local is what the Config promised, but false for a model that Ollama passes on to its cloud.
func (m *Model) Local() bool { return m.at.Local() && !isCloud(m.name) }

// isCloud says whether Ollama runs the model of that name on servers of its own, which its tag then says:
// "gpt-oss:120b-cloud", "glm-4.7:cloud".
func isCloud(name string) bool {
	return strings.HasSuffix(name, ":cloud") || (strings.Contains(name, ":") && strings.HasSuffix(name, "-cloud"))
}

// Close closes the connections that wait for another request. The Model can still be used.
func (m *Model) Close() { m.at.Close() }

// Chat streams one assistant turn. Its thinking is no part of the text: it is kept in Response.Native, and goes back to
// this provider with the turn. Failed tool results are marked in their text, as the protocol has no field for it.
func (m *Model) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	resp := model.Response{Model: m.ID()}
	x, err := m.open(ctx)
	if err != nil {
		return resp, err
	}
	defer x.Close()

	body, err := m.encode(req)
	if err != nil {
		return resp, x.Fail(model.Invalid, err.Error(), err)
	}
	resp.Attempts = 1
	answer, err := x.Send(wire.Request{Method: http.MethodPost, Path: "api/chat", Body: body}, x.complaint)
	if err != nil {
		return resp, err
	}
	defer func() { _ = answer.Body.Close() }()

	t := turn{emit: emit}
	err = x.read(answer, &t)
	t.fill(&resp, m.provider)
	return resp, err
}

// List returns the names of the models that the server has, sorted; where the Config promises Local, only those that
// run on it. Errors are *model.Error, as from Chat.
func (m *Model) List(ctx context.Context) ([]string, error) {
	x, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	defer x.Close()

	var list api.ListResponse
	get := wire.Request{Method: http.MethodGet, Path: "api/tags"}
	if err := x.List(get, x.complaint, &list, func() bool { return list.Models != nil }); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list.Models))
	for _, entry := range list.Models {
		elsewhere := entry.RemoteHost != "" || isCloud(entry.Name)
		if !m.at.Local() || !elsewhere {
			names = append(names, entry.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}
