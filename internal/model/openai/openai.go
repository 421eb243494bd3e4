// Package openai speaks the protocols of OpenAI: chat completions, which Ollama's /v1 and every endpoint that calls itself compatible
// speak too, the Responses API, embeddings and transcriptions.
//
// Besides the guarantees of packages model and wire: a refusal is Refused. Failed tool results are marked in their text, as the
// protocol has no field for it. Reasoning is never part of the text: it is kept in Response.Native and goes back in the next requests
// to the same model of the same provider.
//
// OpenAI itself is asked by its Responses API, all others by chat completions, unless Config.API says otherwise. Where nothing is said
// and the endpoint answers that a model, or its tools, need the other one, that is asked at once, and remembered; Response.Attempts
// counts all requests.
//
// Compatible endpoints differ in what they take; the table in quirks.go says how. What comes from them differs too, and is accepted:
// parts of tool calls without index or id, several whole calls under one index, arguments as an object or left out, content as a list
// of parts, no usage, no finish reason before [DONE], no [DONE] after a finish reason, errors inside the stream, and one whole JSON
// answer where a stream was asked for.
//
// go-openai is not used: it drops the Retry-After of a failed request and cannot tell a cut line from a bad one, takes its key once
// and for all, and refuses some models by name before asking.
package openai

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
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

// openAIHost is where OpenAI itself answers.
const openAIHost = "api.openai.com"

// The values of Config.API.
const (
	Chat      = "chat"
	Responses = "responses"
)

// Config says which model is asked, where, and for how long. BaseURL includes the version: "http://127.0.0.1:11434/v1".
type Config = wire.Config

// Model is one model of one endpoint: a model.Model, model.Describer, model.Embedder and model.Transcriber. It is safe for concurrent
// use.
type Model struct {
	*wire.Client
	config Config
	apis   [2]*wire.Client // chat completions, which is the Client, and responses
	api    atomic.Uint32   // the one in use
	brief  atomic.Bool     // of a transcript it tells the text alone
}

// New returns the model that c describes. It sends nothing; a wrong BaseURL is reported by the first request.
func New(c Config) *Model {
	address := map[string]string{OpenAI: "https://" + openAIHost + "/v1", Ollama: "http://127.0.0.1:11434/v1"}[c.Provider]
	host := ""
	if base, err := url.Parse(cmp.Or(c.BaseURL, address)); err == nil {
		host = base.Hostname()
	}
	m := &Model{config: c}
	p := &protocol{config: c, known: known(host, c.Provider, c.Model)}
	spoken := wire.Protocol{
		DefaultURL: address,
		ExampleURL: "https://host.example/v1",
		URLForm:    "http://host/v1 or https://host/v1",
		URLHint:    "most end in /v1",
		ChatPath:   "chat/completions",
		Accept:     "text/event-stream",
		Header:     p.header,
		Finishes: map[string]model.Finish{
			"stop": model.FinishStop, "tool_calls": model.FinishTools, "function_call": model.FinishTools,
			"length": model.FinishLength, filtered: model.FinishFilter,
			completed: model.FinishStop, "max_output_tokens": model.FinishLength,
		},
		Encode: p.encode, Read: p.read, Judge: judge, List: list, Describe: p.describe,
	}
	for _, r := range rules() {
		spoken.Optional = append(spoken.Optional, r.said)
	}
	m.Client = wire.New(c, spoken)
	spoken.ChatPath, spoken.Encode, spoken.Read = "responses", p.encodeResponse, p.readResponse
	m.apis = [2]*wire.Client{m.Client, m.Beside(spoken)}
	if c.API == Responses || c.API == "" && host == openAIHost {
		m.api.Store(1)
	}
	return m
}

// Chat streams one assistant turn.
func (m *Model) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	api := m.api.Load()
	resp, err := m.apis[api].Chat(ctx, req, emit)
	if m.config.API != "" || resp.Text != "" || model.KindOf(err) != model.Invalid || !otherAPI(err.Error()) {
		return resp, err
	}
	other, otherErr := m.apis[1-api].Chat(ctx, req, emit)
	if model.KindOf(otherErr) == model.Invalid { // it is not there, or no better
		resp.Attempts += other.Attempts
		return resp, err
	}
	m.api.CompareAndSwap(api, 1-api)
	other.Attempts += resp.Attempts
	return other, otherErr
}

// otherAPI says whether a request is rejected with a pointer to the other API: "only supported in v1/responses", "not supported with
// the Responses API".
func otherAPI(said string) bool {
	return wire.Mentions(strings.ToLower(said), "/responses", "responses api", "/chat/completions")
}

// filtered is the finish reason of an answer that the provider's filter ended, in both APIs.
const filtered = "content_filter"

// protocol is what goes into each request to a model in one of the APIs.
type protocol struct {
	config Config
	known  quirk
}

// header puts the key where the endpoint looks for it.
func (p *protocol) header(header http.Header, key string) {
	if p.known&keyHeader == 0 {
		wire.Bearer(header, key)
	} else if key != "" {
		header.Set("Api-Key", key)
	}
}

// noToolsAdvice stands behind the words of a gateway that has nobody to run a model with tools.
const noToolsAdvice = " (choose a model that takes tools, or another provider of this one)"

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
	case wire.Mentions(name, "tool_use_failed"): // Groq: what the model wrote is no call; it may be one the next time
		c.Kind = model.Server
	// llama.cpp and some gateways report an overlong prompt as a failure of the server.
	case (wrong || status == http.StatusInternalServerError) && wire.TooLong(text):
		c.Kind = model.ContextLength
	case (wrong || status == http.StatusForbidden) && wire.AgainstPolicy(text):
		c.Kind = model.Refused
	case status == http.StatusNotFound && wire.Mentions(text, "support tool use"): // OpenRouter
		c.Kind, c.Advice, c.Final = model.Invalid, noToolsAdvice, true
	default:
		c.Kind = wire.StatusKind(status)
		c.Final = otherAPI(text)
	}
}

// likelyStatus guesses the HTTP status that an error of that name inside a stream would have had; 500 where nothing is known.
func likelyStatus(name string) int {
	for _, known := range []struct {
		status int
		words  []string
	}{
		{http.StatusServiceUnavailable, []string{"503", "529", "overloaded"}},
		{http.StatusTooManyRequests, []string{"429", "rate_limit", "tokens_exceeded"}},
		{http.StatusPaymentRequired, []string{"402"}},
		{http.StatusUnauthorized, []string{"401", "authentication", "invalid_api_key"}},
		{http.StatusForbidden, []string{"403", "permission"}},
		{http.StatusNotFound, []string{"404", "model_not_found", "not_found_error"}},
		{http.StatusRequestTimeout, []string{"408", "timeout"}},
		{http.StatusBadRequest, []string{"400", "invalid_request", "invalid_prompt", "badrequest"}},
	} {
		if wire.Mentions(name, known.words...) {
			return known.status
		}
	}
	return http.StatusInternalServerError
}
