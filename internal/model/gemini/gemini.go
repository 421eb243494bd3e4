// Package gemini speaks the Gemini API of Google AI (generativelanguage.googleapis.com, not Vertex AI).
//
// Besides the guarantees of packages model and wire:
//   - The key goes in a header, never in a URL.
//   - A turn is sent back as it came: its parts, with their thought signatures, are kept and sent byte for byte.
//     Thoughts are never text.
package gemini

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// version is the only version of the API that has all that is used here.
const version = "/v1beta"

// Config says which model is asked, where, and for how long. Model is "gemini-2.5-flash", or with its collection
// "models/gemini-2.5-flash" or "tunedModels/mine". BaseURL is "https://host.example", or with a path that includes the
// version, "https://host.example/gemini/v1beta"; empty: Google's own.
type Config = wire.Config

// Model is one model of the Gemini API: a model.Model, safe for concurrent use. If the provider can't read a call of
// its own model, that is Garbled.
type Model struct{ *wire.Client }

// New returns the model that c describes. It sends nothing; a wrong BaseURL is reported by the first request, a wrong
// name by the first Chat. List needs no name.
func New(c Config) *Model {
	p := &protocol{config: c}
	p.path, p.nameErr = modelPath(c.Model)
	finishes := map[string]model.Finish{"STOP": model.FinishStop, "MAX_TOKENS": model.FinishLength}
	for _, word := range []string{"SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", promptBlocked} {
		finishes[word] = model.FinishFilter
	}
	return &Model{wire.New(c, wire.Protocol{
		DefaultURL: "https://generativelanguage.googleapis.com",
		URLForm:    "https://host or https://host/path/v1beta",
		URLHint:    "a path in it ends in /v1beta",
		URLPath:    withVersion,
		ChatPath:   p.path + ":streamGenerateContent",
		Query:      url.Values{"alt": {"sse"}},
		Accept:     "text/event-stream",
		Header: func(header http.Header, key string) {
			if key != "" {
				header.Set("x-goog-api-key", key)
			}
		},
		CallIDPrefix: generatedIDPrefix,
		Finishes:     finishes,
		Optional:     optional,
		TurnHasText:  true,
		Dialect:      wire.OpenAPI(),
		EncodeTurn:   p.encode, ReadTurn: readTurn, Classify: classify, List: listNames, Describe: p.describe,
	})}
}

// protocol makes the requests to a model.
type protocol struct {
	config  Config
	path    string // of the model, escaped
	nameErr error  // why there is no path
}

func withVersion(path string) string {
	if strings.Trim(path, "/") == "" {
		return version
	}
	return path
}

// The collections of models; a name without one is in the first.
const (
	baseModels  = "models/"
	tunedModels = "tunedModels/"
)

