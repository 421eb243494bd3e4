package gemini

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/model"
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
		text := strings.TrimSpace(string(body))
		if strings.HasPrefix(text, "<") { // a proxy's HTML page says nothing that the status does not
			text = ""
		}
		return complaint{message: text}
	}
	var inner struct {
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
		Status  string          `json:"status"`
		Details []errorDetail   `json:"details"`
	}
	if json.Unmarshal(outer.Error, &inner) != nil {
		var text string
		if json.Unmarshal(outer.Error, &text) != nil {
			text = string(outer.Error)
		}
		return complaint{message: text}
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
			c.retryAfter = min(max(delay, 0), maxRetryAfter)
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
	return statusKind(status)
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

func statusKind(status int) model.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return model.Auth
	case http.StatusTooManyRequests:
		return model.RateLimit
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return model.Timeout
	case http.StatusRequestEntityTooLarge:
		return model.ContextLength
	}
	if status >= 500 {
		return model.Server
	}
	return model.Invalid
}

// retryAfter reads the header in both its forms, seconds and a date.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if seconds > 0 && seconds < maxRetryAfter.Seconds() {
			return time.Duration(seconds * float64(time.Second))
		}
		if seconds > 0 {
			return maxRetryAfter
		}
		return 0
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), maxRetryAfter)
	}
	return 0
}

// maxRetryAfter keeps an absurd wish from overflowing a Duration.
const maxRetryAfter = 365 * 24 * time.Hour

// maxMessage is how many bytes of the provider's words an error holds.
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
