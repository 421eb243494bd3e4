package openai

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/model"
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
		text := strings.TrimSpace(string(body))
		if strings.HasPrefix(text, "<") { // a proxy's HTML page says nothing that the status does not
			text = ""
		}
		return complaint{Message: text}
	}
	c := complaint{Message: plain(outer.Message), Code: plain(outer.Code), Type: plain(outer.Type)}
	if c.Message == "" {
		c.Message = plain(outer.Detail)
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
		if text := plain(outer.Error); text != "" {
			c.Message = text
		}
		return c
	}
	return complaint{Message: plain(inner.Message), Code: plain(inner.Code), Type: plain(inner.Type)}
}

// plain is a JSON string's value, nothing for null, and any other JSON as it stands.
func plain(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// kind sorts a failure. What the provider names in words decides before the status, since compatible endpoints often
// agree on the words only. A status of 200 means an error inside a stream.
func (c complaint) kind(status int) model.Kind {
	if status == http.StatusOK {
		status = c.status()
	}
	name := strings.ToLower(c.Code + " " + c.Type)
	switch {
	case mentions(name, "context_length", "context_window", "exceed_context_size"):
		return model.ContextLength
	case mentions(name, "content_policy", "content_filter", "moderation"):
		return model.Refused
	}
	text := strings.ToLower(c.Message)
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, 500:
		// llama.cpp and some gateways report an overlong prompt as a failure of the server.
		if mentions(text, "context length", "context window", "context size", "maximum context", "too many tokens",
			"prompt is too long", "prompt too long", "input is too long") {
			return model.ContextLength
		}
	}
	switch status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity:
		if mentions(text, "content policy", "content management policy", "usage policies", "moderation", "flagged") {
			return model.Refused
		}
	}
	return statusKind(status)
}

func statusKind(status int) model.Kind {
	switch status {
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
		if mentions(name, known.words...) {
			return known.status
		}
	}
	return http.StatusInternalServerError
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
