package model

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
)

// form is a compiled schema.
type form struct {
	schema *jsonschema.Schema
	check  *jsonschema.Resolved
}

// compileSchema compiles a schema, which has to be complete: references to other schemas are not resolved.
func compileSchema(schema Schema) (*form, error) {
	var parsed jsonschema.Schema
	if err := json.Unmarshal(schema.JSON, &parsed); err != nil {
		return nil, err
	}
	check, err := parsed.Resolve(nil)
	return &form{&parsed, check}, err
}

// maxValues bounds how many JSON values of one text, and of one value, are tried.
const maxValues = 64

// firstFitting finds the first JSON value in a text that fits, and decodes it into `into`: one that fits as it is, else
// one that plainly means a value that fits. It returns the value as it is written. If none fits, problem says what is
// wrong with the first one, which is returned if it is the whole text.
func (f *form) firstFitting(text string, into any) (value json.RawMessage, problem string) {
	all := jsonValues(text)
	for _, raw := range all {
		var read any
		if json.Unmarshal(raw, &read) == nil && f.check.Validate(read) == nil && json.Unmarshal(raw, into) == nil {
			return raw, ""
		}
	}
	for _, raw := range all {
		wrong := f.decodeMeant(raw, into)
		if wrong == "" {
			return raw, ""
		}
		if problem == "" {
			problem = wrong
		}
	}
	switch {
	case problem == "":
		return nil, "it holds no whole JSON value"
	case len(all) == 1 && len(all[0]) == len(strings.TrimSpace(text)):
		return all[0], problem
	}
	return nil, problem
}

// jsonValues returns the whole objects and lists in a text; if it is one JSON value, that, which may also be a bare
// string or number.
func jsonValues(text string) (all []json.RawMessage) {
	if raw := json.RawMessage(strings.TrimSpace(text)); json.Valid(raw) {
		return []json.RawMessage{raw}
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
		all, text = append(all, raw), text[len(raw):]
	}
	return all
}

// decodeMeant decodes what a value means, or else what the first value inside of it means that fits. problem names the
// first part of the value that does not fit, and the part of the schema; it is empty if all fits.
func (f *form) decodeMeant(raw json.RawMessage, into any) (problem string) {
	var read any
	if err := json.Unmarshal(raw, &read); err != nil {
		return err.Error()
	}
	within := []any{read}
	for n := 0; n < len(within) && n < maxValues; n++ {
		wrong := f.decodeFitted(fitted(within[n], f.schema), into)
		if wrong == "" {
			return ""
		}
		if problem == "" {
			problem = wrong
		}
		within = append(within, members(within[n])...)
	}
	return problem
}

// members are the objects and lists directly in a value, in the order of their names.
func members(value any) (all []any) {
	var each []any
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			each = append(each, v[name])
		}
	case []any:
		each = v
	}
	for _, one := range each {
		switch one.(type) {
		case map[string]any, []any:
			all = append(all, one)
		}
	}
	return all
}

func (f *form) decodeFitted(value, into any) (problem string) {
	if object, is := value.(map[string]any); is && len(object) == 0 && len(f.schema.Properties) > 0 {
		return "it has none of the properties"
	}
	err := f.check.Validate(value)
	if err == nil {
		var raw []byte
		if raw, err = json.Marshal(value); err == nil {
			err = json.Unmarshal(raw, into)
		}
	}
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(strings.TrimPrefix(err.Error(), "validating root: "), "validating ", "at ")
}

// fitted returns what a value means under a schema, as far as that is plain: properties that the schema does not allow
// are left out, names may have other cases and separators, numbers and truth values may be texts, a word of an enum may
// have other cases, and what is no object may be wrapped in one of a single property. Where nothing is plain, it is the
// value.
func fitted(value any, s *jsonschema.Schema) any {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 1 && !allows(s, "object") {
			for _, only := range v {
				return fitted(only, s)
			}
		}
		if s.Properties != nil {
			return fittedObject(v, s)
		}
	case []any:
		if s.Items == nil {
			break
		}
		all := make([]any, len(v))
		for n := range v {
			all[n] = fitted(v[n], s.Items)
		}
		return all
	case string:
		return fittedText(v, s)
	}
	return value
}

// allows says whether a schema allows values of a type.
func allows(s *jsonschema.Schema, kind string) bool {
	return s.Type == "" && s.Types == nil || s.Type == kind || slices.Contains(s.Types, kind)
}

func fittedObject(v map[string]any, s *jsonschema.Schema) map[string]any {
	fits := map[string]any{}
	var others []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if property := s.Properties[name]; property != nil {
			fits[name] = fitted(v[name], property)
		} else {
			others = append(others, name)
		}
	}
	for _, name := range others {
		if like := propertyLike(name, s, fits); like != "" {
			fits[like] = fitted(v[name], s.Properties[like])
		} else if !forbidsOthers(s) {
			fits[name] = v[name]
		}
	}
	return fits
}

// propertyLike is the only property that has a name but for case and separators, and no value yet; "" if there is none.
func propertyLike(name string, s *jsonschema.Schema, taken map[string]any) (like string) {
	for property := range s.Properties {
		if _, is := taken[property]; is || bareName(property) != bareName(name) {
			continue
		}
		if like != "" {
			return ""
		}
		like = property
	}
	return like
}

// bareName is a name without case and separators.
func bareName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// forbidsOthers says whether a schema allows no other properties than those that it names.
func forbidsOthers(s *jsonschema.Schema) bool {
	others := s.AdditionalProperties
	return others != nil && others.Not != nil && s.PatternProperties == nil
}

func fittedText(text string, s *jsonschema.Schema) any {
	bare := strings.TrimSpace(text)
	if allows(s, "string") {
		for _, one := range s.Enum {
			if word, is := one.(string); is && strings.EqualFold(word, bare) {
				return word
			}
		}
		return text
	}
	if whole := allows(s, "integer"); whole || allows(s, "number") {
		n, err := strconv.ParseFloat(bare, 64)
		if err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
			return n // one that should be whole, and is not, does not fit
		}
	}
	if allows(s, "boolean") {
		for _, is := range []bool{true, false} {
			if strings.EqualFold(bare, strconv.FormatBool(is)) {
				return is
			}
		}
	}
	return text
}
