package wire_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

func TestArgumentsAreSentAsAnObjectThatLosesNothing(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"n":9007199254740993, "a":1}`: `{"n":9007199254740993, "a":1}`,
		"":                              "{}",
		" \t\n":                         "{}",
		"null":                          `{"not_an_object":"null"}`,
		`[1]`:                           `{"not_an_object":"[1]"}`,
		`{"a":`:                         `{"not_an_object":"{\"a\":"}`,
		"{\"a\":\"\xff\"}":              "{\"a\":\"\uFFFD\"}",
	} {
		assert.Equalf(t, string(wire.ArgumentsObject(arguments)), want, "%q became", arguments)
	}
}

func TestAnyArgumentsAreSentAsAnObjectInUTF8(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		arguments := string(rapid.SliceOf(rapid.Byte()).Draw(r, "arguments"))
		var fields map[string]any
		if got := wire.ArgumentsObject(arguments); json.Unmarshal(got, &fields) != nil || fields == nil || !utf8.Valid(got) {
			r.Fatalf("%q became %q", arguments, got)
		}
	})
}

func TestSchemaOfAToolSaysItsType(t *testing.T) {
	for schema, want := range map[string]string{"": `{"type":"object","properties":{}}`,
		`{"type":"object"}`:  `{"type":"object"}`,
		`{"required":["a"]}`: `{"required":["a"],"type":"object"}`} {
		got := wire.Parameters(model.Tool{Name: "f", Schema: json.RawMessage(schema)})
		assert.That(t, string(got) == want, "%q became %s; want %s", schema, got, want)
	}
}

func TestPlainIsWhatAFieldSays(t *testing.T) {
	for raw, want := range map[string]string{`"a\nb"`: "a\nb", "null": "", "": "", "429": "429", `{"a":1}`: `{"a":1}`} {
		got := wire.PlainText(json.RawMessage(raw))
		assert.That(t, got == want && wire.IsSet(json.RawMessage(raw)) == (want != ""), "%q says %q; want %q", raw, got, want)
	}
}

func TestFailedResultSaysSoInItsText(t *testing.T) {
	for failed, want := range map[bool]string{false: "found", true: "The tool failed: found"} {
		assert.Equalf(t, wire.ResultText(model.Message{Text: "found", IsError: failed}), want, "failed %v", failed)
	}
}

func TestSchemaIsStrictOnlyIfAllItsObjectsAreClosed(t *testing.T) {
	const closed = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	const open = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`
	const optional = `{"type":"object","properties":{"a":{}},"additionalProperties":false}`
	around := func(inner string) []string {
		return []string{
			inner, `{"type":"array","items":` + inner + `}`, `{"anyOf":[{"type":"null"},` + inner + `]}`,
			`{"$ref":"#/$defs/x","$defs":{"x":` + inner + `}}`,
			`{"type":"object","properties":{"b":` + inner + `},"required":["b"],"additionalProperties":false}`,
		}
	}
	for inner, want := range map[string]bool{closed: true, open: false, optional: false} {
		for _, schema := range around(inner) {
			got, err := wire.Check(model.Request{Schema: &model.Schema{Name: "x", JSON: json.RawMessage(schema)}})
			assert.That(t, err == nil && got.Strict == want, "%s: strict %v, %v; want %v", schema, got.Strict, err, want)
		}
	}
	for _, schema := range []string{"", "null", "[]", "{"} {
		_, err := wire.Check(model.Request{Schema: &model.Schema{Name: "x",
			JSON: json.RawMessage(schema)}})
		assert.That(t, err != nil, "%q was taken for a schema", schema)
	}
}
