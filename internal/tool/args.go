package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// argument is one field of the struct that a tool takes its arguments as. Fields are strings, bools, whole numbers and lists of strings,
// with these tags:
//
//	json     the name; with omitempty the argument may be left out
//	doc      what it is, for models; the hint where it is missing
//	min, max bounds of a number, or of the number of characters of a text; inclusive
//	default  the number that stands for an argument left out
//	enum     the texts that it can be, with commas between them
type argument struct {
	name     string
	required bool
	schema   property
}

// property is the JSON Schema of an argument.
type property struct {
	Type        string    `json:"type"`
	Items       *property `json:"items,omitempty"`
	Description string    `json:"description,omitempty"`
	Enum        []string  `json:"enum,omitempty"`
	Default     *int      `json:"default,omitempty"`
	Minimum     *int      `json:"minimum,omitempty"`
	Maximum     *int      `json:"maximum,omitempty"`
	MinLength   *int      `json:"minLength,omitempty"`
	MaxLength   *int      `json:"maxLength,omitempty"`
}

// arguments are the fields in their order.
type arguments []argument

// newArguments panics if the struct can't be described, which its declaration alone decides.
func newArguments(t reflect.Type) arguments {
	var all arguments
	for f := range t.Fields() {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		a := argument{name: name, required: option != "omitempty"}
		a.schema = property{Description: f.Tag.Get("doc"), Default: tagNumber(f, "default")}
		low, high := tagNumber(f, "min"), tagNumber(f, "max")
		switch f.Type.Kind() {
		case reflect.String:
			a.schema.Type, a.schema.MinLength, a.schema.MaxLength = "string", low, high
		case reflect.Int:
			a.schema.Type, a.schema.Minimum, a.schema.Maximum = "integer", low, high
		case reflect.Bool:
			a.schema.Type = "boolean"
		default:
			a.schema.Type, a.schema.Items = "array", &property{Type: "string"}
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			a.schema.Enum = strings.Split(enum, ",")
		}
		all = append(all, a)
	}
	return all
}

// tagNumber reads a whole number from a tag; nil without one.
func tagNumber(f reflect.StructField, tag string) *int {
	text, ok := f.Tag.Lookup(tag)
	if !ok {
		return nil
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("argument %s: %s is %q, which is no whole number", f.Name, tag, text))
	}
	return &number
}

// schema is the JSON Schema of the arguments as a whole, with the fields in their order.
func (all arguments) schema() json.RawMessage {
	var required []string
	b := bytes.NewBufferString(`{"type":"object","properties":{`)
	for i, a := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		if a.required {
			required = append(required, a.name)
		}
		fmt.Fprintf(b, "%q:%s", a.name, encoded(a.schema))
	}
	b.WriteString("}")
	if required != nil {
		fmt.Fprintf(b, `,"required":%s`, encoded(required))
	}
	b.WriteString(`,"additionalProperties":false}`)
	return b.Bytes()
}

// encoded is the JSON of a part of a schema, which always has one.
func encoded(part any) []byte {
	text, err := json.Marshal(part)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", part, err))
	}
	return text
}

// decode reads the arguments of a call into a struct strictly: one object, no name that the struct does not have in this very
// spelling, every value within its bounds. None at all are an empty object. Each complaint names the argument and what would be right.
func (all arguments) decode(raw json.RawMessage, into reflect.Value) error {
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = a.name
	}
	hint := "arguments are: " + strings.Join(names, ", ")
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	var given map[string]json.RawMessage
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&given); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return Errorf(InvalidArgs, hint, "the arguments must be one JSON object, not %s", wrong.Value)
		}
		return Errorf(InvalidArgs, hint, "the arguments are not valid JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Errorf(InvalidArgs, "send one JSON object", "there is more after the arguments")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return Errorf(InvalidArgs, hint, "there is no argument %q", name)
		}
	}
	if err := json.Unmarshal(raw, into.Addr().Interface()); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return Errorf(InvalidArgs, hint, "%s must be %s, not a %s", wrong.Field, typeName(wrong.Type), wrong.Value)
		}
		return Errorf(InvalidArgs, hint, "the arguments cannot be read: %w", err)
	}
	for i, a := range all {
		value := given[a.name]
		if err := a.check(into.Field(i), value == nil || string(value) == "null"); err != nil {
			return err
		}
	}
	return nil
}

// check holds a value against its schema, and sets it to its default if it is left out.
func (a argument) check(value reflect.Value, absent bool) error {
	p := a.schema
	switch value.Kind() {
	case reflect.String:
		text := value.String()
		switch length := utf8.RuneCountInString(text); {
		case strings.TrimSpace(text) == "" && a.required:
			return Errorf(InvalidArgs, p.Description, "%s is missing", a.name)
		case text == "":
		case p.Enum != nil && !slices.Contains(p.Enum, text):
			last := len(p.Enum) - 1
			return Errorf(InvalidArgs, "use "+strings.Join(p.Enum[:last], ", ")+" or "+p.Enum[last], "%s is %.40q", a.name, text)
		case outside(length, p.MinLength, p.MaxLength):
			return Errorf(InvalidArgs, bounds(p.MinLength, p.MaxLength)+" characters", "%s has %d characters", a.name, length)
		}
	case reflect.Int:
		switch {
		case absent && a.required:
			return Errorf(InvalidArgs, p.Description, "%s is missing", a.name)
		case absent && p.Default != nil:
			value.SetInt(int64(*p.Default))
		case absent:
		case outside(int(value.Int()), p.Minimum, p.Maximum):
			hint := bounds(p.Minimum, p.Maximum)
			if p.Default != nil {
				hint += fmt.Sprintf(", or leave it out for %d", *p.Default)
			}
			return Errorf(InvalidArgs, hint, "%s is %d", a.name, value.Int())
		}
	}
	return nil
}

func outside(n int, low, high *int) bool { return low != nil && n < *low || high != nil && n > *high }

// bounds says what a number may be: at least one of the two is set.
func bounds(low, high *int) string {
	switch {
	case low == nil:
		return fmt.Sprintf("give at most %d", *high)
	case high == nil:
		return fmt.Sprintf("give at least %d", *low)
	}
	return fmt.Sprintf("give %d to %d", *low, *high)
}

func typeName(t reflect.Type) string {
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
