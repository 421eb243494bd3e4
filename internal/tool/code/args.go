package code

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"sibyl/internal/tool"
)

// typed is a tool whose arguments are the struct A: its fields give the schema, the decoding and the error messages.
type typed[A any] struct {
	spec tool.Spec
	call func(context.Context, A) (tool.Result, error)
}

func newTyped[A any](spec tool.Spec, call func(context.Context, A) (tool.Result, error)) typed[A] {
	schema, err := jsonschema.For[A](nil)
	if err == nil {
		spec.Schema, err = json.Marshal(schema)
	}
	if err != nil {
		panic(fmt.Sprintf("arguments of %s: %v", spec.Name, err)) // the argument structs of this package decide it
	}
	spec.Source, spec.Effect = tool.Code, tool.Repeatable
	return typed[A]{spec: spec, call: call}
}

func (t typed[A]) Spec() tool.Spec { return t.spec }

func (t typed[A]) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	args, err := decodeArgs[A](call.Args)
	if err != nil {
		return tool.Result{}, err
	}
	if err := ended(ctx); err != nil {
		return tool.Result{}, err
	}
	res, err := t.call(ctx, args)
	return bounded(res), err
}

// bounded keeps a result's text to tool.MaxText, cut between lines.
func bounded(res tool.Result) tool.Result {
	const note = "(the rest is left out)\n"
	if len(res.Text) > tool.MaxText {
		kept := res.Text[:tool.MaxText-len(note)]
		res.Text = kept[:strings.LastIndexByte(kept, '\n')+1] + note
		res.Truncated = true
	}
	return res
}

// decodeArgs reads one JSON object strictly. Every complaint names the argument and what would be right.
func decodeArgs[A any](raw json.RawMessage) (A, error) {
	var args A
	if len(bytes.TrimSpace(raw)) == 0 {
		return args, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&args); err != nil {
		return args, invalidArgs(err, argNames(reflect.TypeFor[A]()))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return args, tool.Errorf(tool.InvalidArgs, "send one JSON object", "there is more after the arguments")
	}
	return args, nil
}

func invalidArgs(err error, known []string) error {
	hint := "arguments are: " + strings.Join(known, ", ")
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if te.Field == "" {
			return tool.Errorf(tool.InvalidArgs, hint, "the arguments must be one JSON object, not a %s", te.Value)
		}
		return tool.Errorf(tool.InvalidArgs, hint, "%s must be %s, not a %s", te.Field, jsonKind(te.Type), te.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return tool.Errorf(tool.InvalidArgs, hint, "there is no argument %s", name)
	}
	return tool.Errorf(tool.InvalidArgs, hint, "the arguments are not valid JSON: %w", err)
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
	case reflect.Int:
		return "a whole number"
	}
	return "an object"
}

// boundedArg gives def for an argument left out, and refuses one outside 1..most.
func boundedArg(name string, value, def, most int) (int, error) {
	if value == 0 {
		return def, nil
	}
	if value < 0 || value > most {
		return 0, tool.Errorf(tool.InvalidArgs, fmt.Sprintf("give 1 to %d, or leave it out for %d", most, def), "%s is %d", name, value)
	}
	return value, nil
}

// encodeData is the structured half of a result. The data types of this package always encode.
func encodeData(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return slices.Clip(data)
}
