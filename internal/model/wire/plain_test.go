package wire_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/keys/cleartext"
	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

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
