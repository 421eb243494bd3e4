package bt

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Port is one named connection of a node. Leaves declare theirs as struct fields:
//
//	type in struct {
//		Question string `port:"question" doc:"the person's words"`
//		Limit    int    `port:"limit" default:"3"`
//		Hint     string `port:"hint,optional"`
//	}
//
// An input without default is required unless it is optional: then an absent attribute or an unwritten key reads as the
// zero value. The tag oneof:"red green" lists the texts that a port takes, between:"0 1" the least and the greatest
// number (the latter may be left out); what a tree writes down is checked when it is loaded. An input field tagged
// `port:",now"`, an int64, is the run time in ms. An output may be left unconnected; an output field tagged
// `port:",events"`, a []Typed, reports what was decided. A type is string, bool, int, int64, float64, or anything that
// survives encoding as JSON.
type Port struct {
	Name     string
	Doc      string
	Type     reflect.Type
	Default  string
	Optional bool
	HasDef   bool
	OneOf    []string
	Between  []float64 // the least number, and perhaps the greatest
	field    int
}

// check says what is wrong with a literal in a tree.
func (p *Port) check(v any) error {
	if text, ok := v.(string); ok && p.OneOf != nil && !slices.Contains(p.OneOf, text) {
		return &valueError{text, "one of " + strings.Join(p.OneOf, ", ")}
	}
	if p.Between == nil {
		return nil
	}
	f := reflect.ValueOf(v).Convert(reflect.TypeFor[float64]()).Float()
	switch {
	case f < p.Between[0]:
		return &valueError{fmt.Sprint(v), fmt.Sprintf("at least %g", p.Between[0])}
	case len(p.Between) > 1 && f > p.Between[1]:
		return &valueError{fmt.Sprint(v), fmt.Sprintf("at most %g", p.Between[1])}
	}
	return nil
}

// readLimits reads the tags that limit the values of a port.
func (p *Port) readLimits(tag reflect.StructTag) error {
	p.OneOf = strings.Fields(tag.Get("oneof"))
	for _, text := range strings.Fields(tag.Get("between")) {
		f, ok := parseNumber(text)
		if !ok {
			return &valueError{text, "a number"}
		}
		p.Between = append(p.Between, f)
	}
	kind := p.Type.Kind()
	switch {
	case len(p.OneOf) > 0 && kind != reflect.String:
		return fmt.Errorf("oneof is for texts")
	case len(p.OneOf) == 0:
		p.OneOf = nil
	}
	if p.Between != nil && kind != reflect.Int && kind != reflect.Int64 && kind != reflect.Float64 {
		return fmt.Errorf("between is for numbers")
	}
	return nil
}

func (p *Port) required() bool { return !p.Optional && !p.HasDef }

// Ports lists the ports that the fields of the struct T declare. A field without a port tag, and a name that is
// declared twice, are errors.
func Ports[T any]() ([]Port, error) {
	ports, _, err := portsOf(reflect.TypeFor[T]())
	return ports, err
}

// nonPorts are the indices of the fields that are not ports; -1: there is none.
type nonPorts struct {
	events int // `port:",events"`, the typed events of an output
	now    int // `port:",now"`, the run time of an input
}

// portsOf returns the ports of a struct, and its other fields.
func portsOf(t reflect.Type) (ports []Port, other nonPorts, err error) {
	other = nonPorts{events: -1, now: -1}
	if t.Kind() != reflect.Struct {
		return nil, other, fmt.Errorf("%v is not a struct", t)
	}
	seen := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("port")
		if !ok || !f.IsExported() {
			return nil, other, fmt.Errorf("%v.%s wants to be exported and have a port tag", t, f.Name)
		}
		name, option, _ := strings.Cut(tag, ",")
		switch {
		case option == "events" && f.Type == reflect.TypeFor[[]Typed]():
			other.events = i
			continue
		case option == "now" && f.Type.Kind() == reflect.Int64:
			other.now = i
			continue
		}
		if !isWord(name) || name == "name" || name == "ID" || seen[name] || (option != "" && option != "optional") {
			return nil, other, fmt.Errorf("%v.%s: bad port tag ‘%s’", t, f.Name, tag)
		}
		if !isData(f.Type) {
			return nil, other, fmt.Errorf("%v.%s: a port can't be %v", t, f.Name, f.Type)
		}
		seen[name] = true
		p := Port{Name: name, Doc: f.Tag.Get("doc"), Type: f.Type, Optional: option == "optional", field: i}
		if err := p.readLimits(f.Tag); err != nil {
			return nil, other, fmt.Errorf("%v.%s: %w", t, f.Name, err)
		}
		p.Default, p.HasDef = f.Tag.Lookup("default")
		if p.HasDef {
			if _, err := p.literal(p.Default); err != nil {
				return nil, other, fmt.Errorf("%v.%s: default %w", t, f.Name, err)
			}
		}
		ports = append(ports, p)
	}
	return ports, other, nil
}

// literal parses and checks a literal in a tree.
func (p *Port) literal(text string) (any, error) {
	v, err := parseLiteral(text, p.Type)
	if err == nil {
		err = p.check(v)
	}
	return v, err
}

