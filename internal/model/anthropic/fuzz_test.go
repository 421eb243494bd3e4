package anthropic_test

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
	"sibyl/internal/model/anthropic"
)

// body answers every request with the same event stream, read in its own way.
type body func() io.Reader

func (b body) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(b())}, nil
}

// FuzzStream checks that no stream breaks the contract, and that an answer does not depend on how it was split.
func FuzzStream(f *testing.F) {
	f.Add(start + begin(0, textBlock) + textDelta(0, "hi") + end(0) + finish("end_turn") + stop)
	f.Add(thinkingAnswer().Raw.Body)
	f.Add(start + begin(0, toolBlock("", "f")) + argumentsDelta(0, "{") + ": note\r\n" + finish("refusal") + stop)
	f.Add(start + begin(0, textBlock) + textDelta(0, "half") + event("error", `"error":{"type":"overloaded_error","message":"x"}`))
	f.Add(start + event("weather", `"delta":7`) + begin(3, `"type":"x"`) + textDelta(3, "leak") + textDelta(4, "lost"))
	f.Add("{\"error\":\"x\"}")
	f.Add("<html>")
	f.Fuzz(func(t *testing.T, text string) {
		whole, wholeErr := chatOver(t, func() io.Reader { return strings.NewReader(text) })
		bytewise, bytewiseErr := chatOver(t, func() io.Reader { return iotest.OneByteReader(strings.NewReader(text)) })
		madeUp := []cmp.Option{cmpopts.IgnoreFields(model.ToolCall{}, "ID"), cmpopts.IgnoreFields(model.Response{}, "Native")}
		if diff := cmp.Diff(whole, bytewise, madeUp...); diff != "" || model.KindOf(wholeErr) != model.KindOf(bytewiseErr) {
			t.Errorf("whole %v, byte by byte %v (-whole +bytewise):\n%s", wholeErr, bytewiseErr, diff)
		}
	})
}

func chatOver(t *testing.T, b body) (model.Response, error) {
	m := anthropic.New(anthropic.Config{
		Provider: "house", Model: "m", BaseURL: "http://house", HTTPClient: &http.Client{Transport: b},
	})
	var emitted strings.Builder
	resp, err := m.Chat(t.Context(), hello(), func(d model.Delta) error { emitted.WriteString(d.Text); return nil })
	if emitted.String() != resp.Text {
		t.Errorf("emitted %q, text %q", emitted.String(), resp.Text)
	}
	if err != nil {
		var e *model.Error
		if !errors.As(err, &e) || e.Kind == "" || e.Model != "house:m" || len(e.Message) > 600 || resp.Native != nil {
			t.Errorf("error %#v, native %v", err, resp.Native)
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
	if resp.Finish == "" || (resp.Native != nil && !json.Valid(resp.Native.Turn)) {
		t.Errorf("finish %q, native %v", resp.Finish, resp.Native)
	}
	return resp, nil
}
