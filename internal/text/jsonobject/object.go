// Package jsonobject reads JSON objects into structs and writes them again with the members that those do not know.
//
// Guarantees:
//   - Kept. Members that a struct does not know are written again with their values, at every level, after the known
//     ones.
//   - Exact. Names are compared exactly; of a repeated name, the last counts.
//   - Named. An error says which value is wrong by its place, "audio_entries[1].sequence", and what is expected there.
//
// The fields of a struct are those with a json tag that names them; of its options it knows omitempty and omitzero.
package jsonobject

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Known is a struct that is read from and written as an object: one that embeds Kept.
type Known interface{ kept() *Kept }

// Kept is embedded by a struct to keep the unknown members of the object that it was read from. encoding/json does not
// see it.
type Kept struct{ unknown *map[string]json.RawMessage }

func (k *Kept) kept() *Kept { return k }

// Defaulter is a Known that sets the fields whose default is not zero.
type Defaulter interface{ Defaults() }

// readObject fills a Known from valid JSON.
func readObject(raw []byte, into Known) error {
	v := reflect.ValueOf(into).Elem()
	v.SetZero()
	if d, ok := into.(Defaulter); ok {
		d.Defaults()
	}
	if isNull(raw) {
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return plainError(err)
	}
	for i := range v.NumField() {
		name, _ := jsonTag(v.Type().Field(i))
		member, there := members[name]
		if name == "" || !there {
			continue
		}
		delete(members, name)
		if err := readValue(member, v.Field(i)); err != nil {
			return atPlace(name, err)
		}
	}
	if len(members) > 0 {
		into.kept().unknown = &members
	}
	return nil
}

// misplaced is an error at a place of a JSON text.
type misplaced struct {
	path string
	err  error
}

func (e *misplaced) Error() string { return e.path + ": " + e.err.Error() }
func (e *misplaced) Unwrap() error { return e.err }

// atPlace puts a name or an index before the place of an error.
func atPlace(name string, err error) error {
	if inner, ok := err.(*misplaced); ok { //nolint:errorlint // it is made here, and never wrapped
		if strings.HasPrefix(inner.path, "[") {
			return &misplaced{name + inner.path, inner.err}
		}
		return &misplaced{name + "." + inner.path, inner.err}
	}
	return &misplaced{name, err}
}

func readValue(raw json.RawMessage, v reflect.Value) error {
	if at, ok := v.Addr().Interface().(*time.Time); ok {
		return readTime(raw, at)
	}
	if into, ok := v.Addr().Interface().(Known); ok {
		return readObject(raw, into)
	}
	if _, isTime := v.Interface().(*time.Time); isTime || isPointer(v) {
		if isNull(raw) {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return readValue(raw, v.Elem())
	}
	if !isList(v) {
		return plainError(json.Unmarshal(raw, v.Addr().Interface()))
	}
	if isNull(raw) {
		return nil // it keeps its default
	}
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return plainError(err)
	}
	v.Set(reflect.MakeSlice(v.Type(), len(all), len(all)))
	for i, one := range all {
		if err := readValue(one, v.Index(i)); err != nil {
			return atPlace(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}

// isList says whether v is a list of known types.
func isList(v reflect.Value) bool {
	return v.Kind() == reflect.Slice && reflect.PointerTo(v.Type().Elem()).Implements(reflect.TypeFor[Known]())
}

// isPointer says whether v points to a known type. It is nil if the text has no value.
func isPointer(v reflect.Value) bool {
	return v.Kind() == reflect.Pointer && v.Type().Implements(reflect.TypeFor[Known]())
}

// plainError says what is wrong with a value without terms of Go.
func plainError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("a JSON %s stands where %s is expected", wrong.Value, typePhrase(wrong.Type))
	}
	return err
}

func typePhrase(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a text"
	}
	return "an object"
}

