package anthropic

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/model"
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
		text := strings.TrimSpace(string(body))
		if strings.HasPrefix(text, "<") { // a proxy's HTML page says nothing that the status does not
			text = ""
		}
		return complaint{Message: text}
	}
	var inner complaint
	switch {
	case len(outer.Error) == 0 || string(outer.Error) == "null":
		inner.Message = outer.Message
		if inner.Message == "" {
			inner.Message = plain(outer.Detail)
		}
	case json.Unmarshal(outer.Error, &inner) != nil:
		inner = complaint{Message: plain(outer.Error)}
	}
	return inner
}

// plain is a JSON string's value, nothing for null, and any other JSON as it stands.
func plain(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
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
	return statusKind(status)
}

// badRequest tells apart what the protocol gives one type and status.
func (c complaint) badRequest() model.Kind {
	text := strings.ToLower(c.Message)
	switch {
	case mentions(text, "prompt is too long", "input is too long", "exceed context limit",
		"context window", "context length", "context size"):
		return model.ContextLength
	case mentions(text, "content filtering policy", "content policy", "usage policy"):
		return model.Refused
	case mentions(text, "credit balance"):
		return model.RateLimit
	}
	return model.Invalid
}

func statusKind(status int) model.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return model.Auth
	case http.StatusTooManyRequests, http.StatusPaymentRequired:
		return model.RateLimit
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return model.Timeout
	case http.StatusRequestEntityTooLarge:
		return model.ContextLength
	}
	if status >= 500 || status == http.StatusOK {
		return model.Server
	}
	return model.Invalid
}

func mentions(text string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// maxMessage is how many bytes of a provider's words an error holds.
const maxMessage = 500

// shorten makes one line of text, at most maxMessage bytes, free of what could steer a terminal.
func shorten(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxMessage {
		return text
	}
	end := maxMessage
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