// isWord says whether BT.CPP accepts a name for a leaf or port.
func isWord(name string) bool {
	for i, r := range name {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r != '_' && (r < '0' || r > '9')) {
			return false
		}
	}
	return name != ""
}

// isData says whether values of a type can be compared with literals and written as JSON.
func isData(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer:
		return true
	}
	return isBasic(t)
}

func isBasic(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return true
	}
	return false
}

// typeName is the type as Groot2 shows it: BT.CPP's names for its basic types, else the Go name.
func typeName(t reflect.Type) string {
	switch {
	case t == nil:
		return "AnyTypeAllowed"
	case t.Kind() == reflect.String:
		return "std::string"
	case t.Kind() == reflect.Bool:
		return "bool"
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		return "int"
	case t.Kind() == reflect.Float64:
		return "double"
	}
	return t.String()
}

// parseLiteral reads an attribute's text as a value of t; lists are separated by semicolons, as in BT.CPP, and all else
// is JSON. A nil type takes a number or bool where the text is one.
func parseLiteral(text string, t reflect.Type) (any, error) {
	if t == nil {
		return parseUntyped(text), nil
	}
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		switch strings.ToLower(text) {
		case "true", "1":
			v.SetBool(true)
		case "false", "0":
		default:
			return nil, &valueError{text, "true or false"}
		}
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, &valueError{text, "a whole number"}
		}
		v.SetInt(n)
	case reflect.Float64:
		f, ok := parseNumber(text)
		if !ok {
			return nil, &valueError{text, "a number"}
		}
		v.SetFloat(f)
	default:
		if t == reflect.TypeFor[[]string]() && !strings.HasPrefix(text, "[") {
			if text == "" {
				return []string{}, nil
			}
			return strings.Split(text, ";"), nil
		}
		if err := json.Unmarshal([]byte(text), v.Addr().Interface()); err != nil {
			return nil, &valueError{text, "JSON for " + t.String()}
		}
	}
	return v.Interface(), nil
}

func parseUntyped(text string) any {
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	if f, ok := parseNumber(text); ok {
		return f
	}
	return text
}

// parseNumber parses a finite number: JSON has no others.
func parseNumber(text string) (float64, bool) {
	if text == "" || strings.IndexByte("+-.0123456789", text[0]) < 0 {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && isFinite(f)
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// slot is one key in one scope. If its type is nil, only scripts and literals write the key, and it takes any basic
// value.
type slot struct {
	name    string
	typ     reflect.Type
	initial any
}

// convert converts v to the type of the slot: from the same type, or from a number or text that can be read as it.
func (s *slot) convert(v any) (any, error) { return convertTo(v, s.typ) }

func convertTo(v any, t reflect.Type) (any, error) {
	if f, ok := v.(float64); ok && !isFinite(f) {
		return nil, &valueError{fmt.Sprint(f), "a finite number"}
	}
	if t == nil {
		return toBasic(v)
	}
	have := reflect.TypeOf(v)
	if have == t {
		return v, nil
	}
	if have == nil {
		return nil, fmt.Errorf("nothing does not fit %s", typeName(t))
	}
	want, r, fits := t.Kind(), reflect.ValueOf(v), false
	isInt := want == reflect.Int || want == reflect.Int64
	switch have.Kind() {
	case reflect.Int, reflect.Int64:
		fits = isInt || want == reflect.Float64
	case reflect.Float64:
		f := r.Float()
		fits = want == reflect.Float64 || isInt && f == math.Trunc(f) && math.Abs(f) < 1<<53
	case reflect.String:
		return parseLiteral(r.String(), t)
	case reflect.Bool:
		fits = want == reflect.Bool
	}
	if fits {
		return r.Convert(t).Interface(), nil
	}
	return nil, fmt.Errorf("%v does not fit %s", v, typeName(t))
}

// toBasic is a value in the form of scripts and untyped keys: a string, a bool or a float64.
func toBasic(v any) (any, error) {
	switch v.(type) {
	case string, bool, float64:
		return v, nil
	}
	s, err := scalarOf(v)
	return s.value(), err
}

func (s *slot) decode(raw json.RawMessage) (any, error) {
	if s.typ == nil {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, err
		}
		return toBasic(v)
	}
	p := reflect.New(s.typ)
	if err := json.Unmarshal(raw, p.Interface()); err != nil {
		return nil, err
	}
	return p.Elem().Interface(), nil
}

// connectable says whether a value of one type may flow into a port of another. Without a type, the value is checked
// when the tree runs.
func connectable(from, to reflect.Type) bool {
	if from == nil || to == nil || from == to {
		return true
	}
	f, t := from.Kind(), to.Kind()
	isNum := func(k reflect.Kind) bool { return k == reflect.Int || k == reflect.Int64 || k == reflect.Float64 }
	return (isNum(f) && isNum(t)) || (f == t && (f == reflect.String || f == reflect.Bool))
}

var (
	typeInt   = reflect.TypeFor[int]()
	typeInt64 = reflect.TypeFor[int64]()
	typeBool  = reflect.TypeFor[bool]()
)
