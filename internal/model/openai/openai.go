// Package openai speaks the protocols of OpenAI: chat completions, which Ollama's /v1 and every endpoint that calls
// itself compatible speak too, the Responses API, embeddings and transcriptions.
//
// Besides the guarantees of packages model and wire: a refusal is Refused. Failed tool results are marked in their
// text, as the protocol has no field for it. Reasoning is never part of the text: it is kept in Response.Native and
// goes back in the next requests to the same model of the same provider.
//
// OpenAI itself is asked by its Responses API, all others by chat completions, unless Config.API says otherwise. If an
// endpoint answers that a model, or its tools, need the other API, the error names the setting.
//
// Compatible endpoints differ in what they accept; the table in quirks.go says how. Their answers differ too, and these
// are accepted: parts of tool calls without index or id, several whole calls under one index, arguments that are an
// object or missing, content as a list of parts, no usage, no finish reason before [DONE], no [DONE] after a finish
// reason, errors inside the stream, and one whole JSON answer where a stream was asked for.
package openai

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
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

// openAIHost is OpenAI's own host.
const openAIHost = "api.openai.com"

// The values of Config.API.
const (
	Chat      = "chat"
	Responses = "responses"
)

// Config says which model is asked, where, and for how long. BaseURL includes the version: "http://127.0.0.1:11434/v1".
type Config = wire.Config

// Model is one model of one endpoint: a model.Model, model.Describer, model.Embedder and model.Transcriber. It is safe
// for concurrent use.
type Model struct {
	*wire.Client
	config   Config
	textOnly atomic.Bool // transcripts are the text alone
}

// New returns the model that c describes. It sends nothing; a wrong BaseURL is reported by the first request.
func New(c Config) *Model {
	address := map[string]string{OpenAI: "https://" + openAIHost + "/v1",
		Ollama: "http://127.0.0.1:11434/v1"}[c.Provider]
	host := ""
	if base, err := url.Parse(cmp.Or(c.BaseURL, address)); err == nil {
		host = base.Hostname()
	}
	p := &protocol{config: c, preset: presetQuirks(host, c.Provider, c.Model), own: c.Local || isPrivate(host)}
	wireProtocol := wire.Protocol{
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
		Dialect:    wire.Compatible(),
		EncodeTurn: p.encode, ReadTurn: p.readChat, Classify: p.classify, List: listIDs, Describe: p.describe,
	}
	for _, r := range rules() {
		wireProtocol.Optional = append(wireProtocol.Optional, r.complaint)
	}
	p.otherAPI = Responses
	if c.API == Responses || c.API == "" && host == openAIHost {
		p.otherAPI = Chat
		wireProtocol.ChatPath, wireProtocol.TurnHasText = "responses", true
		wireProtocol.EncodeTurn, wireProtocol.ReadTurn = p.encodeResponse, p.readResponse
	}
	return &Model{Client: wire.New(c, wireProtocol), config: c}
}

// filtered is the finish reason of an answer that the provider's filter ended, in both APIs.
const filtered = "content_filter"

// protocol makes the requests to a model in one of the APIs, and reads the answers.
type protocol struct {
	config   Config
	preset   quirk
	otherAPI string // the API that is not the one in use
	own      bool   // the server is the person's: it may be llama.cpp, and others of them ignore fields they don't know
}

// isPrivate says whether a host is in a network of the person's own.
func isPrivate(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsPrivate() || ip.IsLinkLocalUnicast())
}

// header sets the key in the header in which the endpoint expects it.
func (p *protocol) header(header http.Header, key string) {
	if p.preset&keyHeader == 0 {
		wire.Bearer(header, key)
	} else if key != "" {
		header.Set("Api-Key", key)
	}
}

// classify sets the Kind of a failure. The provider's words decide before the status, since compatible endpoints often
// agree on the words only.
func (p *protocol) classify(_ *wire.Call, status int, c *wire.Complaint) {
	name := strings.ToLower(c.Code + " " + c.Type)
	if status == http.StatusOK {
		status = likelyStatus(name)
	}
	text := strings.ToLower(c.Message)
	badRequest := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
	switch {
	case wire.ContainsAny(name, "context_length", "context_window", "exceed_context_size"):
		c.Kind = model.ContextLength
	case wire.ContainsAny(name, "content_policy", "content_filter", "moderation"):
		c.Kind = model.Refused
	case wire.ContainsAny(name, "tool_use_failed"): // Groq: the model wrote no valid call; the next attempt may succeed
		c.Kind = model.Server
	// llama.cpp and some gateways report an overlong prompt as a failure of the server.
	case (badRequest || status == http.StatusInternalServerError) && wire.TooLong(text):
		c.Kind = model.ContextLength
	case (badRequest || status == http.StatusForbidden) && wire.AgainstPolicy(text):
		c.Kind = model.Refused
	case status == http.StatusNotFound && wire.ContainsAny(text, "support tool use"): // OpenRouter
		c.Kind = model.Invalid
	default:
		c.Kind = wire.StatusKind(status)
		// "only supported in v1/responses", "not supported with the Responses API"
		if c.Kind == model.Invalid && wire.ContainsAny(text, "/responses", "responses api", "/chat/completions") {
			c.Final, c.Advice = true, fmt.Sprintf(" (to ask by the other API, set providers.%s.api to %s)",
				p.config.Provider, p.otherAPI)
		}
	}
}

// likelyStatus guesses the HTTP status that an error of that name inside a stream would have had; 500 if the name says
// nothing.
func likelyStatus(name string) int {
	for _, guess := range []struct {
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
		if wire.ContainsAny(name, guess.words...) {
			return guess.status
		}
	}
	return http.StatusInternalServerError
}
