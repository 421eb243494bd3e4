package ollama_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/ollama"
)

func over(client *http.Client) model.Model {
	return ollama.New(ollama.Config{Provider: "house", Model: "m", BaseURL: "http://house", HTTPClient: client})
}

func FuzzStream(f *testing.F) {
	modeltest.FuzzStreams(f, over,
		chunk("hi")+"\n"+done+"\n",
		chunk("hi")+"\r\n\r\n"+done,
		calls(`{"id":"a","function":{"name":"f","arguments":{"x":"\u003c \\u003e"}}},{"id":"a","function":{"name":"g"}}`)+"\n"+done,
		calls(`{"function":{"name":"f","arguments":"{\"x\":1}"}}`)+"\n"+done,
		`{"message":{"content":"half","thinking":"hm"}}`+"\n"+`{"error":"model crashed"}`,
		`{"done":true,"done_reason":"length","prompt_eval_count":3}`,
	)
}

// FuzzArguments checks that arguments mean the same after they were made easy to read.
func FuzzArguments(f *testing.F) {
	f.Add(`{"a":"\u003c\\u003c\\\u003E\u0026 \u00fc \" \/ <"}`)
	f.Add(`{"\u003c":[1e9,{"x":null}],"n":9007199254740993}`)
	f.Fuzz(func(t *testing.T, arguments string) {
		var want map[string]any
		if json.Unmarshal([]byte(arguments), &want) != nil || want == nil {
			t.Skip("no object")
		}
		line, err := json.Marshal(json.RawMessage(arguments))
		if err != nil {
			t.Skip("no JSON that a server could send")
		}
		resp, err := modeltest.ChatOver(t, over, func() io.Reader {
			return strings.NewReader(calls(`{"function":{"name":"f","arguments":`+string(line)+`}}`) + "\n" + done)
		})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(resp.ToolCalls[0].Arguments), &got); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%s became %s (%v)", arguments, resp.ToolCalls[0].Arguments, err)
		}
	})
}
