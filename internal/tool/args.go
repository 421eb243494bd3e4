package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// arguments are the fields of the struct that a tool takes its arguments as. Fields are strings, bools, whole numbers
// and lists of strings, with these tags:
//
//	json     the name; with omitempty the argument may be left out
//	doc      what it is, for models
//	min, max bounds of a number, or of the number of characters of a text; inclusive
//	default  the number that stands for an argument left out
//	enum     the texts that it can be, with commas between them
type arguments struct {
	names    []string
	schema   json.RawMessage
	resolved *jsonschema.Resolved
}

// newArguments panics if the struct can't be described, which its declaration alone decides.
func newArguments(t reflect.Type) (a arguments) {
	s, err := jsonschema.ForType(t, nil)
	for f := range t.Fields() {
		if err != nil {
			break
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		a.names = append(a.names, name)
		err = describe(s.Properties[name], f.Tag)
	}
	if err == nil {
		a.resolved, err = s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	}
	if err == nil {
		a.schema, err = json.Marshal(s)
	}
	if err != nil {
		panic(fmt.Sprintf("arguments of %s: %v", t, err))
	}
	return a
}

// describe puts what the tags say into the schema of an argument.
func describe(s *jsonschema.Schema, tag reflect.StructTag) error {
	s.Description = tag.Get("doc")
	if s.Items != nil {
		s.Type, s.Types = "array", nil // and not null, as a list that is left out may be
	}
	if number := tag.Get("default"); number != "" {
		s.Default = json.RawMessage(number)
	}
	if enum := tag.Get("enum"); enum != "" {
		for text := range strings.SplitSeq(enum, ",") {
			s.Enum = append(s.Enum, text)
		}
	}
	for name, bound := range map[string]struct {
		number **float64
		length **int
	}{"min": {&s.Minimum, &s.MinLength}, "max": {&s.Maximum, &s.MaxLength}} {
		text, ok := tag.Lookup(name)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		if s.Type == "string" {
			*bound.length = &n
		} else {
			number := float64(n)
			*bound.number = &number
		}
	}
	return nil
}

// decode reads the arguments of a call into a struct strictly: one object that fits the schema. None at all are an
// empty object; null, and a text of nothing but white space, are an argument left out. A complaint names the argument
// and what would be right.
func (a arguments) decode(raw json.RawMessage, into any) error {
	hint := "arguments are: " + strings.Join(a.names, ", ")
	given := map[string]any{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil || given == nil {
			return Errorf(InvalidArgs, hint, "the arguments must be one JSON object: %w", err)
		}
	}
	for name, value := range given {
		if text, is := value.(string); value == nil || is && strings.TrimSpace(text) == "" {
			delete(given, name)
		}
	}
	err := errors.Join(a.resolved.ApplyDefaults(&given), a.resolved.Validate(given))
	if err == nil {
		if raw, err = json.Marshal(given); err == nil {
			err = json.Unmarshal(raw, into)
		}
	}
	if err != nil {
		why := strings.NewReplacer("validating root: ", "", "validating /properties/", "", "required: ", "", ": type: ", ": ", "/1 is ", " is ", ".000000", "").Replace(err.Error())
		return Errorf(InvalidArgs, hint, "%s", Clip(why, 300))
	}
	return nil
}
