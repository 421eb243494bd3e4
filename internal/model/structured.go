package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// SchemaError says why an answer that was to be JSON is not what was asked for. It stands in an *Error of kind Garbled,
// as its Err.
type SchemaError struct {
	Schema  string // its name
	Problem string // "at /properties/age: type: 36 has type \"string\", want \"integer\""
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("the answer does not fit the schema %q: %s", e.Schema, e.Problem)
}

// Structured asks m for one JSON value that fits schema, reads it into a pointer, and returns it as the model wrote it.
//
// The schema stands in the system prompt too, as not every provider enforces it; so the value may have a fence or words
// around it. An answer that does not fit is asked for once more, with the problem named. Usage, Attempts and Tries of
// the response are those of both answers. If the second one does not fit either, the error is of kind Garbled and wraps
// a
// *SchemaError; a schema that can't be used is Invalid, before anything is asked.
func Structured(ctx context.Context, m Model, req Request, schema Schema, into any) (json.RawMessage, Response, error) {
	check, err := compileSchema(schema)
	if err != nil {
		message := fmt.Sprintf("the schema %q can't be used: %v", schema.Name, err)
		return nil, Response{Model: m.ID()}, &Error{Kind: Invalid, Model: m.ID(), Message: message, Err: err}
	}
	req.Schema = &schema
	req.System = strings.TrimSpace(req.System + "\n\n" + schema.Instruction())
	var said relay // nobody listens: half a value says nothing
	total, err := said.retractAndAsk(ctx, m, req, Response{Model: m.ID()})
	if err != nil {
		return nil, total, err
	}
	value, problem := firstFittingValue(total.Text, check, into)
	if problem == "" {
		return value, total, nil
	}
	req.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)],
		Message{Role: Assistant, Text: total.Text, Native: total.Native},
		Message{Role: User, Text: "This does not fit the schema:\n" + problem +
			"\nAnswer with the whole corrected JSON value, and with nothing else."})
	if total, err = said.retractAndAsk(ctx, m, req, total); err != nil {
		return nil, total, err
	}
	if value, problem = firstFittingValue(total.Text, check, into); problem != "" {
		wrong := &SchemaError{Schema: schema.Name, Problem: problem}
		return nil, total, &Error{Kind: Garbled, Model: total.Model, Message: wrong.Error(), Err: wrong}
	}
	return value, total, nil
}

// Instruction is what a model is told of the form, at the end of its system prompt.
func (s Schema) Instruction() string {
	return "Answer with one JSON value that fits this JSON Schema, and with nothing else:\n" + string(s.JSON)
}

// compileSchema makes a check of a schema, which has to be whole: others that it refers to are not looked for.
func compileSchema(schema Schema) (*jsonschema.Resolved, error) {
	var parsed jsonschema.Schema
	if err := json.Unmarshal(schema.JSON, &parsed); err != nil {
		return nil, err
	}
	return parsed.Resolve(nil)
}

// maxValues bounds the values that are looked at in one text.
const maxValues = 64

// firstFittingValue finds the first JSON value in text that fits, and reads it, or says what is wrong with the first one at all.
func firstFittingValue(text string, check *jsonschema.Resolved, into any) (value json.RawMessage, problem string) {
	if raw := json.RawMessage(strings.TrimSpace(text)); json.Valid(raw) { // a bare string or number too
		return raw, decodeFitting(raw, check, into)
	}
	for range maxValues {
		at := strings.IndexAny(text, "{[")
		if at < 0 {
			break
		}
		text = text[at:]
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(text)).Decode(&raw) != nil {
			text = text[1:]
			continue
		}
		wrong := decodeFitting(raw, check, into)
		if wrong == "" {
			return raw, ""
		}
		if problem == "" {
			problem = wrong
		}
		text = text[len(raw):]
	}
	if problem == "" {
		problem = "it holds no whole JSON value"
	}
	return nil, problem
}

// decodeFitting says what in a value does not fit first, and by which part of the schema; empty if all of it fits, and is
// read.
func decodeFitting(value json.RawMessage, check *jsonschema.Resolved, into any) string {
	var instance any
	err := json.Unmarshal(value, &instance)
	if err == nil {
		err = check.Validate(instance)
	}
	if err == nil {
		err = json.Unmarshal(value, into)
	}
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(strings.TrimPrefix(err.Error(), "validating root: "), "validating ", "at ")
}
