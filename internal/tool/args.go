package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// DecodeArgs reads the arguments of a call as A, a struct with JSON names, strictly: one object, no name that A does not have
// in this very spelling. No arguments at all are an empty object. Every complaint names the argument and what would be right.
func DecodeArgs[A any](raw json.RawMessage) (A, error) {
	var args A
	if len(bytes.TrimSpace(raw)) == 0 {
		return args, nil
	}
	known := argNames(reflect.TypeFor[A]())
	hint := "arguments are: " + strings.Join(known, ", ")
	var fields map[string]json.RawMessage
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&fields); err != nil {
		return args, notAnObject(err, hint)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return args, Errorf(InvalidArgs, "send one JSON object", "there is more after the arguments")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			return args, Errorf(InvalidArgs, hint, "there is no argument %q", name)
		}
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return args, Errorf(InvalidArgs, hint, "%s must be %s, not a %s", wrong.Field, jsonKind(wrong.Type), wrong.Value)
		}
		return args, Errorf(InvalidArgs, hint, "the arguments cannot be read: %w", err)
	}
	return args, nil
}

func notAnObject(err error, hint string) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return Errorf(InvalidArgs, hint, "the arguments must be one JSON object, not %s", wrong.Value)
	}
	return Errorf(InvalidArgs, hint, "the arguments are not valid JSON: %w", err)
}

// argNames lists the JSON names of a struct's fields, in their order.
func argNames(t reflect.Type) []string {
	names := make([]string, 0, t.NumField())
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list of strings"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	}
	return "an object"
}
