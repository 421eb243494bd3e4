package app

import (
	"context"

	"sibyl/internal/mcp"
)

// mcpSecret names the key that signs MCP's questions and sessions.
const mcpSecret = "mcp"

// MCP creates the server with the tools of the task list, the assistants, and for reading inquiries.
func (a *App) MCP(ctx context.Context, build string, all mcp.Assistants) (*mcp.Server, error) {
	key, err := a.Database.Secret(ctx, mcpSecret)
	if err != nil {
		return nil, err
	}
	all.Service = a.Service
	return mcp.New(mcp.Config{Tasks: a.Tasks, Assistants: &all, Inquiry: a.Inquiry, Key: key, Build: build, Log: a.log,
		Now: a.Clock.Now})
}
