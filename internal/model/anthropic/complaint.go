package anthropic

import (
	"encoding/json"
	"net/http"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// complaint is what a provider says of a failed request.
type complaint struct {
	Type    string // "overloaded_error"
	Message string
}

// parseComplaint reads the protocol's {"type":"error","error":{"type":…,"message":…}}, and {"error":"text"},
// {"message":…}, {"detail":…} or plain text from what stands before an endpoint.
func parseComplaint(body []byte) complaint {
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return complaint{Message: wire.Prose(body)}
	}
	var inner complaint
	switch {
	case !wire.Given(outer.Error):
		inner.Message = outer.Message
		if inner.Message == "" {
			inner.Message = wire.Plain(outer.Detail)
		}
	case json.Unmarshal(outer.Error, &inner) != nil:
		inner = complaint{Message: wire.Plain(outer.Error)}
	}
	return inner
}

// kind sorts a failure. The type decides before the status, since inside a stream, where status is 200, there is nothing
// else; an invalid_request_error is so general that its words and the status are looked at.
func (c complaint) kind(status int) model.Kind {
	switch c.Type {
	case "rate_limit_error", "billing_error":
		return model.RateLimit
	case "authentication_error", "permission_error":
		return model.Auth
	case "not_found_error":
		return model.Invalid
	case "request_too_large":
		return model.ContextLength
	case "timeout_error":
		return model.Timeout
	case "overloaded_error", "api_error":
		return model.Server
	case "invalid_request_error":
		if status == http.StatusOK {
			status = http.StatusBadRequest
		}
	}
	if status == http.StatusBadRequest {
		return c.badRequest()
	}
	return wire.StatusKind(status)
}

// badRequest tells apart what the protocol gives one type and status.
func (c complaint) badRequest() model.Kind {
	text := strings.ToLower(c.Message)
	switch {
	case wire.Mentions(text, "prompt is too long", "input is too long", "exceed context limit",
		"context window", "context length", "context size"):
		return model.ContextLength
	case wire.Mentions(text, "content filtering policy", "content policy", "usage policy"):
		return model.Refused
	case wire.Mentions(text, "credit balance"):
		return model.RateLimit
	}
	return model.Invalid
}
