package ollama

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzArguments checks that arguments mean the same after they were made easy to read.
func FuzzArguments(f *testing.F) {
	f.Add(`{"a":"\u003c\\u003c\\\u003E\u0026 \u00fc \" \/ <"}`)
	f.Add(`{"\u003c":[1e9,{"x":null}],"n":9007199254740993}`)
	f.Fuzz(func(t *testing.T, arguments string) {
		var want, got map[string]any
		if json.Unmarshal([]byte(arguments), &want) != nil || want == nil {
			t.Skip("no object")
		}
		easy := argumentsText(json.RawMessage(arguments))
		if err := json.Unmarshal([]byte(easy), &got); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%s became %s (%v)", arguments, easy, err)
		}
	})
}
