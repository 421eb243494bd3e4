package ollama

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/model"
)

// complaintIn is what a server says of a failed request: Ollama's {"error":"text"}, a gateway's {"error":{"message":…}},
// or plain text.
func complaintIn(body []byte) string {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) == nil {
		return complain(outer.Error)
	}
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "<") { // a proxy's HTML page says nothing that the status does not
		return ""
	}
	return text
}

// complain is the text of an error field.
func complain(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &object) == nil && object.Message != "" {
		return object.Message
	}
	return string(raw)
}

// The words by which Ollama's failures are known: it has no error codes, and inside a stream no status either.
const (
	saysNoTools   = "does not support tools"
	saysNotFound  = "not found"
	saysNoMemory  = "requires more system memory"
	saysQueueFull = "maximum pending requests"
)

// kindOf sorts a failure by what was said and by its HTTP status, which is 0 inside a stream.
func kindOf(status int, said string) model.Kind {
	said = strings.ToLower(said)
	switch {
	case mentions(said, "context length", "context window", "context size", "prompt too long", "prompt is too long"):
		return model.ContextLength
	case mentions(said, "does not support", saysNoMemory, "model is required", "invalid model name"):
		return model.Invalid
	case mentions(said, saysQueueFull):
		return model.RateLimit
	case status < 500 && mentions(said, "content policy", "content management policy", "usage policies", "moderation", "flagged"):
		return model.Refused
	}
	switch status {
	case 0:
		return model.Server
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return model.Auth
	case http.StatusTooManyRequests, http.StatusPaymentRequired:
		return model.RateLimit
	case http.StatusRequestTimeout:
		return model.Timeout
	case http.StatusRequestEntityTooLarge:
		return model.ContextLength
	}
	if status >= 500 {
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

// maxMessage is how many bytes of a server's words an error holds.
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
