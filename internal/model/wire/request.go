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

// Empty stands in for an empty text where a protocol wants one.
const Empty = "(empty)"

// Result is the text of a tool's result for a protocol that has no field to say that the tool failed.
func Result(msg model.Message) string {
	if msg.IsError {
		return "The tool failed: " + msg.Text
	}
	return msg.Text
}

// UnknownRole is the error for message i of a request, whose role the contract does not know.
func UnknownRole(i int, role model.Role) error {
	return fmt.Errorf("message %d has the role %q; it must be user, assistant or tool", i, role)
}

// Object returns the arguments of a call as a JSON object in valid UTF-8. Most providers reject a whole conversation
// because of one call whose arguments a model once got wrong, so what is no object is sent inside one.
func Object(arguments string) json.RawMessage {
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

// Marshal is json.Marshal, but what is JSON already stays as it is: a provider's own turn goes back byte for byte.
func Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// ToolSchema returns the schema of t's arguments, that of an empty object if t has none. The error says that it is no JSON.
func ToolSchema(t model.Tool) (json.RawMessage, error) {
	switch {
	case len(t.Schema) == 0:
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	case !json.Valid(t.Schema):
		return nil, fmt.Errorf("the schema of tool %q is not valid JSON", t.Name)
	}
	return t.Schema, nil
}

// AnswerSchema returns the schema that req wants its answer to fit, nil if it wants none. strict says that hosted providers can
// enforce it. The error says that it is no JSON object.
func AnswerSchema(req model.Request) (schema json.RawMessage, strict bool, err error) {
	if req.Schema == nil {
		return nil, false, nil
	}
	var root map[string]any
	if json.Unmarshal(req.Schema.JSON, &root) != nil || root == nil {
		return nil, false, fmt.Errorf("the schema %q of the answer is not a JSON object", req.Schema.Name)
	}
	return req.Schema.JSON, closed(root), nil
}

// closed says whether all objects in a schema forbid additional properties and require their own.
func closed(schema any) bool {
	switch s := schema.(type) {
	case []any:
		return !slices.ContainsFunc(s, func(part any) bool { return !closed(part) })
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		if (s["type"] == "object" || properties != nil) && (s["additionalProperties"] != false || len(required) != len(properties)) {
			return false
		}
		for _, part := range properties {
			if !closed(part) {
				return false
			}
		}
		for _, key := range []string{"items", "anyOf", "oneOf", "allOf", "$defs"} {
			part := s[key]
			if defs, ok := part.(map[string]any); ok && key == "$defs" {
				part = slices.Collect(maps.Values(defs))
			}
			if !closed(part) {
				return false
			}
		}
	}
	return true
}
