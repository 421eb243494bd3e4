// Package schema says what a Go struct asks for, by its tags: as JSON Schema for programs and models, and as checks of
// what was given. Flags, settings, HTTP, MCP and models are served by the same declaration.
//
// The tags of a field:
//
//	json     its name; "-" for what only a command line, or nobody but this program, says. With omitempty it may
//	         be left out
//	doc      what it is, in a phrase
//	min, max bounds of a number, of the characters of a text, of the entries of a list, or of a time in seconds;
//	         inclusive
//	enum     the texts that it can be, with commas between them
//	default  the value if none is given, as JSON
//	none     a flag may say 0, and this is what it means
//	setting  the setting that gives the value if none is given
//	names    what a text names: model, folder, witness (a folder or a model), oracle, preset
//	tool     what it is, in fewer words for models; "-": models are not offered it
//	flag     how its flag is called where not as in JSON, with a letter behind a comma; "-": it has none
//	form     of a text in what is published: the definition that it is of
//
// Fields are texts, numbers, bools, times (in JSON whole seconds), folders, presets, lists of these, and pointers to
// bools, which are nil where nothing is said. An error names the field and what would be right, and repeats nothing of
// what was given.
package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// Object is what a struct asks for. It is not changed once it is made.
type Object struct {
	Fields []*Field // in their order
	json   func() json.RawMessage
	of     reflect.Type
}

// Field is a part of an Object.
type Field struct {
	Name   string // in JSON; "" for what JSON has not
	Doc    string
	Tag    reflect.StructTag
	schema *jsonschema.Schema
	check  func() *jsonschema.Resolved
	index  []int
	of     reflect.Type
}

// Folder is a folder by the name that a person typed, and its path.
type Folder struct {
	Name string // as it was typed; "": none was
	Path string // absolute; "" until it is found
}

// UnmarshalText takes the name.
func (f *Folder) UnmarshalText(text []byte) error {
	*f = Folder{Name: string(text)}
	return nil
}

// MarshalText gives the name.
func (f Folder) MarshalText() ([]byte, error) { return []byte(f.Name), nil }

// Preset is a preset by the name that a person typed, and its prompt.
type Preset struct {
	Name    string // as it was typed; "": none was
	File    string // where the prompt stands; "" until it is found
	Prompt  string // its variables are filled
	Foreign bool   // it is neither built in nor in a folder of the settings
}

// UnmarshalText takes the name.
func (p *Preset) UnmarshalText(text []byte) error {
	*p = Preset{Name: string(text)}
	return nil
}

// MarshalText gives the name.
func (p Preset) MarshalText() ([]byte, error) { return []byte(p.Name), nil }

// Error is a value that can't be taken.
type Error struct {
	Field   string
	Problem string   // "must be a whole number from 1 to 200"
	Known   []string // the names to choose from, if the one given is not among them
}

func (e *Error) Error() string { return e.Field + " " + e.Problem }

// Of describes the struct T. It panics if T can't be described, which its declaration alone decides.
func Of[T any]() *Object {
	t := reflect.TypeFor[T]()
	whole, err := jsonschema.ForType(t, typeSchemas())
	if err != nil {
		panic(fmt.Sprintf("%s: %v", t, err))
	}
	o := &Object{of: t}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		_, hasFlag := field.Tag.Lookup("flag")
		if field.Anonymous || !field.IsExported() || name == "-" && !hasFlag {
			continue
		}
		f := &Field{Name: name, Doc: field.Tag.Get("doc"), Tag: field.Tag, index: field.Index, of: field.Type,
			schema: whole.Properties[name]}
		if name == "-" {
			f.Name = ""
			f.schema, err = jsonschema.ForType(field.Type, typeSchemas())
		}
		if err == nil {
			err = applyTags(f.schema, f.Tag)
			if f.Tag.Get("setting") != "" && f.Tag.Get("names") != "folder" {
				f.schema.Description += "; left out: as the server is set"
			}
		}
		if err != nil {
			panic(fmt.Sprintf("%s of %s: %v", field.Name, t, err))
		}
		f.check = sync.OnceValue(f.resolve)
		o.Fields = append(o.Fields, f)
	}
	o.json = sync.OnceValue(func() json.RawMessage {
		text, err := json.Marshal(whole)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", t, err))
		}
		return text
	})
	return o
}

