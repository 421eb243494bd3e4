package openai

import (
	"net/http"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

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
