package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tracker is an MCP server of others, on standard streams. TRACKER_TOOLS names its tools, which say their name and what
// they were given.
func tracker() {
	server := mcp.NewServer(&mcp.Implementation{Name: "tracker", Version: "1"}, nil)
	names := strings.Fields(os.Getenv("TRACKER_TOOLS"))
	if len(names) == 0 {
		fmt.Fprintln(os.Stderr, "TRACKER_TOOLS names no tool")
		os.Exit(1)
	}
	for _, name := range names {
		server.AddTool(&mcp.Tool{Name: name, Description: "Does " + name + " \x1b[31m.",
			InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: name == "search"}},
			func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + " " +
					string(req.Params.Arguments)}}}, nil
			})
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(0)
}
