// Package jsonobject reads JSON objects into structs and writes them again with all that they held.
//
// Guarantees:
//   - Kept. Members that a struct does not know stay with their values, in their place, at every level; so does the way in which a known one is
//     written, as long as its value stays. What a text does not say is not said for it.
//   - Exact. Names are compared letter by letter; of a name that stands there twice the last counts.
//   - Named. An error says which value is wrong by its place, "audio_entries[1].sequence", and what is expected there.
//
// The fields of a struct are those with a json tag that names them; of its options it knows omitempty and omitzero.
package jsonobject

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// object is a JSON object as it was read, so that it is written with all that it held.
type object struct {
	members []member
	was     any // the struct that they were read into, to tell which fields have changed since
}

type member struct {
	name string
	raw  json.RawMessage
}

// Known is a struct that is read from an object and written as one: one that embeds Kept.
type Known interface{ hold() **object }

// Kept is embedded by a struct to keep the object that it was read from. encoding/json does not see it. The zero Kept is of what was not read.
type Kept struct{ object *object }

func (k *Kept) hold() **object { return &k.object }

// Defaulter is a Known that sets the fields that are something else than zero where the text does not say.
type Defaulter interface{ Defaults() }

// read fills a known type. Names are compared letter by letter; of a name that stands there twice the last counts.
func read(raw []byte, into Known) error {
	v := reflect.ValueOf(into).Elem()
	v.SetZero()
	if d, ok := into.(Defaulter); ok {
		d.Defaults()
	}
	if isNull(raw) {
		return nil
	}
	members, ok := split(raw)
	if !ok {
		return mismatch(raw, "an object")
	}
	for i := range v.NumField() {
		name, _, _ := tag(v.Type().Field(i))
		at := slices.IndexFunc(members, func(m member) bool { return m.name == name })
		if name == "" || at < 0 {
			continue
		}
		if err := readValue(members[at].raw, v.Field(i)); err != nil {
			return within(name, err)
		}
	}
	*into.hold() = &object{members: members, was: v.Interface()}
	return nil
}

// misplaced is an error at a place of a JSON text.
type misplaced struct {
	path string
	err  error
}

func (e *misplaced) Error() string { return e.path + ": " + e.err.Error() }
func (e *misplaced) Unwrap() error { return e.err }

