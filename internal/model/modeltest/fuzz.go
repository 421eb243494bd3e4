package modeltest

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
)

// Connect makes a model that asks over client.
type Connect func(client *http.Client) model.Model

// FuzzStreams checks that no stream breaks the contract, that an answer does not depend on how it was split, and that a whole
// turn can be sent back.
func FuzzStreams(f *testing.F, connect Connect, seeds ...string) {
	for _, seed := range append(seeds, "<html>") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		whole, wholeErr := ChatOver(t, connect, func() io.Reader { return strings.NewReader(stream) })
		bytewise, bytewiseErr := ChatOver(t, connect, func() io.Reader { return iotest.OneByteReader(strings.NewReader(stream)) })
		madeUp := cmp.Options{cmpopts.IgnoreFields(model.ToolCall{}, "ID")}
		if len(whole.ToolCalls) > 0 { // whose ids may be in it
			madeUp = append(madeUp, cmpopts.IgnoreFields(model.Response{}, "Native"))
		}
		if diff := cmp.Diff(whole, bytewise, madeUp); diff != "" || model.KindOf(wholeErr) != model.KindOf(bytewiseErr) {
			t.Errorf("whole %v, byte by byte %v (-whole +bytewise):\n%s", wholeErr, bytewiseErr, diff)
		}
	})
}

// ChatOver is the answer of a model whose provider streams what body gives, checked for what the contract promises of any.
func ChatOver(t *testing.T, connect Connect, body func() io.Reader) (model.Response, error) {
	t.Helper()
	m := connect(&http.Client{Transport: stream(body)})
	var emitted strings.Builder
	req := question()
	resp, err := m.Chat(t.Context(), req, func(d model.Delta) error { emitted.WriteString(d.Text); return nil })
	if emitted.String() != resp.Text {
		t.Errorf("emitted %q, text %q", emitted.String(), resp.Text)
	}
	if err != nil {
		var e *model.Error
		if !errors.As(err, &e) || e.Kind == "" || e.Model != m.ID() || len(e.Message) > 600 {
			t.Errorf("error %#v", err)
		}
		return resp, err
	}
	if resp.Finish == "" {
		t.Errorf("no finish: %+v", resp)
	}
	req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: resp.Text, ToolCalls: resp.ToolCalls, Native: resp.Native})
	ids := map[string]bool{"": true}
	for _, c := range resp.ToolCalls {
		if ids[c.ID] || c.Name == "" || strings.TrimSpace(c.Arguments) == "" {
			t.Errorf("call %+v among %+v", c, resp.ToolCalls)
		}
		ids[c.ID] = true
		req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, ToolCallID: c.ID, ToolName: c.Name, Text: "found"})
	}
	if _, err := m.Chat(t.Context(), req, nil); model.KindOf(err) == model.Invalid {
		t.Errorf("the turn cannot be sent back: %v", err)
	}
	return resp, nil
}

// stream answers every request with what it gives, read in its own way.
type stream func() io.Reader

func (s stream) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(s())}, nil
}
