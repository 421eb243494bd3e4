package gemini_test

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
	"sibyl/internal/model/gemini"
)

// body answers every request with the same event stream, read in its own way.
type body func() io.Reader

func (b body) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(b())}, nil
}

// FuzzStream checks that no stream breaks the contract, that an answer does not depend on how it was split, and that a
// turn can be sent back.
func FuzzStream(f *testing.F) {
	f.Add(text("hi") + "\r\n\r\n" + stop + "\r\n\r\n")
	f.Add(text("hi") + "\n: note\n" + stop)
	f.Add(parts(`{"functionCall": {"name": "f","args": {"x": [1, 2]}}}`, `{"functionCall": {"id": "a","name": "f"}}`) + "\n" + stop)
	f.Add(parts(`{"text": "x","thought": true,"thoughtSignature": "QQ=="}`) + "\n" + finish("MALFORMED_FUNCTION_CALL"))
	f.Add(text("half") + "\ndata: {\"error\": {\"code\": 429, \"details\": [{\"@type\": \"x/google.rpc.RetryInfo\", \"retryDelay\": \"1s\"}]}}\n")
	f.Add(text("half") + "\n[{\n\"error\": {\"code\": \"503\"}}\n]")
	f.Add("data: {\"promptFeedback\": {\"blockReason\": \"SAFETY\"}, \"usageMetadata\": {}}\n")
	f.Add("<html>")
	f.Fuzz(func(t *testing.T, stream string) {
		whole, wholeErr := chatOver(t, func() io.Reader { return strings.NewReader(stream) })
		bytewise, bytewiseErr := chatOver(t, func() io.Reader { return iotest.OneByteReader(strings.NewReader(stream)) })
		madeUp := cmpopts.IgnoreFields(model.ToolCall{}, "ID")
		if diff := cmp.Diff(whole, bytewise, madeUp); diff != "" || model.KindOf(wholeErr) != model.KindOf(bytewiseErr) {
			t.Errorf("whole %v, byte by byte %v (-whole +bytewise):\n%s", wholeErr, bytewiseErr, diff)
		}
	})
}

func chatOver(t *testing.T, b body) (model.Response, error) {
	m := gemini.New(gemini.Config{Provider: "google", Model: "m", BaseURL: "http://house/v1beta", HTTPClient: &http.Client{Transport: b}})
	var emitted strings.Builder
	resp, err := m.Chat(t.Context(), hello(), func(d model.Delta) error { emitted.WriteString(d.Text); return nil })
	if emitted.String() != resp.Text {
		t.Errorf("emitted %q, text %q", emitted.String(), resp.Text)
	}
	ids := map[string]bool{"": true}
	for _, c := range resp.ToolCalls {
		if ids[c.ID] || c.Name == "" || strings.TrimSpace(c.Arguments) == "" {
			t.Errorf("call %+v among %+v", c, resp.ToolCalls)
		}
		ids[c.ID] = true
	}
	if err != nil {
		var e *model.Error
		if !errors.As(err, &e) || e.Kind == "" || e.Model != "google:m" || len(e.Message) > 600 {
			t.Errorf("error %#v", err)
		}
		return resp, err
	}
	if resp.Finish == "" {
		t.Errorf("no finish: %+v", resp)
	}
	if _, err := m.Chat(t.Context(), followUp(resp), nil); model.KindOf(err) == model.Invalid {
		t.Errorf("the turn cannot be sent back: %v", err)
	}
	return resp, nil
}
