package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// SchemaError says why an answer does not fit its schema. It is the Err of an *Error of kind Garbled.
type SchemaError struct {
	Schema  string // its name
	Problem string // "at /properties/age: type: 36 has type \"string\", want \"integer\""
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("the answer does not fit the schema %q: %s", e.Schema, e.Problem)
}

// Structured asks m for one JSON value that fits schema, reads it into a pointer, and returns it as the model wrote it.
//
// The schema is in the system prompt too, as not every provider enforces it; so the value may have a fence or words
// around it. A request that has it there, or in its last message, stays as it is. If the answer does not fit, the model is asked once more, with
// the problem named. Usage, Attempts and Tries of the response count both answers. One that was stopped because it
// repeats itself is Repeated, and the model is not asked again. If the second one does not fit either, the error is of
// kind Garbled and
// wraps a *SchemaError. A schema that can't be used is Invalid, before anything is asked.
func Structured(ctx context.Context, m Model, req Request, schema Schema, into any) (json.RawMessage, Response, error) {
	check, err := compileSchema(schema)
	if err != nil {
		message := fmt.Sprintf("the schema %q can't be used: %v", schema.Name, err)
		return nil, Response{Model: m.ID()}, &Error{Kind: Invalid, Model: m.ID(), Message: message, Err: err}
	}
	req.Schema = &schema
	req = withInstruction(req, schema)
	var said relay // no receiver: half a value says nothing
	total, err := said.retractAndAsk(ctx, m, req, Response{Model: m.ID()})
	if err != nil {
		return nil, total, err
	}
	value, problem := firstFittingValue(total.Text, check, into)
	switch {
	case problem == "":
		return value, total, nil
	case total.Finish == FinishRepeated:
		return nil, total, &Error{Kind: Repeated, Model: total.Model, Message: "the form is not complete: " + problem}
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

// Read finds the first JSON value in a text that fits the schema, and decodes it. The error is a *SchemaError, or says
// that the schema can't be used.
func (s Schema) Read(text string, into any) error {
	check, err := compileSchema(s)
	if err != nil {
		return err
	}
	if _, problem := firstFittingValue(text, check, into); problem != "" {
		return &SchemaError{Schema: s.Name, Problem: problem}
	}
	return nil
}

// withInstruction says in a request which form is asked for.
func withInstruction(req Request, schema Schema) Request {
	if !schema.IsIn(req) {
		req.System = strings.TrimSpace(req.System + "\n\n" + schema.Instruction())
	}
	return req
}

// IsIn says whether a request asks for this form: at the end of its system prompt, or in its last message.
func (s Schema) IsIn(req Request) bool {
	last := len(req.Messages) - 1
	return strings.Contains(req.System, string(s.JSON)) ||
		last >= 0 && strings.Contains(req.Messages[last].Text, string(s.JSON))
}

// Instruction asks a model for this form, at the end of its system prompt.
func (s Schema) Instruction() string {
	return "Answer with one JSON value that fits this JSON Schema, and with nothing else:\n" + string(s.JSON)
}

// compileSchema compiles a schema, which has to be complete: references to other schemas are not resolved.
func compileSchema(schema Schema) (*jsonschema.Resolved, error) {
	var parsed jsonschema.Schema
	if err := json.Unmarshal(schema.JSON, &parsed); err != nil {
		return nil, err
	}
	return parsed.Resolve(nil)
}

// maxValues bounds how many JSON values of one text are tried.
const maxValues = 64

// firstFittingValue finds the first JSON value in text that fits, and decodes it into `into`. If none fits, problem
// says what is wrong with the first value, which is returned if it is the whole text.
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

// decodeFitting checks a value and decodes it. problem names the first part that does not fit, and the part of the
// schema; it is empty if all fits.
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
