package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/model"
	"sibyl/internal/model/openai"
)

// body answers every request with the same event stream, read in its own way.
type body func() io.Reader

func (b body) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(b())}, nil
}

// FuzzStream checks that no stream breaks the contract, and that an answer does not depend on how it was split.
func FuzzStream(f *testing.F) {
	f.Add(delta("hi") + "\n\n" + stop + "\n\n" + done + "\n\n")
	f.Add(delta("hi") + "\r\n: note\r\n" + done)
	f.Add(calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},{"function":{"arguments":"}"}}`) + "\n" + stop)
	f.Add(calls(`{"id":"a","function":{"name":"f","arguments":{"x":1}}},{"id":"a","function":{"name":"g"}}`) + "\n" + done)
	f.Add(delta("half") + "\ndata: {\"error\":{\"message\":\"x\",\"code\":429}}\n")
	f.Add("{\"error\":\"x\"}")
	f.Add("data: {\"choices\":[{\"message\":{\"content\":\"hi\",\"refusal\":\"no\"}}],\"usage\":{}}\n")
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
	m := openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: "http://house/v1", HTTPClient: &http.Client{Transport: b}})
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