// JSON is the JSON Schema. It is written when it is first asked for, as checks are made: most processes need few.
func (o *Object) JSON() json.RawMessage { return o.json() }

func (f *Field) resolve() *jsonschema.Resolved {
	check, err := f.schema.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", f.Name, err)) // the declaration of its struct alone decides that
	}
	return check
}

// typeSchemas are the schemas of types that are no structs in JSON.
func typeSchemas() *jsonschema.ForOptions {
	return &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Duration]():   {Type: "integer"},
		reflect.TypeFor[Folder]():          {Type: "string"},
		reflect.TypeFor[Preset]():          {Type: "string"},
		reflect.TypeFor[json.RawMessage](): {},
	}}
}

// Answer is the JSON Schema of a value that a model is asked for: the tags hold for the fields of all structs in T.
// Each list in it needs a max, since a model may go on with one for as long as its form allows.
func Answer[T any]() json.RawMessage {
	whole := schemaOf(reflect.TypeFor[T](), typeSchemas())
	if name := endlessList(whole, "it"); name != "" {
		panic(fmt.Sprintf("%s of %s is a list without a max", name, reflect.TypeFor[T]()))
	}
	raw, _ := json.Marshal(whole) // it has no value that JSON can't have
	return raw
}

// endlessList names a list in a schema that has no bound; "" if there is none.
func endlessList(s *jsonschema.Schema, name string) string {
	if s.Items != nil {
		if s.MaxItems == nil {
			return name
		}
		return endlessList(s.Items, name)
	}
	for property, of := range s.Properties {
		if endless := endlessList(of, property); endless != "" {
			return endless
		}
	}
	return ""
}

// schemaOf is the schema of a type, with the tags of all structs in it.
func schemaOf(t reflect.Type, options *jsonschema.ForOptions) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, options)
	if err == nil {
		err = applyAllTags(t, s)
	}
	if err != nil {
		panic(err) // the declaration of t alone decides that
	}
	return s
}

func applyAllTags(t reflect.Type, s *jsonschema.Schema) error {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		if t, s = t.Elem(), cmp.Or(s.Items, s); s == nil {
			return nil
		}
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := s.Properties[name]
		if property == nil {
			continue
		}
		if err := applyTags(property, field.Tag); err != nil {
			return err
		}
		if err := applyAllTags(field.Type, property); err != nil {
			return err
		}
	}
	return nil
}

// Published is the JSON Schema (draft-07) of a value that this program keeps in a file, by the tags of all structs in
// T. Each struct in named is a definition of its own, as are forms: texts such as “Time”, and structs that contain
// themselves. Additional members are allowed.
func Published[T any](named map[string]any, forms map[string]*jsonschema.Schema) *jsonschema.Schema {
	definitions, others := maps.Clone(forms), typeSchemas()
	others.TypeSchemas[reflect.TypeFor[time.Time]()] = definition("Time")
	for name, one := range named {
		others.TypeSchemas[reflect.TypeOf(one)] = definition(name)
	}
	publish := func(t reflect.Type) *jsonschema.Schema {
		delete(others.TypeSchemas, t)
		s := schemaOf(t, others)
		s.AdditionalProperties = nil
		return s
	}
	for name, one := range named {
		if definitions[name] == nil {
			definitions[name] = publish(reflect.TypeOf(one))
		}
		others.TypeSchemas[reflect.TypeOf(one)] = definition(name)
	}
	whole := publish(reflect.TypeFor[T]())
	whole.Schema, whole.Definitions = "http://json-schema.org/draft-07/schema#", definitions
	return whole
}

func definition(name string) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/definitions/" + name}
}

// Result is the JSON Schema of a value that this program gives. What may be null is described as either: not every
// client understands lists of types.
func Result[T any]() json.RawMessage {
	s, err := jsonschema.For[T](typeSchemas())
	if err != nil {
		panic(err) // the declaration of T alone decides that
	}
	allowMore(s)
	raw, _ := json.Marshal(s) // it has no value that JSON can't have
	return raw
}

