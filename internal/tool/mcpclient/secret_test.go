package mcpclient

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/keys/cleartext"
	"sibyl/internal/redact/redacttest"
	"sibyl/internal/tool"
)

func TestSecretsAreTakenOutBeforeAResultIsCut(t *testing.T) {
	for _, v := range redacttest.Vectors(t) {
		for _, before := range []int{0, tool.MaxText - 60, tool.MaxText - 200} {
			res := assert.Must(foreignTool().toResult(
				&mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", before) + "\n" +
					v.Text}}}))(t)
			for _, leak := range v.Leaks(res.Text) {
				t.Errorf("%s after %d bytes: %q is shown", v.Name, before, leak)
			}
		}
		_, err := foreignTool().toResult(&mcp.CallToolResult{IsError: true,
			Content: []mcp.Content{&mcp.TextContent{Text: v.Text}}})
		for _, leak := range v.Leaks(err.Error()) {
			t.Errorf("%s, as an error: %q is shown", v.Name, leak)
		}
	}
}

func TestNoKeyGoesOverPlainHTTPToAnotherMachine(t *testing.T) {
	for _, header := range []string{"", "X-Api-Key"} {
		sent := 0
		client := &http.Client{Transport: never{&sent}}
		_, err := Connect(t.Context(), HTTP(Address{URL: "http://wiki.test/mcp", Header: header, Client: client,
			Key: func(context.Context) (string, error) { return "canary-0123456789", nil }}), Config{Name: "wiki"})
		assert.That(t, err != nil && sent == 0 && strings.Contains(err.Error(), cleartext.Setting) &&
			!strings.Contains(err.Error(), "canary"), "with %q: %d requests, %v", header, sent, err)
		_, err = Connect(t.Context(),
			HTTP(Address{URL: "http://wiki.test/mcp", Client: client, PlainHTTP: []string{"wiki.test"},
				Key: func(context.Context) (string, error) { return "canary-0123456789", nil }}), Config{Name: "wiki"})
		assert.That(t, err != nil && sent != 0, "a host that is trusted: %d requests, %v", sent, err)
	}
}

// never answers no request.
type never struct{ sent *int }

func (n never) RoundTrip(*http.Request) (*http.Response, error) {
	*n.sent++
	return nil, errors.New("nobody is there")
}
