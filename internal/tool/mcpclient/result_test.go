package mcpclient

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/keys/cleartext"
	"sibyl/internal/redact/redacttest"
	"sibyl/internal/tool"
)

func foreignTool() *remote {
	return &remote{session: &Session{cfg: Config{Name: "shelf", Source: "mcp", Foreign: true}}, name: "look",
		spec: tool.Spec{Name: "shelf__look", Title: "Look"}}
}

func TestWhatIsNoTextIsNamed(t *testing.T) {
	res, err := foreignTool().toResult(&mcp.CallToolResult{Content: []mcp.Content{
		&mcp.TextContent{Text: "one"},
		&mcp.ImageContent{MIMEType: "image/png", Data: []byte("12345")},
		&mcp.AudioContent{Data: []byte("12")},
		&mcp.ResourceLink{URI: "https://a.test/x", Name: "x"},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a.txt", Text: "inside"}},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///b.bin", Blob: []byte("1234"),
			MIMEType: "application/x"}},
	}})
	want := "one\n[a picture, image/png, 5 bytes, not shown]\n[a recording, of no stated kind, 2 bytes, not " +
		"played]\n[a link to x: https://a.test/x]\ninside\n" +
		"[a file, application/x, 4 bytes, not shown: file:///b.bin]"
	diff := cmp.Diff(want, res.Text)
	assert.That(t, diff == "" && err == nil && res.Items == 6, "%v, %d items\n%s", err, res.Items, diff)
	refs := []tool.Ref{{Source: "mcp", Path: "shelf/look", Title: "Look", Opened: true},
		{Source: "mcp", URL: "https://a.test/x", Title: "x"},
		{Source: "mcp", URL: "file:///a.txt", Opened: true}}
	assert.Same(t, refs, res.Refs)
}

func TestResultsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 3*tool.MaxText)
	res, err := foreignTool().toResult(&mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: long}},
		StructuredContent: map[string]any{"x": long}})
	assert.That(t, err == nil && len(res.Text) <= tool.MaxText && len(res.Text) >= tool.MaxText/2 && res.Data == nil &&
		res.Truncated, "%v: %d bytes of text, %d of data, truncated %v", err, len(res.Text), len(res.Data), res.Truncated)
	_, err = foreignTool().toResult(&mcp.CallToolResult{IsError: true,
		Content: []mcp.Content{&mcp.TextContent{Text: long}}})
	if kindOfError(err) != tool.Failed || len(err.Error()) > 4<<10 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

func TestDataStandForATextThatIsMissing(t *testing.T) {
	res, err := foreignTool().toResult(&mcp.CallToolResult{StructuredContent: map[string]any{"n": 1}})
	assert.That(t, err == nil && res.Text == `{"n":1}` && res.Items == 1, "%+v, %v", res, err)
}

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
