package wire

import (
	"encoding/json"
	"fmt"
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
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &fields) == nil && fields != nil {
		return json.RawMessage(arguments)
	}
	if strings.TrimSpace(arguments) == "" {
		return json.RawMessage("{}")
	}
	text, err := json.Marshal(map[string]string{"not_an_object": arguments})
	if err != nil { // a map of strings always encodes
		return json.RawMessage("{}")
	}
	return text
}

// Schema returns the schema of t's arguments, that of an empty object if t has none. The error says that it is no JSON.
func Schema(t model.Tool) (json.RawMessage, error) {
	switch {
	case len(t.Schema) == 0:
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	case !json.Valid(t.Schema):
		return nil, fmt.Errorf("the schema of tool %q is not valid JSON", t.Name)
	}
	return t.Schema, nil
}
