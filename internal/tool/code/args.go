package code

import (
	"context"
	"encoding/json"
	"fmt"
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
	args, err := tool.DecodeArgs[A](call.Args)
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
