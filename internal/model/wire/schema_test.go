package wire

import (
	"encoding/json"
	"testing"
)

func TestSchemaIsSentInTheDialectOfItsServer(t *testing.T) {
	const whole = `{"$schema":"x","type":"object","properties":{"pattern":{"type":"string","maxLength":2048,"pattern":"^a$"},` +
		`"n":{"type":"integer","minimum":1,"maximum":9},"maxLength":{"type":"array","maxItems":5000,"items":{"type":"string","minLength":1,"maxLength":80}}},` +
		`"required":["pattern","n"],"additionalProperties":false}`
	for name, c := range map[string]struct {
		drop []string
		want string
	}{
		"as it is, but for what no grammar takes": {nil, `{"$schema":"x","type":"object","properties":{"pattern":{"type":"string","pattern":"^a$"},` +
			`"n":{"type":"integer","minimum":1,"maximum":9},"maxLength":{"type":"array","items":{"type":"string","minLength":1,"maxLength":80}}},` +
			`"required":["pattern","n"],"additionalProperties":false}`},
		"Claude": {Claude().Format, `{"type":"object","properties":{"pattern":{"type":"string"},"n":{"type":"integer"},` +
			`"maxLength":{"type":"array","items":{"type":"string"}}},"required":["pattern","n"],"additionalProperties":false}`},
		"Compatible": {Compatible().Format, `{"type":"object","properties":{"pattern":{"type":"string","pattern":"^a$"},` +
			`"n":{"type":"integer","minimum":1,"maximum":9},"maxLength":{"type":"array","items":{"type":"string"}}},` +
			`"required":["pattern","n"],"additionalProperties":false}`},
	} {
		if got := string(reduced(json.RawMessage(whole), c.drop, true)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestReducedSchemaKeepsWhatItDoesNotKnow(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type": "object",  "properties": {}}`:                              `{"type": "object",  "properties": {}}`,
		`{"properties":{"a":{"enum":["minLength",{"minLength":1}]}}}`:        `{"properties":{"a":{"enum":["minLength",{"minLength":1}]}}}`,
		`{"anyOf":[{"minLength":2},true],"const":{"minLength":3}}`:           `{"anyOf":[{},true],"const":{"minLength":3}}`,
		`{"items":[{"minLength":2}],"additionalProperties":{"minLength":1}}`: `{"items":[{}],"additionalProperties":{}}`,
		`{"minLength":`: `{"minLength":`,
	} {
		if got := string(reduced(json.RawMessage(schema), Claude().Format, true)); got != want {
			t.Errorf("%s becomes %s; want %s", schema, got, want)
		}
	}
	if got := string(reduced(json.RawMessage(`{"type":"object","anyOf":[{}],"properties":{"a":{"anyOf":[{}]}}}`), nil,
		false)); got != `{"type":"object","properties":{"a":{"anyOf":[{}]}}}` {
		t.Errorf("a union at the top becomes %s", got)
	}
}
