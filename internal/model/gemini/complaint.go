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

// kinds are the kinds for a google.rpc.Code.
var kinds = map[string]model.Kind{
	"UNAUTHENTICATED": model.Auth, "PERMISSION_DENIED": model.Auth,
	"FAILED_PRECONDITION": model.Auth, // the key's plan, or the place it is used from, does not allow the request
	"RESOURCE_EXHAUSTED":  model.RateLimit, "DEADLINE_EXCEEDED": model.Timeout,
	"NOT_FOUND": model.Invalid, "UNIMPLEMENTED": model.Invalid,
	"UNAVAILABLE": model.Server, "INTERNAL": model.Server, "UNKNOWN": model.Server, "ABORTED": model.Server,
	"CANCELLED": model.Server, "DATA_LOSS": model.Server,
}

// judge sorts a failure, which the API describes as a google.rpc.Status. The provider's own code decides before the HTTP status.
func judge(_ *wire.Exchange, status int, c *wire.Complaint) {
	var details []struct {
		Type       string `json:"@type"` // a URL that ends in the detail's name
		Reason     string `json:"reason"`
		RetryDelay string `json:"retryDelay"`
	}
	_ = json.Unmarshal(c.Details, &details) // none in another form
	badKey := false
	for _, d := range details {
		switch _, name, _ := strings.Cut(d.Type, "/"); name {
		case "google.rpc.ErrorInfo":
			badKey = d.Reason == "API_KEY_INVALID"
		case "google.rpc.RetryInfo":
			if delay, err := time.ParseDuration(d.RetryDelay); err == nil {
				c.RetryAfter = wire.Wait(delay)
			}
		}
	}
	if status == http.StatusOK {
		if status, _ = strconv.Atoi(c.Code); status == 0 { // it is no number, or not there
			status = http.StatusInternalServerError
		}
	}
	kind, named := kinds[c.Status]
	text := strings.ToLower(c.Message)
	switch {
	case named:
		c.Kind = kind
	case status != http.StatusBadRequest && c.Status != "INVALID_ARGUMENT" && c.Status != "OUT_OF_RANGE":
		c.Kind = wire.StatusKind(status)
	// What else is a bad argument, the words tell apart.
	case badKey, wire.Mentions(text, "api key not valid", "api key expired"):
		c.Kind = model.Auth
	case wire.Mentions(text, "token count") && wire.Mentions(text, "exceeds"), wire.Mentions(text, "payload size exceeds"):
		c.Kind = model.ContextLength
	default:
		c.Kind = model.Invalid
	}
}