// modelPath returns the path of a model, escaped. A name can't lead out of its collection.
func modelPath(name string) (string, error) {
	full := name
	if !strings.HasPrefix(name, baseModels) && !strings.HasPrefix(name, tunedModels) {
		full = baseModels + name
	}
	segments := strings.Split(full, "/")
	for i, s := range segments {
		if s == "" || s == "." || s == ".." {
			return "", fmt.Errorf("%q is no model's name: write it as in gemini-2.5-flash or tunedModels/mine", name)
		}
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/"), nil
}

// generateMethod is a method of all models that chat.
const generateMethod = "generateContent"

// describe asks for the model's entry. Window is that of the request alone: answers are not counted in it.
func (p *protocol) describe(x *wire.Call) (model.Info, error) {
	if p.nameErr != nil {
		return model.Info{}, x.Fail(model.Invalid, p.nameErr.Error(), p.nameErr)
	}
	var entry struct {
		Input   int      `json:"inputTokenLimit"`
		Output  int      `json:"outputTokenLimit"`
		Methods []string `json:"supportedGenerationMethods"`
		Version string   `json:"version"`
	}
	err := x.GetInfo(p.path, nil, &entry)
	return model.Info{Window: entry.Input, Output: entry.Output, Digest: model.DigestOf(entry.Version),
		NoChat: entry.Methods != nil && !slices.Contains(entry.Methods, generateMethod)}, err
}

// listNames returns the names of the models that generate content, of the first 1000; base models are named without
// "models/".
func listNames(x *wire.Call) ([]string, error) {
	var list struct {
		Models []struct {
			Name    string   `json:"name"`
			Methods []string `json:"supportedGenerationMethods"`
		} `json:"models"`
	}
	err := x.GetList("models", url.Values{"pageSize": {"1000"}}, &list, func() bool { return list.Models != nil })
	names := []string{}
	for _, entry := range list.Models {
		if slices.Contains(entry.Methods, generateMethod) {
			names = append(names, strings.TrimPrefix(entry.Name, baseModels))
		}
	}
	return names, err
}

// kindsByStatus maps a google.rpc.Code to a kind.
var kindsByStatus = map[string]model.Kind{
	"UNAUTHENTICATED": model.Auth, "PERMISSION_DENIED": model.Auth,
	"FAILED_PRECONDITION": model.Auth, // the key's plan, or the place it is used from, does not allow the request
	"RESOURCE_EXHAUSTED":  model.RateLimit, "DEADLINE_EXCEEDED": model.Timeout,
	"NOT_FOUND": model.Invalid, "UNIMPLEMENTED": model.Invalid,
	"UNAVAILABLE": model.Overloaded, "INTERNAL": model.Server, "UNKNOWN": model.Server, "ABORTED": model.Server,
	"CANCELLED": model.Server, "DATA_LOSS": model.Server,
}

// classify sets the Kind of a failure, which the API describes as a google.rpc.Status. The provider's own code decides
// before the HTTP status.
func classify(_ *wire.Call, status int, c *wire.Complaint) {
	var details []struct {
		Type       string `json:"@type"` // a URL that ends in the detail's name
		Reason     string `json:"reason"`
		RetryDelay string `json:"retryDelay"`
	}
	_ = json.Unmarshal(c.Details, &details) // none in another form
	badKey, noCapacity, unpaid := false, false, false
	for _, d := range details {
		switch _, name, _ := strings.Cut(d.Type, "/"); name {
		case "google.rpc.ErrorInfo":
			badKey, noCapacity = d.Reason == "API_KEY_INVALID", d.Reason == "MODEL_CAPACITY_EXHAUSTED"
			unpaid = strings.HasPrefix(d.Reason, "BILLING")
		case "google.rpc.RetryInfo":
			if delay, err := time.ParseDuration(d.RetryDelay); err == nil {
				c.RetryAfter = wire.BoundWait(delay)
			}
		}
	}
	if status == http.StatusOK {
		if status, _ = strconv.Atoi(c.Code); status == 0 { // it is no number, or missing
			status = http.StatusInternalServerError
		}
	}
	kind, known := kindsByStatus[c.Status]
	text := strings.ToLower(c.Message)
	switch {
	// only these words: each refusal for a rate mentions billing
	case unpaid, wire.ContainsAny(text, "credits are depleted", "spending cap"):
		c.Kind = model.Payment
	case noCapacity:
		c.Kind = model.Overloaded
	case known:
		c.Kind = kind
	case status != http.StatusBadRequest && c.Status != "INVALID_ARGUMENT" && c.Status != "OUT_OF_RANGE":
		c.Kind = wire.StatusKind(status)
	// Of the other bad arguments, the words say which one it is.
	case badKey, wire.ContainsAny(text, "api key not valid", "api key expired"):
		c.Kind = model.Auth
	case wire.ContainsAny(text, "token count") && wire.ContainsAny(text, "exceeds"),
		wire.ContainsAny(text, "payload size exceeds"):
		c.Kind = model.ContextLength
	default:
		c.Kind = model.Invalid
	}
}
