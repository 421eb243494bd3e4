package wire_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// provider answers every request in memory.
type provider func(*http.Request) (*http.Response, error)

func (p provider) RoundTrip(r *http.Request) (*http.Response, error) { return p(r) }

// answering is a provider that gives every request this answer.
func answering(status int, header http.Header, body string) provider {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

var protocol = wire.Protocol{
	ExampleURL: "http://host.example", URLForm: "http://host", URLHint: "it is short", Accept: "text/odd",
	Header:   wire.Bearer,
	ChatPath: "chat", Classify: classifyByStatus,
}

// open begins an exchange with p that ends with the test.
func open(t testing.TB, p provider, adjust ...func(*wire.Config, *wire.Protocol)) *wire.Call {
	t.Helper()
	spoken := protocol
	c := wire.Config{Provider: "house", Model: "m", BaseURL: "https://house/v1?tenant=a",
		HTTPClient: &http.Client{Transport: p}}
	for _, f := range adjust {
		f(&c, &spoken)
	}
	x := assert.Must(wire.New(c, spoken).Open(t.Context()))(t)
	t.Cleanup(x.Close)
	return x
}

func withKey(key string) func(*wire.Config, *wire.Protocol) {
	return func(c *wire.Config, _ *wire.Protocol) {
		c.Key = func(context.Context) (string, error) { return key, nil }
	}
}

// classifyByStatus goes by the status alone.
func classifyByStatus(_ *wire.Call, status int, c *wire.Complaint) { c.Kind = wire.StatusKind(status) }

// getAndRead asks for path, of which nothing but the error is of interest.
func getAndRead(x *wire.Call, path string) error {
	resp, err := x.Get(path, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// wantFailure is err as the adapters promise it.
func wantFailure(t testing.TB, err error, kind model.Kind, says string) model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Model != "house:m" || !strings.Contains(e.Message, says) {
		t.Errorf("got %v; want kind %s, saying %q", err, kind, says)
		return model.Error{}
	}
	return *e
}
