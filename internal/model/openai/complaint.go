package openai

import (
	"encoding/json"
	"net/http"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// complaint is what a provider says of a failed request, in whichever of the usual forms.
type complaint struct {
	Message string
	Code    string // "context_length_exceeded"; some send a number, such as an HTTP status
	Type    string // "invalid_request_error"
}

// parseComplaint reads {"error":{…}}, {"error":"text"}, {"message":…}, {"detail":…}, one of these in an array, or plain
// text.
func parseComplaint(body []byte) complaint {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return complaint{Message: wire.Prose(body)}
	}
	c := complaint{Message: wire.Plain(outer.Message), Code: wire.Plain(outer.Code), Type: wire.Plain(outer.Type)}
	if c.Message == "" {
		c.Message = wire.Plain(outer.Detail)
	}
	if len(outer.Error) == 0 {
		return c
	}
	var inner struct {
		Message json.RawMessage `json:"message"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
	}
	if json.Unmarshal(outer.Error, &inner) != nil {
		if text := wire.Plain(outer.Error); text != "" {
			c.Message = text
		}
		return c
	}
	return complaint{Message: wire.Plain(inner.Message), Code: wire.Plain(inner.Code), Type: wire.Plain(inner.Type)}
}

// kind sorts a failure. What the provider names in words decides before the status, since compatible endpoints often
// agree on the words only. A status of 200 means an error inside a stream.
func (c complaint) kind(status int) model.Kind {
	if status == http.StatusOK {
		status = c.status()
	}
	name := strings.ToLower(c.Code + " " + c.Type)
	switch {
	case wire.Mentions(name, "context_length", "context_window", "exceed_context_size"):
		return model.ContextLength
	case wire.Mentions(name, "content_policy", "content_filter", "moderation"):
		return model.Refused
	}
	text := strings.ToLower(c.Message)
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, 500:
		// llama.cpp and some gateways report an overlong prompt as a failure of the server.
		if wire.Mentions(text, "context length", "context window", "context size", "maximum context", "too many tokens",
			"prompt is too long", "prompt too long", "input is too long") {
			return model.ContextLength
		}
	}
	switch status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity:
		if wire.Mentions(text, "content policy", "content management policy", "usage policies", "moderation", "flagged") {
			return model.Refused
		}
	}
	return wire.StatusKind(status)
}

// status guesses the HTTP status that an error inside a stream would have had; 500 where nothing is known.
func (c complaint) status() int {
	name := strings.ToLower(c.Code + " " + c.Type)
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
