package tool

import (
	"encoding/json"
	"strings"

	"sibyl/internal/schema"
)

// decode reads the arguments of a call into a struct strictly: one object that fits the schema. None at all are an
// empty object; null, and a text of nothing but white space, are an argument left out. A complaint names the argument
// and what would be right.
func decode(args *schema.Object, raw json.RawMessage, into any) error {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) == nil {
		for name, value := range given {
			if text := ""; json.Unmarshal(value, &text) == nil && strings.TrimSpace(text) == "" {
				delete(given, name)
			}
		}
		raw, _ = json.Marshal(given) // it was read from JSON
	}
	if err := args.Decode(raw, into); err != nil {
		return Errorf(InvalidArgs, "arguments are: "+strings.Join(args.Names(), ", "), "%s", Clip(err.Error(), 300))
	}
	return nil
}
