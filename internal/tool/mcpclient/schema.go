package mcpclient

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// errNoObject refuses arguments that are said to be something else: no model can send them.
var errNoObject = errors.New("its arguments are no object")

// mendSchema makes a schema of arguments that every reader of JSON Schema understands. Servers write older drafts,
// words of their own, null in place of nothing, and references that lead nowhere or in a circle, at which a check would
// never end. A keyword that can't be understood is dropped: the server checks the arguments again.
func mendSchema(raw json.RawMessage) (json.RawMessage, error) {
	var root any
	if err := json.Unmarshal(raw, &root); err != nil {
		return nil, err
	}
	m := schemaMender{known: map[uintptr]bool{}, onPath: map[uintptr]bool{}, done: map[uintptr]bool{}}
	var whole bool
	if m.root, whole = root.(map[string]any); !whole {
		m.root = map[string]any{}
	}
	if target := m.target(m.root["$ref"]); target != nil { // providers read no reference at the top
		delete(m.root, "$ref")
		for name, part := range target {
			if _, has := m.root[name]; !has {
				m.root[name] = part
			}
		}
	}
	m.mend(m.root)
	m.cutCircles()
	switch kind := m.root["type"].(type) {
	case nil:
	case string:
		if kind != "object" {
			return nil, errNoObject
		}
	case []any:
		if !slices.Contains(kind, any("object")) {
			return nil, errNoObject
		}
	}
	m.root["type"] = "object"
	return encode(m.root), nil
}

type schemaMender struct {
	root   map[string]any
	known  map[uintptr]bool // all schemas in the root, by their addresses
	onPath map[uintptr]bool // those that the same value is being checked against
	done   map[uintptr]bool
}

// Keywords by what they hold.
func schemaMaps() []string {
	return []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
}
func schemaLists() []string { return []string{"allOf", "anyOf", "oneOf", "prefixItems"} }
func schemaOnes() []string {
	return []string{"items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains",
		"propertyNames", "unevaluatedItems", "unevaluatedProperties"}
}

// mend mends a schema and those in it.
func (m schemaMender) mend(s map[string]any) {
	dropWhere(s, isNothing, append(schemaMaps(), append(append(schemaLists(), schemaOnes()...), "$ref", "type", "enum",
		"required", "description", "title")...)...)
	dropWhere(s, isNoString, "$ref", "$schema", "$id", "id", "description", "title", "pattern", "format", "$comment")
	delete(s, "$schema") // what is left is read as the newest draft
	if id, _ := s["id"].(string); id != "" {
		delete(s, "id")
	}
	dropWhere(s, isNoList, "enum", "examples")
	m.mendType(s)
	for _, name := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
		"maxLength", "minItems", "maxItems", "minProperties", "maxProperties"} {
		mendBound(s, name)
	}
	if tuple, is := s["items"].([]any); is { // the form of older drafts
		s["items"] = map[string]any{"anyOf": tuple}
		delete(s, "additionalItems")
	}
	required := requiredNames(s)
	for _, name := range schemaMaps() {
		parts, is := s[name].(map[string]any)
		if !is {
			delete(s, name)
		}
		for of, part := range parts {
			if one := m.part(part); one == nil {
				delete(parts, of)
			} else {
				parts[of] = one
			}
		}
	}
	delete(s, "required")
	if len(required) > 0 {
		s["required"] = required
	}
	for _, name := range schemaLists() {
		parts, is := s[name].([]any)
		var kept []any
		for _, part := range parts {
			if one := m.part(part); one != nil {
				kept = append(kept, one)
			}
		}
		if !is || len(kept) == 0 {
			delete(s, name)
		} else {
			s[name] = kept
		}
	}
	for _, name := range schemaOnes() {
		switch part := s[name].(type) {
		case nil:
		case bool: // these say whether there may be more
			if name == "items" || name == "contains" || name == "if" || name == "then" || name == "else" || name == "not" {
				delete(s, name)
			}
		case map[string]any:
			m.mend(part)
		default:
			delete(s, name)
		}
	}
}

// part mends a schema within another; true is one that takes all. Nil: it is none, or refuses all.
func (m schemaMender) part(part any) map[string]any {
	switch part := part.(type) {
	case map[string]any:
		m.mend(part)
		return part
	case bool:
		if part {
			return map[string]any{}
		}
	case string: // a type alone
		s := map[string]any{"type": part}
		m.mend(s)
		return s
	}
	return nil
}

// mendType spells the types as JSON Schema does, and drops what is none.
func (m schemaMender) mendType(s map[string]any) {
	names, several := s["type"].([]any)
	if !several {
		if s["type"] == nil {
			return
		}
		names = []any{s["type"]}
	}
	var types []any
	for _, name := range names {
		word, _ := name.(string)
		switch word = strings.ToLower(word); word {
		case "str", "text", "date", "datetime":
			word = "string"
		case "int", "long":
			word = "integer"
		case "float", "double", "decimal":
			word = "number"
		case "bool":
			word = "boolean"
		case "dict", "map":
			word = "object"
		case "list", "tuple", "set":
			word = "array"
		case "none":
			word = "null"
		case "string", "integer", "number", "boolean", "object", "array", "null":
		default: // of any type
			delete(s, "type")
			return
		}
		if !slices.Contains(types, any(word)) {
			types = append(types, word)
		}
	}
	switch len(types) {
	case 0:
		delete(s, "type")
	case 1:
		s["type"] = types[0]
	default:
		s["type"] = types
	}
}

