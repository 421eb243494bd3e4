package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Check names everything that is wrong with the JSON text of a session: what Validate names, and what only the schema can tell, such as a member that is
// missing or a value of another type. None is nil.
//
// Whether the text is of the schema is google/jsonschema-go's to say, which costs a program nothing when it starts. It stops at the first fault, so what
// people read comes from the rules and from a walk of our own.
func Check(content []byte) []Violation {
	var value any
	s, err := Unmarshal(content)
	if json.Unmarshal(content, &value) != nil { // Unmarshal says what is wrong with it; a byte order mark is no JSON
		if err == nil {
			err = fmt.Errorf("the session begins with a byte order mark")
		}
		return []Violation{{Rule: RuleForm, Problem: err.Error()}}
	}
	sc, broken := resolved()
	if broken != nil {
		return []Violation{{Rule: RuleForm, Problem: broken.Error()}}
	}
	w := walk{root: sc.Schema()}
	w.value("", w.root, value)
	switch {
	case err == nil:
		w.all = append(w.all, slices.DeleteFunc(s.Validate(), w.names)...)
	case len(w.all) == 0:
		w.add("", "%v", err)
	}
	if len(w.all) == 0 {
		if err := sc.Validate(value); err != nil {
			w.add("", "%v", err)
		}
	}
	return w.all
}

// resolved is the schema, ready to check with. That takes milliseconds.
var resolved = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(Schema(), &s); err != nil {
		return nil, fmt.Errorf("docs/inquiry.schema.json can't be read: %w", err)
	}
	return s.Resolve(nil)
})

// walk finds what is lost when a text is read into a Session: members that are missing, and values of another type.
type walk struct {
	root *jsonschema.Schema
	all  []Violation
}

func (w *walk) add(path, format string, args ...any) {
	w.all = append(w.all, Violation{Path: path, Rule: RuleForm, Problem: fmt.Sprintf(format, args...)})
}

// names says whether a violation is of a value that is known to be missing or of another type, or of a part of one.
func (w *walk) names(v Violation) bool {
	return slices.ContainsFunc(w.all, func(known Violation) bool {
		rest, part := strings.CutPrefix(v.Path, known.Path)
		return known.Rule == RuleForm && part && (rest == "" || known.Path == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// below is the path of a member.
func below(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

func (w *walk) value(path string, s *jsonschema.Schema, value any) {
	if name, ok := strings.CutPrefix(s.Ref, "#/definitions/"); ok {
		s = w.root.Definitions[name]
	}
	if s.Type != "" && !isOf(s.Type, value) {
		w.add(path, "%s stands where %s is expected", kindOf(value), expected[s.Type])
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, there := value[name]; !there {
				w.add(below(path, name), "it is missing")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if member, there := value[name]; there {
				w.value(below(path, name), s.Properties[name], member)
			}
		}
	case []any:
		if s.MinItems != nil && len(value) < *s.MinItems || s.MaxItems != nil && len(value) > *s.MaxItems {
			w.add(path, "it has %d values", len(value))
		}
		for i, one := range value {
			if s.Items != nil {
				w.value(fmt.Sprintf("%s[%d]", path, i), s.Items, one)
			}
		}
	}
}

// expected are the types of a schema in words.
var expected = map[string]string{"object": "an object", "array": "a list", "string": "a text", "boolean": "true or false", "number": "a number", "integer": "a whole number"}

func isOf(want string, value any) bool {
	n, isNumber := value.(float64)
	switch want {
	case "integer":
		return isNumber && n == math.Trunc(n)
	case "number":
		return isNumber
	}
	return kindOf(value) == expected[want]
}

// kindOf is what a value is, in words.
func kindOf(value any) string {
	switch value.(type) {
	case map[string]any:
		return expected["object"]
	case []any:
		return expected["array"]
	case string:
		return expected["string"]
	case bool:
		return expected["boolean"]
	case nil:
		return "nothing (null)"
	}
	return expected["number"]
}