// readTime reads RFC 3339, and times without a zone as UTC, as programs in Python write them.
func readTime(raw json.RawMessage, into *time.Time) error {
	if isNull(raw) {
		return nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return plainError(err)
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", time.DateTime} {
		if at, err := time.Parse(layout, text); err == nil {
			*into = at.UTC()
			return nil
		}
	}
	return fmt.Errorf("“%s” is no time; it would look like 2025-12-20T10:30:00Z", clipValue(text))
}

func isNull(raw []byte) bool { return string(bytes.TrimSpace(raw)) == "null" }

// jsonTag is the name of a field in JSON; "" if it has none. omit says that it is left out if it is empty.
func jsonTag(f reflect.StructField) (name string, omit bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, options != ""
}

// writeObject writes the object of a known type: its fields in their order, then its unknown members, by name. A zero
// time is left out.
func writeObject(from Known) ([]byte, error) {
	v := reflect.ValueOf(from).Elem()
	out := []byte{'{'}
	put := func(name string, raw []byte) error {
		if len(out) > 1 {
			out = append(out, ',')
		}
		quoted, err := marshalPlain(name)
		out = append(append(append(out, quoted...), ':'), raw...)
		return err
	}
	for i := range v.NumField() {
		name, omit := jsonTag(v.Type().Field(i))
		if name == "" || omit && isEmpty(v.Field(i)) {
			continue
		}
		if at, isTime := v.Field(i).Interface().(time.Time); isTime && at.IsZero() {
			continue
		}
		raw, err := writeValue(v.Field(i))
		if err == nil {
			err = put(name, raw)
		}
		if err != nil {
			return nil, err
		}
	}
	if unknown := from.kept().unknown; unknown != nil {
		for _, name := range slices.Sorted(maps.Keys(*unknown)) {
			if err := put(name, (*unknown)[name]); err != nil {
				return nil, err
			}
		}
	}
	return append(out, '}'), nil
}

func isEmpty(v reflect.Value) bool { return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 }

func writeValue(v reflect.Value) ([]byte, error) {
	if from, ok := v.Addr().Interface().(Known); ok {
		return writeObject(from)
	}
	if isPointer(v) && !v.IsNil() {
		return writeValue(v.Elem())
	}
	if !isList(v) {
		return marshalPlain(v.Interface())
	}
	out := []byte{'['}
	for i := range v.Len() {
		if i > 0 {
			out = append(out, ',')
		}
		one, err := writeValue(v.Index(i))
		if err != nil {
			return nil, err
		}
		out = append(out, one...)
	}
	return append(out, ']'), nil
}

// marshalPlain is JSON without escaped letters: people read the file.
func marshalPlain(value any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// Decode reads a text with one object into a Known, which is emptied first. An error says what is wrong, and where; it
// continues a sentence that begins with the name of the text: “is no JSON: …”. A byte order mark is skipped.
func Decode(content []byte, into Known) error {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	if len(bytes.TrimSpace(content)) == 0 {
		return errors.New("is empty")
	}
	if err := json.Unmarshal(content, new(json.RawMessage)); err != nil { // what follows may rely on it
		return fmt.Errorf("is no JSON: %w", err)
	}
	if isNull(content) {
		return errors.New("can't be read: a JSON null stands where an object is expected")
	}
	if err := readObject(content, into); err != nil {
		return fmt.Errorf("can't be read: %w", err)
	}
	return nil
}

// Encode is the text of a Known, indented, without escaped letters, and with a line break at its end.
func Encode(from Known) ([]byte, error) {
	raw, err := writeObject(from)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, err
	}
	return append(out.Bytes(), '\n'), nil
}

// longestShown is how many characters of a value an error shows.
const longestShown = 60

// clipValue is a value as an error shows it: in one line, and bounded.
func clipValue(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) || r == '\u200d' { // which joins emoji
			return r
		}
		return -1
	}, strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " "))
	if all := []rune(text); len(all) > longestShown {
		return string(all[:longestShown-1]) + "…"
	}
	return text
}
