package mcpclient

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/redact/redacttest"
	"sibyl/internal/tool"
)

func TestSecretsAreTakenOutBeforeAResultIsCut(t *testing.T) {
	for _, v := range redacttest.Vectors(t) {
		for _, before := range []int{0, tool.MaxText - 60, tool.MaxText - 200} {
			res, err := foreign().result(&mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", before) + "\n" + v.Text}}})
			if err != nil {
				t.Fatal(err)
			}
			for _, leak := range v.Leaks(res.Text) {
				t.Errorf("%s after %d bytes: %q is shown", v.Name, before, leak)
			}
		}
		_, err := foreign().result(&mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: v.Text}}})
		for _, leak := range v.Leaks(err.Error()) {
			t.Errorf("%s, as an error: %q is shown", v.Name, leak)
		}
	}
}