// allowMore lets a later build add members, and describes what may be null without a list of types.
func allowMore(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	for name, property := range s.Properties {
		if n := len(property.Types); n > 0 && !slices.Contains(s.Required, name) { // it is left out in place of null
			property.Type, property.Types = property.Types[n-1], nil
		}
	}
	s.AdditionalProperties, s.Required = nil, nil
	switch {
	case s.Items != nil:
		s.Type, s.Types, s.MinItems, s.MaxItems = "array", nil, nil, nil
	case len(s.Types) == 2:
		s.AnyOf = []*jsonschema.Schema{{Type: s.Types[1], Properties: s.Properties}, {Type: s.Types[0]}}
		s.Types, s.Properties = nil, nil
	}
	allowMore(s.Items)
	for _, one := range slices.Concat(s.AnyOf, slices.Collect(maps.Values(s.Properties))) {
		allowMore(one)
	}
}

// mostModelName bounds the name of a model, in characters.
const mostModelName = 200

// applyTags puts the tags of a field into its schema.
func applyTags(s *jsonschema.Schema, tag reflect.StructTag) error {
	if form := tag.Get("form"); form != "" {
		s.Type, s.Ref = "", definition(form).Ref
	}
	if s.Ref != "" { // beside which nothing counts
		s.Types = nil
		return nil
	}
	s.Description = tag.Get("doc")
	if n := len(s.Types); n > 0 { // null is what is left out
		s.Type, s.Types = s.Types[n-1], nil
	}
	if tag.Get("names") == "model" {
		s.Pattern, s.MaxLength = `^[^\s\x00-\x1f]*$`, jsonschema.Ptr(mostModelName)
	}
	if text := tag.Get("default"); text != "" {
		s.Default = json.RawMessage(text)
	}
	if enum := tag.Get("enum"); enum != "" {
		for text := range strings.SplitSeq(enum, ",") {
			s.Enum = append(s.Enum, text)
		}
	}
	for name, bound := range map[string]struct {
		number         **float64
		length, within **int
	}{"min": {&s.Minimum, &s.MinLength, &s.MinItems}, "max": {&s.Maximum, &s.MaxLength, &s.MaxItems}} {
		text, ok := tag.Lookup(name)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		switch s.Type {
		case "string":
			*bound.length = &n
		case "array":
			*bound.within = &n
		default:
			*bound.number = jsonschema.Ptr(float64(n))
		}
	}
	return nil
}

// Names are those that JSON has, in their order.
func (o *Object) Names() (all []string) {
	for _, f := range o.Fields {
		if f.Name != "" {
			all = append(all, f.Name)
		}
	}
	return all
}

// Part is the JSON Schema of an object with some of the fields, as they are described here, and with others before
// them, which it may need.
func (o *Object) Part(
	of func(*Field) bool, before map[string]*jsonschema.Schema, required ...string,
) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: maps.Clone(before), Required: required,
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, f := range o.Fields {
		if f.Name == "" || !of(f) {
			continue
		}
		property := *f.schema
		property.Description = cmp.Or(f.Tag.Get("tool"), f.Doc)
		s.Properties[f.Name] = &property
	}
	return s
}

// New gives a pointer to a struct with the defaults, or to a copy of base where that is one.
func (o *Object) New(base any) any {
	into := reflect.New(o.of)
	if base != nil {
		into.Elem().Set(reflect.ValueOf(base))
		return into.Interface()
	}
	for _, f := range o.Fields {
		if f.schema.Default != nil {
			_ = json.Unmarshal(f.schema.Default, f.Value(into.Interface())) // a test reads each
		}
	}
	return into.Interface()
}

// Decode reads a JSON object into a struct of New. Nothing at all, null, and members that are null leave what stands
// there.
func (o *Object) Decode(raw json.RawMessage, into any) error {
	var given map[string]json.RawMessage
	if len(bytes.TrimSpace(raw)) > 0 && json.Unmarshal(raw, &given) != nil {
		return &Error{Field: "arguments", Problem: "must be a JSON object"}
	}
	if !utf8.Valid(raw) {
		return &Error{Field: "arguments", Problem: "must be valid UTF-8"}
	}
	names := o.Names()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return &Error{Field: "arguments", Problem: "have a name that is not known; known are " +
				strings.Join(names, ", "), Known: names}
		}
	}
	for _, f := range o.Fields {
		value, said := given[f.Name]
		said = said && string(value) != "null"
		switch {
		case said:
			if err := f.setJSON(into, value); err != nil {
				return err
			}
		case f.isRequired() && !f.IsSet(into):
			return &Error{Field: f.Name, Problem: "is missing"}
		}
	}
	return nil
}

