package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sibyl/internal/model"
)

// EmptyText replaces an empty text if a protocol requires one.
const EmptyText = "(empty)"

// ResultText returns the text of a tool's result for a protocol without a field for failed tools.
func ResultText(msg model.Message) string {
	if msg.IsError {
		return "The tool failed: " + msg.Text
	}
	return msg.Text
}

// Request is a checked request for a turn: its roles are known, and its schemas are JSON.
type Request struct {
	model.Request
	Without uint32   // the optional fields that the endpoint does not take, by their bits
	Strict  bool     // hosted providers can enforce Schema
	LeftOut []string // tools whose schemas the endpoint refuses
}

// checkRequest checks a request for what is wrong in every protocol.
func checkRequest(req model.Request) (checked Request, err error) {
	checked.Request = req
	for i, msg := range req.Messages {
		if msg.Role != model.User && msg.Role != model.Assistant && msg.Role != model.ToolRole {
			return checked, fmt.Errorf("message %d has the role %q; it must be user, assistant or tool", i, msg.Role)
		}
	}
	for _, t := range req.Tools {
		var fields map[string]json.RawMessage
		if len(t.Schema) > 0 && (json.Unmarshal(t.Schema, &fields) != nil || fields == nil) {
			return checked, fmt.Errorf("the schema of tool %q is not a JSON object", t.Name)
		}
	}
	if req.Schema != nil {
		var root map[string]any
		if json.Unmarshal(req.Schema.JSON, &root) != nil || root == nil {
			return checked, fmt.Errorf("the schema %q of the answer is not a JSON object", req.Schema.Name)
		}
		checked.Strict = allObjectsClosed(root)
	}
	return checked, nil
}

// ReadNative decodes the provider's own form of a turn, if msg has one of this provider.
func ReadNative(msg model.Message, provider string, turn any) bool {
	return msg.Native != nil && msg.Native.Provider == provider && json.Unmarshal(msg.Native.Turn, turn) == nil
}

// ArgumentsObject returns the arguments of a call as a JSON object in valid UTF-8. Most providers reject a whole
// conversation because of one call whose arguments a model once got wrong, so anything else is wrapped in an object.
func ArgumentsObject(arguments string) json.RawMessage {
	arguments = strings.ToValidUTF8(arguments, "\uFFFD")
	trimmed := strings.TrimSpace(arguments)
	if raw := []byte(arguments); strings.HasPrefix(trimmed, "{") && json.Valid(raw) {
		return raw
	}
	if trimmed == "" {
		return json.RawMessage("{}")
	}
	text, err := json.Marshal(map[string]string{"not_an_object": arguments})
	if err != nil { // a map of strings always encodes
		return json.RawMessage("{}")
	}
	return text
}

// Marshal is json.Marshal without HTML escapes, so that a provider's own turn goes back byte for byte.
func Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Parameters returns the schema of t's arguments with a type, which some endpoints require: that of an empty object if
// t has none.
func Parameters(t model.Tool) json.RawMessage {
	if len(t.Schema) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(t.Schema, &fields) != nil || fields["type"] != nil {
		return t.Schema
	}
	fields["type"] = json.RawMessage(`"object"`)
	typed, _ := Marshal(fields) // what was JSON still is
	return typed
}

// allObjectsClosed says whether all objects in a schema forbid additional properties and require all of their own.
func allObjectsClosed(schema any) bool {
	switch s := schema.(type) {
	case []any:
		return !slices.ContainsFunc(s, func(part any) bool { return !allObjectsClosed(part) })
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		if (s["type"] == "object" || properties != nil) && (s["additionalProperties"] != false ||
			len(required) != len(properties)) {
			return false
		}
		for _, part := range properties {
			if !allObjectsClosed(part) {
				return false
			}
		}
		for _, key := range []string{"items", "anyOf", "oneOf", "allOf", "$defs"} {
			part := s[key]
			if defs, ok := part.(map[string]any); ok && key == "$defs" {
				part = slices.Collect(maps.Values(defs))
			}
			if !allObjectsClosed(part) {
				return false
			}
		}
	}
	return true
}
