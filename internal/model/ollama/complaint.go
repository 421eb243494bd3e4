package ollama

import (
	"encoding/json"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
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
	return wire.Prose(body)
}

// complain is the text of an error field.
func complain(raw json.RawMessage) string {
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &object) == nil && object.Message != "" {
		return object.Message
	}
	return wire.Plain(raw)
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
	case wire.Mentions(said, "context length", "context window", "context size", "prompt too long", "prompt is too long"):
		return model.ContextLength
	case wire.Mentions(said, "does not support", saysNoMemory, "model is required", "invalid model name"):
		return model.Invalid
	case wire.Mentions(said, saysQueueFull):
		return model.RateLimit
	case status < 500 && wire.Mentions(said, "content policy", "content management policy", "usage policies", "moderation", "flagged"):
		return model.Refused
	}
	return wire.StatusKind(status)
}
