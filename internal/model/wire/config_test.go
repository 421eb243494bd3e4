package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/keys/cleartext"
	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// newClient is a Client with a header, a value in the address and fields of its own, before p.
func newClient(p provider, adjust ...func(*wire.Config, *wire.Protocol)) *wire.Client {
	spoken := protocol
	spoken.Query = map[string][]string{"alt": {"sse"}}
	spoken.Optional = []string{"limit", ""}
	spoken.EncodeTurn = func(req wire.Request) (any, error) {
		return map[string]any{"model": "m", "limit": req.MaxOutputTokens}, nil
	}
	spoken.ReadTurn = func(x *wire.Call, _ *http.Response) error { x.Done = true; return nil }
	spoken.List = func(x *wire.Call) ([]string, error) {
		return nil, x.GetList("models", nil, &struct{}{}, func() bool { return true })
	}
	c := wire.Config{
		Provider: "house", Model: "m", BaseURL: "https://house/v1?tenant=a", HTTPClient: &http.Client{Transport: p},
		MaxOutput: 300,
		Header:    map[string]string{"Api-Key": "canary-of-a-header", "Authorization": "Basic canary-of-a-password"},
		Query:     map[string]string{"api-version": "2024-10-21", "alt": "json"},
		Body: map[string]json.RawMessage{"model": json.RawMessage(`"other"`),
			"enable_thinking": json.RawMessage("false")},
	}
	for _, f := range adjust {
		f(&c, &spoken)
	}
	return wire.New(c, spoken)
}

func TestHeaderQueryAndBodyOfTheConfigReplaceTheProtocolsOwn(t *testing.T) {
	var got *http.Request
	var body string
	m := newClient(func(r *http.Request) (*http.Response, error) {
		text, err := io.ReadAll(r.Body)
		got, body = r, string(text)
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, err
	})
	assert.Must(m.Chat(t.Context(), model.Request{}, nil))(t)
	want := `{"enable_thinking":false,"limit":300,"model":"other"}`
	assert.That(t, body == want, "sent %s; want %s", body, want)
	check := func(query string) {
		t.Helper()
		assert.That(t, got.URL.RawQuery == query && got.Header.Get("Api-Key") == "canary-of-a-header" &&
			got.Header.Get("Authorization") == "Basic canary-of-a-password", "sent to %s with %v", got.URL, got.Header)
	}
	check("alt=json&api-version=2024-10-21&tenant=a")
	_, err := m.Chat(t.Context(), model.Request{MaxOutputTokens: 20}, nil)
	assert.That(t, err == nil && strings.Contains(body, `"limit":20`),
		"a request with a limit of its own: sent %s, %v", body, err)
	assert.Must(m.List(t.Context()))(t)
	check("alt=json&api-version=2024-10-21&tenant=a")
}

func TestHeaderOfTheConfigIsInNoError(t *testing.T) {
	said := `{"error":"canary-of-a-header and canary-of-a-password are wrong"}`
	_, err := newClient(answering(401, http.Header{}, said)).Chat(t.Context(), model.Request{}, nil)
	wantFailure(t, err, model.Auth, "[key] and [key] are wrong")
	assert.That(t, !strings.Contains(err.Error(), "canary"), "the error shows a header: %v", err)
}

func TestFieldsThatAreNoJSONAreInvalidAndNotSent(t *testing.T) {
	m := newClient(nil, func(c *wire.Config, _ *wire.Protocol) { c.Body["x"] = json.RawMessage(`{`) })
	resp, err := m.Chat(t.Context(), model.Request{}, nil)
	assert.That(t, model.KindOf(err) == model.Invalid && resp.Attempts == 0,
		"got %v after %d requests", err, resp.Attempts)
}

func TestFinalComplaintIsNotAskedAgainWithoutAField(t *testing.T) {
	m := newClient(answering(400, http.Header{}, "no limit here"), func(_ *wire.Config, p *wire.Protocol) {
		p.Classify = func(_ *wire.Call, _ int, c *wire.Complaint) { c.Kind, c.Final = model.Invalid, true }
	})
	resp, err := m.Chat(t.Context(), model.Request{}, nil)
	assert.That(t, model.KindOf(err) == model.Invalid && resp.Attempts == 1,
		"got %v after %d requests; want one", err, resp.Attempts)
}

func TestWordsThatAGatewayWasToldAreInTheError(t *testing.T) {
	said := `{"error":{"message":"Provider returned error","code":400,"metadata":{"provider_name":"Mistral",` +
		`"raw":"{\"object\":\"error\",\"message\":\"Unexpected role 'user' after role 'tool'\",\"code\":\"3230\"}"}}}`
	_, err := newClient(answering(400, http.Header{}, said)).Chat(t.Context(), model.Request{}, nil)
	wantFailure(t, err, model.Invalid, "Provider returned error: {")
	wantFailure(t, err, model.Invalid, "Unexpected role 'user' after role 'tool'")
}

// counting counts requests, and answers none.
type counting struct{ n *int }

func (c counting) RoundTrip(*http.Request) (*http.Response, error) {
	*c.n++
	return nil, errors.New("nobody is there")
}

func TestNoKeyAndNoHeaderGoesOverPlainHTTPToAnotherMachine(t *testing.T) {
	key := func(context.Context) (string, error) { return "sk-canary-0123456789", nil }
	for name, c := range map[string]struct {
		config wire.Config
		sent   int
	}{
		"a key":             {wire.Config{BaseURL: "http://llm.example/v1", Key: key}, 0},
		"a key, said local": {wire.Config{BaseURL: "http://192.168.1.5:8000/v1", Key: key, Local: true}, 0},
		"a header": {wire.Config{BaseURL: "http://llm.example/v1",
			Header: map[string]string{"X-Gateway": "canary"}}, 0},
		"no secret":    {wire.Config{BaseURL: "http://llm.example/v1"}, 1},
		"this machine": {wire.Config{BaseURL: "http://127.0.0.1:1/v1", Key: key}, 1},
		"over TLS":     {wire.Config{BaseURL: "https://llm.example/v1", Key: key}, 1},
		"a host that is trusted": {wire.Config{BaseURL: "http://llm.example/v1", Key: key,
			PlainHTTP: []string{"llm.example"}}, 1},
	} {
		sent := 0
		c.config.Provider, c.config.Model, c.config.HTTPClient = "house", "m", &http.Client{Transport: counting{&sent}}
		spoken := protocol
		spoken.EncodeTurn = func(wire.Request) (any, error) { return struct{}{}, nil }
		m := wire.New(c.config, spoken)
		for what, ask := range map[string]func() error{
			"a turn": func() error { _, err := m.Chat(t.Context(), model.Request{}, nil); return err },
			"an upload": func() error {
				_, err := m.UploadAudio(t.Context(), "audio",
					model.Audio{Name: "a.wav", Content: bytes.NewReader([]byte("x"))}, nil)
				return err
			},
		} {
			sent = 0
			err := ask()
			assert.That(t, sent == c.sent, "%s, %s: %d requests were sent, want %d: %v", name, what, sent, c.sent, err)
			assert.That(t, c.sent != 0 || (model.KindOf(err) == model.Invalid &&
				strings.Contains(err.Error(), cleartext.Setting) && !strings.Contains(err.Error(), "canary")),
				"%s, %s: got %v", name, what, err)
		}
	}
}
