// Package ollama speaks Ollama's own protocol: POST api/chat, a stream of one JSON object per line, GET api/tags and
// POST api/embed. Unlike the compatible /v1 that package openai speaks, it sets the context window, separates thinking
// from text, and cuts no conversation silently.
//
// Besides the guarantees of packages model and wire:
//   - Nothing is dropped silently: a conversation that does not fit into the window is ContextLength (by default Ollama
//     drops the oldest messages), and an answer that reaches the window's end is FinishLength (by default Ollama drops
//     the beginning and continues).
//   - A model that Ollama runs elsewhere is not Local, whatever the Config promises. If its tag says cloud, its name
//     shows that; otherwise its answer does, which is then Invalid.
//   - Before its first turn, a Model asks once for its properties (api/show, api/ps), for at most 6 s; this is not
//     counted as an attempt.
//   - Thinking is not part of the text: it is kept in Response.Native, and is sent back to this provider with the turn.
//     Failed tool results are marked in their text, as the protocol has no field for it.
//
// Ollama reports no cached tokens, so Usage has none.
package ollama

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// Ollama is the provider that has an address of its own; for any other name Config.BaseURL is required.
const Ollama = "ollama"

// Config says which model is asked, where, and for how long. BaseURL is the server without a path:
// "http://127.0.0.1:11434"; Key returns the bearer token that a proxy may require. Without NumCtx, the window is that
// of the Modelfile, or else the model's, at most 32,768 tokens or what it is loaded with; 8,192 if the server does not
// report it. FirstByte includes the time to load the model.
type Config = wire.Config

// Model is one model of one server: a model.Model and model.Embedder, safe for concurrent use.
type Model struct {
	*wire.Client
	protocol
}

// New returns the model that c describes. It sends nothing; a wrong BaseURL is reported by the first request.
func New(c Config) *Model {
	p := protocol{config: c, known: &atomic.Pointer[facts]{}}
	return &Model{protocol: p, Client: wire.New(c, wire.Protocol{
		Name:       Ollama,
		DefaultURL: "http://127.0.0.1:11434",
		ExampleURL: "http://host.example:11434",
		URLForm:    "http://host:11434 or https://host",
		URLHint:    "it has no /v1 or /api at its end",
		StartHint:  "is Ollama running there? ‘ollama serve’ starts it",
		ChatPath:   "api/chat",
		Accept:     "application/x-ndjson",
		Header:     wire.Bearer,
		Finishes: map[string]model.Finish{
			"stop": model.FinishStop, "length": model.FinishLength,
			"content_filter": model.FinishFilter, // gateways pass it on from providers that filter
		},
		Optional:   []string{"think"},
		Dialect:    wire.Grammar(),
		EncodeTurn: p.encode, ReadTurn: p.readTurn, Classify: p.classify, List: p.list, Describe: p.describe,
		Prepare: func(x *wire.Call) { _, _ = p.loadFacts(x) }, // the turn does without what is not known
	})}
}

// protocol makes the requests to a model, and reads the answers.
type protocol struct {
	config Config
	known  *atomic.Pointer[facts] // nil until the server has answered
}

// describe returns the model's properties, and the window that is asked for.
func (p protocol) describe(x *wire.Call) (model.Info, error) {
	f, err := p.loadFacts(x)
	if err != nil {
		return model.Info{}, err
	}
	window := f.numCtx(p.config.NumCtx)
	if window == 0 {
		window = f.window
	}
	info := f.info(window)
	info.Digest = p.digest(x)
	return info, nil
}

// digest returns the digest of the model as the server has it now; "" if it does not tell.
func (p protocol) digest(x *wire.Call) string {
	var list modelList
	if x.GetInfo("api/tags", nil, &list) != nil {
		return ""
	}
	for _, entry := range list.Models {
		if entry.Name == p.config.Model || entry.Name == p.config.Model+":latest" {
			return model.DigestOf(entry.Digest)
		}
	}
	return ""
}

// modelList is the answer to api/tags.
type modelList struct {
	Models []struct {
		Name       string `json:"name"`
		Digest     string `json:"digest"`
		RemoteHost string `json:"remote_host"`
	} `json:"models"`
}

// Local returns what the Config promised, but false for a model that Ollama runs in its cloud.
func (m *Model) Local() bool { return m.Client.Local() && !isCloud(m.config.Model) }

// isCloud says whether Ollama runs the model of that name on its own servers, as its tag says: "gpt-oss:120b-cloud",
// "glm-4.7:cloud".
func isCloud(name string) bool {
	return strings.HasSuffix(name, ":cloud") || (strings.Contains(name, ":") && strings.HasSuffix(name, "-cloud"))
}

// list returns the names of the models that the server has; if the Config promises Local, only those that run on it.
func (p protocol) list(x *wire.Call) ([]string, error) {
	var list modelList
	if err := x.GetList("api/tags", nil, &list, func() bool { return list.Models != nil }); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list.Models))
	for _, entry := range list.Models {
		elsewhere := entry.RemoteHost != "" || isCloud(entry.Name)
		if !p.config.Local || !elsewhere {
			names = append(names, entry.Name)
		}
	}
	return names, nil
}

// classify sets the Kind of a failure by its words, as Ollama has no error codes, and adds advice if the person can do
// something about it.
func (p protocol) classify(x *wire.Call, status int, c *wire.Complaint) {
	message := strings.ToLower(c.Message)
	c.Kind = wire.StatusKind(status)
	switch {
	case wire.TooLong(message):
		c.Kind = model.ContextLength
		c.Advice = p.windowAdvice()
	case wire.ContainsAny(message, "requires more system memory"):
		c.Kind = model.Invalid
		c.Advice = "; choose a smaller model or a smaller context window"
	case wire.ContainsAny(message, "does not support", "model is required", "invalid model name"):
		c.Kind = model.Invalid
	case wire.ContainsAny(message, "maximum pending requests"):
		c.Kind = model.RateLimit
	case status < http.StatusInternalServerError && wire.AgainstPolicy(message):
		c.Kind = model.Refused
	case wire.ContainsAny(message, "model") && wire.ContainsAny(message, "not found"):
		c.Advice = "; to get it: ollama pull " + p.config.Model
	case status == http.StatusUnauthorized && x.Key() == "":
		c.Advice = "; for a model in Ollama's cloud, run ‘ollama signin’; a proxy needs a key"
	}
}

// embedRequest is the body of api/embed.
type embedRequest struct {
	Model    string   `json:"model"`
	Input    []string `json:"input"`
	Truncate bool     `json:"truncate"`
	Options  options  `json:"options"`
}

// Embed turns texts into vectors, 64 in a request. A text that does not fit into the window is ContextLength (by
// default Ollama drops its end).
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, model.Usage, error) {
	return m.Client.Embed(ctx, texts, "api/embed", func(some []string) any {
		return embedRequest{Model: m.config.Model, Input: some, Options: options{NumCtx: m.config.NumCtx}}
	}, func(answer []byte) (v wire.Vectors, err error) {
		var body struct {
			Embeddings  [][]float32 `json:"embeddings"`
			InputTokens int         `json:"prompt_eval_count"`
		}
		err = json.Unmarshal(answer, &body)
		v.List, v.Usage.InputTokens = body.Embeddings, body.InputTokens
		return v, err
	})
}
