package ollama_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/model"
	"sibyl/internal/model/ollama"
)

// body answers every request with the same stream, read in its own way.
type body func() io.Reader

func (b body) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(b())}, nil
}

// FuzzStream checks that no stream breaks the contract, that an answer does not depend on how it was split, and that
// its tool calls mean what was sent.
func FuzzStream(f *testing.F) {
	f.Add(chunk("hi") + "\n" + done + "\n")
	f.Add(chunk("hi") + "\r\n\r\n" + done)
	f.Add(calls(`{"id":"a","function":{"name":"f","arguments":{"x":"\u003c \\u003e"}}},{"id":"a","function":{"name":"g"}}`) + "\n" + done)
	f.Add(calls(`{"function":{"name":"f","arguments":"{\"x\":1}"}}`) + "\n" + done)
	f.Add(`{"message":{"content":"half","thinking":"hm"}}` + "\n" + `{"error":"model crashed"}`)
	f.Add(`{"done":true,"done_reason":"length","prompt_eval_count":3}`)
	f.Add("<html>")
	f.Fuzz(func(t *testing.T, text string) {
		whole, wholeErr := chatOver(t, func() io.Reader { return strings.NewReader(text) })
		bytewise, bytewiseErr := chatOver(t, func() io.Reader { return iotest.OneByteReader(strings.NewReader(text)) })
		madeUp := cmpopts.IgnoreFields(model.ToolCall{}, "ID")
		if diff := cmp.Diff(whole, bytewise, madeUp); diff != "" || model.KindOf(wholeErr) != model.KindOf(bytewiseErr) {
			t.Errorf("whole %v, byte by byte %v (-whole +bytewise):\n%s", wholeErr, bytewiseErr, diff)
		}
	})
}

func chatOver(t *testing.T, b body) (model.Response, error) {
	m := ollama.New(ollama.Config{Provider: "house", Model: "m", BaseURL: "http://house", HTTPClient: &http.Client{Transport: b}})
	var emitted strings.Builder
	resp, err := m.Chat(t.Context(), hello(), func(d model.Delta) error { emitted.WriteString(d.Text); return nil })
	if emitted.String() != resp.Text {
		t.Errorf("emitted %q, text %q", emitted.String(), resp.Text)
	}
	if err != nil {
		var e *model.Error
		if !errors.As(err, &e) || e.Kind == "" || e.Model != "house:m" || len(e.Message) > 600 {
			t.Errorf("error %#v", err)
		}
		return resp, err
	}
	ids := map[string]bool{"": true}
	for _, c := range resp.ToolCalls {
		if ids[c.ID] || c.Name == "" || strings.TrimSpace(c.Arguments) == "" {
			t.Errorf("call %+v among %+v", c, resp.ToolCalls)
		}
		ids[c.ID] = true
	}
	if resp.Finish == "" {
		t.Errorf("no finish: %+v", resp)
	}
	return resp, nil
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
		resp, err := chatOver(t, func() io.Reader {
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
