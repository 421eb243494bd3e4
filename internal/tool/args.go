package tool

import (
	"encoding/json"
	"strings"

	"sibyl/internal/schema"
)

// decodeArgs reads the arguments of a call into a struct strictly: one object that fits the schema. None at all are an
// empty object; null, and a text of nothing but white space, are an argument left out. A complaint names the argument
// and what would be right.
func decodeArgs(args *schema.Object, raw json.RawMessage, into any) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil {
		for name, value := range fields {
			if text := ""; json.Unmarshal(value, &text) == nil && strings.TrimSpace(text) == "" {
				delete(fields, name)
			}
		}
		raw, _ = json.Marshal(fields) // it was read from JSON
	}
	if err := args.Decode(raw, into); err != nil {
		return Errorf(InvalidArgs, "arguments are: "+strings.Join(args.Names(), ", "), "%s", Clip(err.Error(), 300))
	}
	return nil
}
