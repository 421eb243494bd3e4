package gemini

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// complaint is what the provider says of a failed request: a google.rpc.Status with what is used of its details.
type complaint struct {
	message    string
	code       int           // the HTTP status it stands for; 0 where none is given
	status     string        // a google.rpc.Code: "RESOURCE_EXHAUSTED"
	reason     string        // of google.rpc.ErrorInfo: "API_KEY_INVALID"
	retryAfter time.Duration // of google.rpc.RetryInfo
}

// parseComplaint reads {"error":{…}}, the same in an array, and from what may stand before the provider {"error":"text"}
// or plain text.
func parseComplaint(body []byte) complaint {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) != nil || len(outer.Error) == 0 {
		return complaint{message: wire.Prose(body)}
	}
	var inner struct {
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
		Status  string          `json:"status"`
		Details []errorDetail   `json:"details"`
	}
	if json.Unmarshal(outer.Error, &inner) != nil {
		return complaint{message: wire.Plain(outer.Error)}
	}
	c := complaint{message: inner.Message, status: inner.Status}
	c.code, _ = strconv.Atoi(strings.Trim(string(inner.Code), `"`)) // 0 for what is no number
	for _, d := range inner.Details {
		d.addTo(&c)
	}
	return c
}

// errorDetail is any of the details of a google.rpc.Status. Type is a URL that ends in the detail's name.
type errorDetail struct {
	Type       string `json:"@type"`
	Reason     string `json:"reason"`
	RetryDelay string `json:"retryDelay"`
}

func (d errorDetail) addTo(c *complaint) {
	_, name, _ := strings.Cut(d.Type, "/")
	switch name {
	case "google.rpc.ErrorInfo":
		c.reason = d.Reason
	case "google.rpc.RetryInfo":
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil {
			c.retryAfter = wire.Wait(delay)
		}
	}
}

// kind sorts a failure. The provider's own code decides before the HTTP status; 200 means an error inside a stream.
func (c complaint) kind(status int) model.Kind {
	if status == http.StatusOK {
		if status = c.code; status == 0 {
			status = http.StatusInternalServerError
		}
	}
	if kind, ok := c.named(); ok {
		return kind
	}
	if status == http.StatusBadRequest {
		return c.badRequest()
	}
	return wire.StatusKind(status)
}

// named is the kind for a google.rpc.Code.
func (c complaint) named() (model.Kind, bool) {
	switch c.status {
	case "INVALID_ARGUMENT", "OUT_OF_RANGE":
		return c.badRequest(), true
	case "UNAUTHENTICATED", "PERMISSION_DENIED",
		"FAILED_PRECONDITION": // the key's plan, or the place it is used from, does not allow the request
		return model.Auth, true
	case "RESOURCE_EXHAUSTED":
		return model.RateLimit, true
	case "DEADLINE_EXCEEDED":
		return model.Timeout, true
	case "NOT_FOUND", "UNIMPLEMENTED":
		return model.Invalid, true
	case "UNAVAILABLE", "INTERNAL", "UNKNOWN", "ABORTED", "CANCELLED", "DATA_LOSS":
		return model.Server, true
	}
	return "", false
}

// badRequest tells apart, by the words, what the provider reports as a bad argument.
func (c complaint) badRequest() model.Kind {
	text := strings.ToLower(c.message)
	switch {
	case c.reason == "API_KEY_INVALID", strings.Contains(text, "api key not valid"), strings.Contains(text, "api key expired"):
		return model.Auth
	case strings.Contains(text, "token count") && strings.Contains(text, "exceeds"),
		strings.Contains(text, "payload size exceeds"):
		return model.ContextLength
	}
	return model.Invalid
}
