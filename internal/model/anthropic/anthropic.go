// Package anthropic speaks the Messages protocol: Anthropic itself and every endpoint that offers the same.
//
// Besides the guarantees of packages model and wire:
//   - No header describes the machine.
//   - An answer has at most 1024 blocks; more is Garbled.
//   - The beginning that a request shares with later ones is marked for the provider's cache (prompt caching).
//   - Thinking is asked for as Config.Think says, and is never part of the text. It is kept, with its signature, in
//     Response.Native, and is sent back in the next request to the same model of the same provider, which alone can
//     check it.
package anthropic

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// Anthropic is the provider that has an address of its own; for any other name Config.BaseURL is required.
const Anthropic = "anthropic"

// DefaultBaseURL is the base URL of Anthropic itself.
const DefaultBaseURL = "https://api.anthropic.com"

// The limits of output, in tokens, for a request without one: the protocol requires one, and rejects more than the
// model's.
const (
	// for an unknown model; each of the Claude 4 family or later accepts it
	DefaultMaxOutputTokens = 8192
	// the most for any other: the limit has to fit into the window besides the conversation
	maxDefaultOutput = 64_000
)

// Config says which model is asked, where, and for how long. BaseURL is without the version:
// "https://api.anthropic.com"; one that ends in /v1 means the same.
type Config = wire.Config

// Model is one model of one endpoint: a model.Model, safe for concurrent use.
type Model struct{ *wire.Client }

// New returns the model that c describes. It sends nothing; a wrong base URL is reported by the first request.
func New(c Config) *Model {
	p := protocol{config: c, maxOutput: &atomic.Int64{}}
	return &Model{wire.New(c, wire.Protocol{
		Name:       Anthropic,
		DefaultURL: DefaultBaseURL,
		ExampleURL: "https://host.example",
		URLForm:    "http://host or https://host",
		URLHint:    "it ends before /v1/messages",
		URLPath: func(path string) string {
			return strings.TrimSuffix(strings.TrimRight(path, "/"), "/v1")
		},
		ChatPath: "v1/messages",
		Accept:   "text/event-stream",
		Header: func(header http.Header, key string) {
			header.Set("Anthropic-Version", "2023-06-01")
			if key != "" {
				header.Set("X-Api-Key", key)
			}
		},
		Finishes: map[string]model.Finish{
			"end_turn": model.FinishStop, "stop_sequence": model.FinishStop, "tool_use": model.FinishTools,
			"max_tokens": model.FinishLength, "model_context_window_exceeded": model.FinishLength,
			"refusal": model.FinishFilter,
		},
		Optional:    optional,
		TurnHasText: true,
		Dialect:     wire.Claude(),
		EncodeTurn:  p.encode, ReadTurn: p.readTurn, Classify: classify, List: listIDs, Describe: p.describe,
	})}
}

// protocol makes the requests to a model, and reads the answers.
type protocol struct {
	config    Config
	maxOutput *atomic.Int64 // the model's limit of output, once describe has asked for it
}

// describe asks for the model's entry in the list of models, which endpoints other than Anthropic's may not have.
func (p protocol) describe(x *wire.Call) (model.Info, error) {
	var entry struct {
		Input   int    `json:"max_input_tokens"`
		Output  int    `json:"max_tokens"`
		Created string `json:"created_at"`
	}
	if err := x.GetInfo("v1/models/"+url.PathEscape(p.config.Model), nil, &entry); err != nil {
		return model.Info{}, err
	}
	p.maxOutput.Store(int64(entry.Output))
	return model.Info{Window: entry.Input, Output: entry.Output, Digest: model.DigestOf(entry.Created)}, nil
}

// maxTokens returns the limit of output for a request: its own, or the model's.
func (p protocol) maxTokens(req wire.Request) int {
	if req.MaxOutputTokens > 0 {
		return req.MaxOutputTokens
	}
	known := cmp.Or(int(p.maxOutput.Load()), model.InfoByName(p.config.Model).Output, DefaultMaxOutputTokens)
	return min(known, maxDefaultOutput)
}

// listIDs returns the ids of the models that the endpoint offers, at most 1000.
func listIDs(x *wire.Call) (ids []string, err error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	err = x.GetList("v1/models", url.Values{"limit": {"1000"}}, &list, func() bool { return list.Data != nil })
	for _, entry := range list.Data {
		ids = append(ids, entry.ID)
	}
	return ids, err
}

// classify sets the Kind of a failure. The type decides before the status, since an error inside a stream has no other
// status than 200. An invalid_request_error is so general that its words and the status decide.
func classify(_ *wire.Call, status int, c *wire.Complaint) {
	kind, known := map[string]model.Kind{
		"rate_limit_error": model.RateLimit, "billing_error": model.Payment,
		"authentication_error": model.Auth, "permission_error": model.Auth,
		"not_found_error": model.Invalid, "request_too_large": model.ContextLength, "timeout_error": model.Timeout,
		"overloaded_error": model.Overloaded, "api_error": model.Server,
	}[c.Type]
	if c.Type == "invalid_request_error" && status == http.StatusOK {
		status = http.StatusBadRequest
	}
	text := strings.ToLower(c.Message)
	switch {
	case known:
		c.Kind = kind
	case status == http.StatusBadRequest && wire.TooLong(text):
		c.Kind = model.ContextLength
	case status == http.StatusBadRequest && wire.AgainstPolicy(text):
		c.Kind = model.Refused
	default:
		c.Kind = wire.StatusKind(status)
	}
}
