package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
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
// around it. A request that has it there, or in its last message, stays as it is. A value that does not fit, but
// plainly means one that does, is read as that: see fitted. If the answer does not fit, the model is asked once more,
// with the problem named. Usage, Attempts and Tries of the response count both answers. One that was stopped because it
// repeats itself is Repeated, and the model is not asked again. If the second one does not fit either, the error is of
// kind Garbled and wraps a *SchemaError. A schema that can't be used is Invalid, before anything is asked.
func Structured(ctx context.Context, m Model, req Request, schema Schema, into any) (json.RawMessage, Response, error) {
	repairs := 1
	return StructuredWithin(ctx, m, req, Wanted{Schema: schema, Repairs: &repairs}, into)
}

// Wanted is what StructuredWithin asks for.
type Wanted struct {
	Schema
	// Repairs is how often the model may be asked once more; each time is taken from it.
	Repairs *int
	// Check, which may be nil, says what is wrong with a value that fits the schema, once it was read; "": nothing.
	Check func() (problem string)
}

// StructuredWithin is Structured with another bound of repairs, and further checks. A later repair names the answer
// directly before it alone.
func StructuredWithin(
	ctx context.Context, m Model, req Request, want Wanted, into any,
) (json.RawMessage, Response, error) {
	f, err := compileSchema(want.Schema)
	if err != nil {
		message := fmt.Sprintf("the schema %q can't be used: %v", want.Name, err)
		return nil, Response{Model: m.ID()}, &Error{Kind: Invalid, Model: m.ID(), Message: message, Err: err}
	}
	req.Schema = &want.Schema
	req = withInstruction(req, want.Schema)
	var said relay // no receiver: half a value says nothing
	total, asks := Response{Model: m.ID()}, req
	for {
		if total, err = said.retractAndAsk(ctx, m, asks, total); err != nil {
			return nil, total, err
		}
		value, problem := f.firstFitting(total.Text, into)
		if problem == "" && want.Check != nil {
			problem = want.Check()
		}
		switch {
		case problem == "":
			return value, total, nil
		case total.Finish == FinishRepeated:
			return nil, total, &Error{Kind: Repeated, Model: total.Model, Message: "the form is not complete: " + problem}
		case *want.Repairs <= 0:
			wrong := &SchemaError{Schema: want.Name, Problem: problem}
			return nil, total, &Error{Kind: Garbled, Model: total.Model, Message: wrong.Error(), Err: wrong}
		}
		*want.Repairs--
		asks = req
		asks.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)],
			Message{Role: Assistant, Text: total.Text, Native: total.Native},
			Message{Role: User, Text: "This does not fit the schema:\n" + problem +
				"\nAnswer with the whole corrected JSON value, and with nothing else."})
	}
}

// Read finds the first JSON value in a text that fits the schema, and decodes it. The error is a *SchemaError, or says
// that the schema can't be used.
func (s Schema) Read(text string, into any) error {
	f, err := compileSchema(s)
	if err != nil {
		return err
	}
	if _, problem := f.firstFitting(text, into); problem != "" {
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
