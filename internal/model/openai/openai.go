// Package openai speaks the protocol of OpenAI, of Ollama's /v1 and of every endpoint that calls itself compatible: chat
// completions, embeddings and transcriptions.
//
// Besides the guarantees of packages model and wire: text, arguments and refusal of one answer are at most 8 MB together, its
// calls at most 256; more is Garbled. A refusal is Refused. Failed tool results are marked in their text, as the protocol has no
// field for it.
//
// Compatible endpoints differ, and these differences are accepted: parts of tool calls without index or id, several
// whole calls under one index, arguments as an object or left out, no usage, no finish reason before [DONE], no [DONE]
// after a finish reason, errors inside the stream, and one whole JSON answer where a stream was asked for.
//
// The tests hold this package against go-openai, but its client is not used. Its stream reader matches several regular
// expressions per line and decodes into large structs; it drops the Retry-After of a failed request and cannot tell a cut
// line from a bad one; it takes its key once and for all; and it refuses some models by name before asking.
package openai

import (
	"net/http"
	"strings"
	"sync/atomic"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// The two providers that have an address of their own; for any other name Config.BaseURL is required.
const (
	OpenAI = "openai"
	Ollama = "ollama"
)

// Config says which model is asked, where, and for how long. BaseURL includes the version: "http://127.0.0.1:11434/v1".
type Config = wire.Config

// Model is one model of one endpoint: a model.Model, model.Embedder and model.Transcriber. It is safe for concurrent use.
type Model struct {
	*wire.Client
	name string
}

// New returns the model that c describes. It sends nothing; a wrong BaseURL is reported by the first request.
func New(c Config) *Model {
	p := newProtocol(c)
	address := map[string]string{OpenAI: "https://api.openai.com/v1", Ollama: "http://127.0.0.1:11434/v1"}[c.Provider]
	return &Model{name: c.Model, Client: wire.New(c, wire.Protocol{
		DefaultURL: address,
		ExampleURL: "https://host.example/v1",
		URLForm:    "http://host/v1 or https://host/v1",
		URLHint:    "most end in /v1",
		ChatPath:   "chat/completions",
		Accept:     "text/event-stream",
		Header:     wire.Bearer,
		Finishes: map[string]model.Finish{
			"stop": model.FinishStop, "tool_calls": model.FinishTools, "function_call": model.FinishTools,
			"length": model.FinishLength, filtered: model.FinishFilter,
		},
		Optional: []string{"stream_options", "response_format"}, // in the order of the bits below
		Encode:   p.encode, Read: read, Judge: judge, List: list,
	})}
}

// The optional fields, as they are left out.
const (
	streamOptions = 1 << iota
	responseFormat
)

// filtered is the finish reason of an answer that the provider's filter ended.
const filtered = "content_filter"

// protocol is what goes into each request to a model, and the forms of what most requests share.
type protocol struct {
	name   string
	limit  string // the key of the limit on output tokens
	system atomic.Pointer[last[string]]
	tools  atomic.Pointer[last[[]model.Tool]]
}

func newProtocol(c Config) *protocol {
	p := &protocol{name: c.Model, limit: `"max_completion_tokens":`}
	if c.Provider != OpenAI {
		p.limit = `"max_tokens":` // deprecated by OpenAI, all that many others know
	}
	return p
}

// last is what was sent last, with its form: all turns of all runs begin with the same system prompt, and offer the same tools.
type last[T any] struct {
	sent T
	form []byte
}

// list returns the ids of the models that the endpoint offers.
func list(x *wire.Exchange) ([]string, error) {
	var list struct {
		Models []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := x.GetList("models", nil, &list, func() bool { return list.Models != nil }); err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(list.Models))
	for _, entry := range list.Models {
		ids = append(ids, entry.ID)
	}
	return ids, nil
}

// judge sorts a failure. What the provider names in words decides before the status, since compatible endpoints often
// agree on the words only.
func judge(_ *wire.Exchange, status int, c *wire.Complaint) {
	name := strings.ToLower(c.Code + " " + c.Type)
	if status == http.StatusOK {
		status = likelyStatus(name)
	}
	text := strings.ToLower(c.Message)
	wrong := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
	switch {
	case wire.Mentions(name, "context_length", "context_window", "exceed_context_size"):
		c.Kind = model.ContextLength
	case wire.Mentions(name, "content_policy", "content_filter", "moderation"):
		c.Kind = model.Refused
	// llama.cpp and some gateways report an overlong prompt as a failure of the server.
	case (wrong || status == http.StatusInternalServerError) && wire.TooLong(text):
		c.Kind = model.ContextLength
	case (wrong || status == http.StatusForbidden) && wire.AgainstPolicy(text):
		c.Kind = model.Refused
	default:
		c.Kind = wire.StatusKind(status)
	}
}

// likelyStatus guesses the HTTP status that an error of that name inside a stream would have had; 500 where nothing is known.
func likelyStatus(name string) int {
	for _, known := range []struct {
		status int
		words  []string
	}{
		{http.StatusTooManyRequests, []string{"429", "rate_limit", "insufficient_quota", "tokens_exceeded"}},
		{http.StatusPaymentRequired, []string{"402"}},
		{http.StatusUnauthorized, []string{"401", "authentication", "invalid_api_key"}},
		{http.StatusForbidden, []string{"403", "permission"}},
		{http.StatusNotFound, []string{"404", "model_not_found", "not_found_error"}},
		{http.StatusRequestTimeout, []string{"408", "timeout"}},
		{http.StatusBadRequest, []string{"400", "invalid_request", "badrequest"}},
	} {
		if wire.Mentions(name, known.words...) {
			return known.status
		}
	}
	return http.StatusInternalServerError
}