// isRequired says that a field can't be left out.
func (f *Field) isRequired() bool {
	return f.Name != "" && !strings.Contains(f.Tag.Get("json"), ",omit")
}

// Value gives a pointer to the field in the struct that into points to.
func (f *Field) Value(into any) any {
	return reflect.ValueOf(into).Elem().FieldByIndex(f.index).Addr().Interface()
}

// IsSet says whether the field is not zero in the struct that into points to.
func (f *Field) IsSet(into any) bool {
	return !reflect.ValueOf(into).Elem().FieldByIndex(f.index).IsZero()
}

// setJSON checks a value and puts it into the struct that into points to.
func (f *Field) setJSON(into any, raw json.RawMessage) error {
	wrong := &Error{Field: f.Name, Problem: f.Must()}
	var value any
	if json.Unmarshal(raw, &value) != nil || f.check().Validate(value) != nil {
		text, _ := value.(string)
		if most := f.schema.MaxLength; most != nil && utf8.RuneCountInString(text) > *most {
			wrong.Problem = fmt.Sprintf("has %d characters; %d at most", utf8.RuneCountInString(text), *most)
		}
		return wrong
	}
	at := f.Value(into)
	if d, ok := at.(*time.Duration); ok {
		*d = time.Duration(value.(float64)) * time.Second //nolint:forcetypeassert // its schema is that of a whole number
		return nil
	}
	if json.Unmarshal(raw, at) == nil {
		return nil
	}
	if whole, err := json.Marshal(value); err != nil || json.Unmarshal(whole, at) != nil { // JSON may write 1.0 for 1
		return wrong
	}
	return nil
}

// Must says what a value has to be.
func (f *Field) Must() string {
	if f.Tag.Get("names") == "model" {
		return fmt.Sprintf("must be a model, as provider:model or by its name, in one word of at most %d characters",
			mostModelName)
	}
	return "must be " + schemaInWords(f.schema)
}

func schemaInWords(s *jsonschema.Schema) string {
	switch {
	case len(s.Enum) > 0:
		var all []string
		for _, one := range s.Enum {
			all = append(all, fmt.Sprint(one))
		}
		last := len(all) - 1
		return strings.TrimPrefix(strings.Join(all[:last], ", ")+" or "+all[last], " or ")
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "integer":
		return "a whole number" + boundsInWords(s.Minimum, s.Maximum, "")
	case s.Type == "number":
		return "a number" + boundsInWords(s.Minimum, s.Maximum, "")
	case s.Type == "array":
		return "a list" + boundsInWords(s.MinItems, s.MaxItems, " entries") + ", each " + schemaInWords(s.Items)
	}
	return "a text" + boundsInWords(s.MinLength, s.MaxLength, " characters")
}

// boundsInWords writes the least and the most of a number, a length or a list.
func boundsInWords[N int | float64](least, most *N, of string) string {
	switch {
	case least != nil && most != nil:
		return fmt.Sprintf(" from %v to %v%s", formatNumber(*least), formatNumber(*most), of)
	case least != nil:
		return fmt.Sprintf(" from %v%s on", formatNumber(*least), of)
	case most != nil:
		return fmt.Sprintf(" of at most %v%s", formatNumber(*most), of)
	}
	return ""
}

// formatNumber writes a bound without an exponent.
func formatNumber[N int | float64](n N) string { return strconv.FormatFloat(float64(n), 'f', -1, 64) }

// FindFolders calls find for the path of each folder that was named and has none yet. A witness whose folder is not
// found is a model if its name has a colon.
func (o *Object) FindFolders(into any, find func(f *Field, name string) (path string, err error)) error {
	for _, f := range o.Fields {
		folder, ok := f.Value(into).(*Folder)
		if !ok || folder.Name == "" || folder.Path != "" {
			continue
		}
		path, err := find(f, folder.Name)
		if err != nil && !(f.Tag.Get("names") == "witness" && strings.Contains(folder.Name, ":")) {
			return err
		}
		folder.Path = path
	}
	return nil
}
