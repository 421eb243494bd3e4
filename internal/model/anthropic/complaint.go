package anthropic

import (
	"net/http"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// judge sorts a failure. The type decides before the status, since inside a stream, where status is 200, there is nothing
// else; an invalid_request_error is so general that its words and the status are looked at.
func judge(_ *wire.Exchange, status int, c *wire.Complaint) {
	kind, known := map[string]model.Kind{
		"rate_limit_error": model.RateLimit, "billing_error": model.RateLimit,
		"authentication_error": model.Auth, "permission_error": model.Auth,
		"not_found_error": model.Invalid, "request_too_large": model.ContextLength, "timeout_error": model.Timeout,
		"overloaded_error": model.Server, "api_error": model.Server,
	}[c.Type]
	if c.Type == "invalid_request_error" && status == http.StatusOK {
		status = http.StatusBadRequest
	}
	text := strings.ToLower(c.Message)
	switch {
	case known:
		c.Kind = kind
	case status != http.StatusBadRequest:
		c.Kind = wire.StatusKind(status)
	case wire.TooLong(text):
		c.Kind = model.ContextLength
	case wire.AgainstPolicy(text):
		c.Kind = model.Refused
	case wire.Mentions(text, "credit balance"):
		c.Kind = model.RateLimit
	default:
		c.Kind = model.Invalid
	}
}