// within puts a name or an index before the place of an error.
func within(name string, err error) error {
	if inner, ok := err.(*misplaced); ok { //nolint:errorlint // it is made here, and wrapped by nobody
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
		return read(raw, into)
	}
	if _, isTime := v.Interface().(*time.Time); isTime || isPointer(v) {
		if isNull(raw) {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return readValue(raw, v.Elem())
	}
	if !isList(v) {
		return plainly(json.Unmarshal(raw, v.Addr().Interface()))
	}
	if isNull(raw) {
		return nil // it stays as it is by default
	}
	all, ok := elements(raw)
	if !ok {
		return mismatch(raw, "a list")
	}
	v.Set(reflect.MakeSlice(v.Type(), len(all), len(all)))
	for i, one := range all {
		if err := readValue(one.raw, v.Index(i)); err != nil {
			return within(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}

// isList says that v is a list of known types.
func isList(v reflect.Value) bool {
	return v.Kind() == reflect.Slice && reflect.PointerTo(v.Type().Elem()).Implements(reflect.TypeFor[Known]())
}

// isPointer says that v points to a known type. It is nil where a text says nothing.
func isPointer(v reflect.Value) bool {
	return v.Kind() == reflect.Pointer && v.Type().Implements(reflect.TypeFor[Known]())
}

// plainly says what is wrong with a value without the words of Go.
func plainly(err error) error {
	switch wrong := err.(type) { //nolint:errorlint // json.Unmarshal gives them as they are
	case *json.UnmarshalTypeError:
		return fmt.Errorf("a JSON %s stands where %s is expected", wrong.Value, kindOf(wrong.Type))
	}
	return err
}

func kindOf(t reflect.Type) string {
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

// readTime takes RFC 3339, and without a zone UTC, as programs in Python write it.
func readTime(raw json.RawMessage, into *time.Time) error {
	if isNull(raw) {
		return nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return plainly(err)
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", time.DateTime} {
		if at, err := time.Parse(layout, text); err == nil {
			*into = at.UTC()
			return nil
		}
	}
	return fmt.Errorf("“%s” is no time; it would look like 2025-12-20T10:30:00Z", short(text))
}

func isNull(raw []byte) bool { return string(bytes.TrimSpace(raw)) == "null" }

// mismatch says that something else stands where a thing is expected.
func mismatch(raw []byte, expected string) error {
	kinds := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "bool", 'f': "bool", 'n': "null"}
	kind := "number"
	if k, ok := kinds[bytes.TrimLeft(raw, space)[0]]; ok {
		kind = k
	}
	return fmt.Errorf("a JSON %s stands where %s is expected", kind, expected)
}

// split takes an object apart; of members of one name the last counts. Raw is valid JSON; ok is false if it is no object.
func split(raw []byte) (members []member, ok bool) {
	all, ok := parts(raw, '{')
	at := make(map[string]int, len(all))
	for _, m := range all {
		if i, twice := at[m.name]; twice {
			members[i] = m
			continue
		}
		at[m.name] = len(members)
		members = append(members, m)
	}
	return members, ok
}

// elements takes a list apart. Raw is valid JSON; ok is false if it is no list.
func elements(raw []byte) (all []member, ok bool) { return parts(raw, '[') }

// space is what may stand between the parts of a JSON text.
const space = " \t\r\n"

// parts takes what begins with open apart. encoding/json has no way to do so that keeps the order and costs little.
func parts(raw []byte, open byte) (all []member, ok bool) {
	raw = bytes.Trim(raw, space)
	if raw[0] != open {
		return nil, false
	}
	rest := bytes.TrimLeft(raw[1:len(raw)-1], space)
	for len(rest) > 0 {
		var m member
		if open == '{' {
			n := valueEnd(rest)
			m.name = unquoted(rest[:n])
			rest = bytes.TrimLeft(rest[n:], space+":")
		}
		n := valueEnd(rest)
		m.raw = rest[:n:n]
		all = append(all, m)
		rest = bytes.TrimLeft(rest[n:], space+",")
	}
	return all, true
}

// valueEnd is where the value ends that a valid JSON text begins with.
func valueEnd(raw []byte) int {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 || i+1 < len(raw) && !strings.ContainsRune(space+",:]}", rune(raw[i+1])) {
				continue
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(raw)
}

// unquoted is the text of a JSON string.
func unquoted(raw []byte) (text string) {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1])
	}
	_ = json.Unmarshal(raw, &text) // it is valid
	return text
}

// tag reads how a field stands in JSON; name "" if it does not.
func tag(f reflect.StructField) (name string, omitEmpty, omitZero bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, options == "omitempty", options == "omitzero"
}

// write gives the object of a known type: members in the order in which they were read, then those that are new. What a file does not say is not
// said for it.
func write(from Known) ([]byte, error) {
	v := reflect.ValueOf(from).Elem()
	o := *from.hold()
	if o == nil {
		o = &object{}
	}
	fields := map[string]int{}
	for i := range v.NumField() {
		if name, _, _ := tag(v.Type().Field(i)); name != "" {
			fields[name] = i
		}
	}
	out := []byte{'{'}
	put := func(name string, raw []byte) error {
		if len(out) > 1 {
			out = append(out, ',')
		}
		quoted, err := plain(name)
		out = append(append(append(out, quoted...), ':'), raw...)
		return err
	}
	for _, m := range o.members {
		raw, here := []byte(m.raw), true
		if i, isField := fields[m.name]; isField {
			delete(fields, m.name)
			var err error
			if raw, here, err = o.field(m, v, i); err != nil {
				return nil, err
			}
		}
		if here {
			if err := put(m.name, raw); err != nil {
				return nil, err
			}
		}
	}
	for i := range v.NumField() {
		name, omitEmpty, omitZero := tag(v.Type().Field(i))
		_, left := fields[name]
		if !left || o.was == nil && (omitEmpty || omitZero) && isEmpty(v.Field(i)) || o.was != nil && o.unchanged(v, i) {
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
	return append(out, '}'), nil
}

// field gives a member as it was read if the field has still that value, else as it is; here is false if it is no longer to be written.
func (o *object) field(m member, v reflect.Value, i int) (raw []byte, here bool, err error) {
	f := v.Field(i)
	_, isKnown := f.Addr().Interface().(Known)
	if (!isKnown && !isPointer(f) && !isList(f) || isNull(m.raw)) && o.unchanged(v, i) && stands(m.raw, f) {
		return m.raw, true, nil
	}
	if _, omitEmpty, omitZero := tag(v.Type().Field(i)); (omitEmpty || omitZero) && isEmpty(f) && !isEmpty(reflect.ValueOf(o.was).Field(i)) {
		return nil, false, nil
	}
	raw, err = writeValue(f)
	return raw, true, err
}

// unchanged says whether a field has the value that was read, or that it has where nothing is said.
func (o *object) unchanged(v reflect.Value, i int) bool {
	return reflect.DeepEqual(reflect.ValueOf(o.was).Field(i).Interface(), v.Field(i).Interface())
}

// stands says whether a text still says what a field holds. Where a field and what was read share memory, a change of one is a change of both: then it is
// read again.
func stands(raw []byte, f reflect.Value) bool {
	if f.Kind() != reflect.Slice && f.Kind() != reflect.Pointer {
		return true
	}
	again := reflect.New(f.Type()).Elem()
	return readValue(raw, again) == nil && reflect.DeepEqual(again.Interface(), f.Interface())
}

func isEmpty(v reflect.Value) bool { return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 }

func writeValue(v reflect.Value) ([]byte, error) {
	if from, ok := v.Addr().Interface().(Known); ok {
		return write(from)
	}
	if isPointer(v) && !v.IsNil() {
		return writeValue(v.Elem())
	}
	if !isList(v) {
		return plain(v.Interface())
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

// plain is JSON with letters as they are: it is a file that people read.
func plain(value any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// Decode reads a text that holds one object into a Known, which is emptied first. An error says what is wrong, and where, so that it goes on after the
// name of the text: “is no JSON: …”. A byte order mark is passed over.
func Decode(content []byte, into Known) error {
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	if len(bytes.TrimSpace(content)) == 0 {
		return fmt.Errorf("is empty")
	}
	if err := json.Unmarshal(content, new(json.RawMessage)); err != nil { // what follows may rely on it
		return fmt.Errorf("is no JSON: %w", err)
	}
	if isNull(content) {
		return fmt.Errorf("can't be read: %w", mismatch(content, "an object"))
	}
	if err := read(content, into); err != nil {
		return fmt.Errorf("can't be read: %w", err)
	}
	return nil
}

// Encode gives the text of a Known, indented, with letters as they are and a line break at its end.
func Encode(from Known) ([]byte, error) {
	raw, err := write(from)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// longestShown is how many characters of a value an error shows.
const longestShown = 60

// short is a value as an error shows it: in one line, bounded.
func short(text string) string {
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