// requiredNames returns the names of the required properties that exist, also of those that say it of themselves, as
// in the oldest draft.
func requiredNames(s map[string]any) (names []any) {
	properties, _ := s["properties"].(map[string]any)
	list, _ := s["required"].([]any)
	for _, name := range list {
		if word, is := name.(string); is && properties[word] != nil && !slices.Contains(names, name) {
			names = append(names, word)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if one, _ := properties[name].(map[string]any); one["required"] == true && !slices.Contains(names, any(name)) {
			names = append(names, name)
		}
	}
	return names
}

// mendBound makes a number of a bound. The true of an older draft says that a bound itself is excluded.
func mendBound(s map[string]any, name string) {
	switch bound := s[name].(type) {
	case nil:
		delete(s, name)
	case float64:
	case string:
		n, err := strconv.ParseFloat(bound, 64)
		if err != nil {
			delete(s, name)
			return
		}
		s[name] = n
	case bool:
		delete(s, name)
		plain := strings.ToLower(strings.TrimPrefix(name, "exclusive"))
		if limit, is := s[plain].(float64); bound && is {
			s[name] = limit
			delete(s, plain)
		}
	default:
		delete(s, name)
	}
}

// target returns what a reference leads to within the schema; nil if that is nothing.
func (m schemaMender) target(ref any) map[string]any {
	words, _ := ref.(string)
	path, local := strings.CutPrefix(words, "#")
	if !local {
		return nil
	}
	var at any = m.root
	for _, step := range strings.Split(path, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~", "%24", "$", "%20", " ").Replace(step)
		switch node := at.(type) {
		case map[string]any:
			at = node[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(node) {
				return nil
			}
			at = node[i]
		}
	}
	if path != "" && !strings.HasPrefix(path, "/") {
		return nil
	}
	found, _ := at.(map[string]any)
	return found
}

// cutCircles drops references that lead nowhere, or back to a schema that the same value is being checked against. A
// schema that describes a part of its values by itself, such as a tree, stays.
func (m schemaMender) cutCircles() {
	var all []map[string]any
	var collect func(map[string]any)
	collect = func(s map[string]any) {
		if at := reflect.ValueOf(s).Pointer(); !m.known[at] {
			m.known[at] = true
			all = append(all, s)
			for _, part := range append(inPlace(s), ofParts(s)...) {
				collect(part)
			}
		}
	}
	collect(m.root)
	for _, s := range all {
		m.follow(s)
	}
}

// follow cuts the circles that begin at a schema.
func (m schemaMender) follow(s map[string]any) {
	at := reflect.ValueOf(s).Pointer()
	if m.done[at] {
		return
	}
	m.onPath[at] = true
	if ref, has := s["$ref"]; has {
		target := m.target(ref)
		if to := reflect.ValueOf(target).Pointer(); target == nil || !m.known[to] || m.onPath[to] {
			delete(s, "$ref")
		} else {
			m.follow(target)
		}
	}
	for _, part := range inPlace(s) {
		m.follow(part)
	}
	delete(m.onPath, at)
	m.done[at] = true
}

// inPlace returns the schemas in s that its own value is checked against.
func inPlace(s map[string]any) (all []map[string]any) {
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[name].([]any)
		for _, part := range list {
			if one, is := part.(map[string]any); is {
				all = append(all, one)
			}
		}
	}
	for _, name := range []string{"not", "if", "then", "else"} {
		if one, is := s[name].(map[string]any); is {
			all = append(all, one)
		}
	}
	return append(all, schemasIn(s["dependentSchemas"])...)
}

// ofParts returns the schemas in s that parts of its value are checked against, and those that are referred to.
func ofParts(s map[string]any) (all []map[string]any) {
	for _, name := range []string{"properties", "patternProperties", "$defs", "definitions"} {
		all = append(all, schemasIn(s[name])...)
	}
	for _, name := range schemaOnes() {
		if one, is := s[name].(map[string]any); is && !slices.Contains([]string{"not", "if", "then", "else"}, name) {
			all = append(all, one)
		}
	}
	list, _ := s["prefixItems"].([]any)
	for _, part := range list {
		if one, is := part.(map[string]any); is {
			all = append(all, one)
		}
	}
	return all
}

func schemasIn(parts any) (all []map[string]any) {
	byName, _ := parts.(map[string]any)
	for _, part := range byName {
		if one, is := part.(map[string]any); is {
			all = append(all, one)
		}
	}
	return all
}

// dropWhere drops the named fields that are of a kind.
func dropWhere(s map[string]any, unfit func(any) bool, names ...string) {
	for _, name := range names {
		if one, has := s[name]; has && unfit(one) {
			delete(s, name)
		}
	}
}

func isNothing(one any) bool { return one == nil }

func isNoString(one any) bool { _, is := one.(string); return !is }

// isNoList says whether something is no list with something in it.
func isNoList(one any) bool { list, is := one.([]any); return !is || len(list) == 0 }
