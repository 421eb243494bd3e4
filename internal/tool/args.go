package tool

import (
	"encoding/json"
	"strings"

	"sibyl/internal/schema"
)

// decodeArgs decodes the arguments of a call into a struct strictly: they have to be one object that fits the schema.
// No arguments are an empty object; an argument that is null, or only white space, is left out. An error names the
// argument and what would be right.
func decodeArgs(args *schema.Object, raw json.RawMessage, into any) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil {
		for name, value := range fields {
			if text := ""; json.Unmarshal(value, &text) == nil && strings.TrimSpace(text) == "" {
				delete(fields, name)
			}
		}
		raw, _ = json.Marshal(fields) // it was decoded from JSON
	}
	if err := args.Decode(raw, into); err != nil {
		return Errorf(InvalidArgs, "arguments are: "+strings.Join(args.Names(), ", "), "%s", Clip(err.Error(), 300))
	}
	return nil
}
