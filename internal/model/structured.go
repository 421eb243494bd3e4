package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// SchemaError says why an answer that was to be JSON is not what was asked for. It stands in an *Error of kind Garbled, as its Err.
type SchemaError struct {
	Schema   string // its name
	Problems string // one line each, with the place in the value: "- at '/age': got string, want number"
	Text     string // what the model wrote last
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("the answer does not fit the schema %q: %s", e.Schema, strings.ReplaceAll(e.Problems, "\n", "; "))
}

// Structured asks m for one JSON value that fits schema, and returns it as the model wrote it.
//
// The schema stands in the system prompt too, as not every provider enforces it; so the value may have a fence or words around it.
// An answer that does not fit is asked for once more, with the problems named; its text is retracted before. Usage, Attempts and
// Tries of the response are those of both answers. If the second one does not fit either, the error is of kind Garbled and wraps a
// *SchemaError; a schema that can't be used is Invalid, before anything is asked.
func Structured(ctx context.Context, m Model, req Request, schema Schema, emit func(Delta) error) (json.RawMessage, Response, error) {
	check, err := compile(schema)
	if err != nil {
		message := fmt.Sprintf("the schema %q can't be used: %v", schema.Name, err)
		return nil, Response{Model: m.ID()}, &Error{Kind: Invalid, Model: m.ID(), Message: message, Err: err}
	}
	req.Schema = &schema
	req.System = strings.TrimSpace(req.System + "\n\nAnswer with one JSON value that fits this JSON Schema, and with nothing else:\n" + string(schema.JSON))
	said := relay{emit: emit}
	total, err := m.Chat(ctx, req, said.receiver())
	value, problems := fitting(total.Text, check)
	if err != nil || problems == "" {
		return value, total, err
	}
	if err := said.retract(m.ID()); err != nil {
		return nil, total, err
	}
	req.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)],
		Message{Role: Assistant, Text: total.Text, Native: total.Native},
		Message{Role: User, Text: "This does not fit the schema:\n" + problems + "\nAnswer with the whole corrected JSON value, and with nothing else."})
	second, err := m.Chat(ctx, req, said.receiver())
	second.Usage, second.Attempts = second.Usage.Add(total.Usage), second.Attempts+total.Attempts
	second.Tries = append(total.Tries, second.Tries...)
	if err != nil {
		return nil, second, err
	}
	if value, problems = fitting(second.Text, check); problems != "" {
		wrong := &SchemaError{Schema: schema.Name, Problems: problems, Text: second.Text}
		return nil, second, &Error{Kind: Garbled, Model: second.Model, Message: wrong.Error(), Err: wrong}
	}
	return value, second, nil
}

// schemaPlace is what a schema is called while it is checked: it has no file.
const schemaPlace = "schema:///answer"

func compile(schema Schema) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSON))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nowhere{})
	if err := c.AddResource(schemaPlace, doc); err != nil {
		return nil, err
	}
	return c.Compile(schemaPlace)
}

// nowhere is where a schema finds others: it has to be whole.
type nowhere struct{}

func (nowhere) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, which is not in it", url)
}

// maxValues bounds the values that are looked at in one text.
const maxValues = 64

// fitting finds the first JSON value in text that fits, or says what is wrong with the first one at all.
func fitting(text string, check *jsonschema.Schema) (value json.RawMessage, problems string) {
	if raw := json.RawMessage(strings.TrimSpace(text)); json.Valid(raw) { // a bare string or number too
		return raw, problemsOf(raw, check)
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
		wrong := problemsOf(raw, check)
		if wrong == "" {
			return raw, ""
		}
		if problems == "" {
			problems = wrong
		}
		text = text[len(raw):]
	}
	if problems == "" {
		problems = "- it holds no whole JSON value"
	}
	return nil, problems
}

// problemsOf says what in a value does not fit; empty if all does.
func problemsOf(value json.RawMessage, check *jsonschema.Schema) string {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err == nil {
		err = check.Validate(doc)
	}
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) { // its first line names the schema
		_, lines, _ := strings.Cut(invalid.Error(), "\n")
		return lines
	}
	if err != nil {
		return "- " + err.Error()
	}
	return ""
}
