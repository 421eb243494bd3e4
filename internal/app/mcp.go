package app

import (
	"context"

	"sibyl/internal/mcp"
)

// mcpSecret names what the questions and sessions of MCP are signed with.
const mcpSecret = "mcp"

// MCP readies the tools of the task list, of the assistants, and of reading inquiries.
func (a *App) MCP(ctx context.Context, build string, all mcp.Assistants) (*mcp.Server, error) {
	key, err := a.Database.Secret(ctx, mcpSecret)
	if err != nil {
		return nil, err
	}
	all.Service = a.Service
	return mcp.New(mcp.Config{Tasks: a.Tasks, Assistants: &all, Inquiry: a.Inquiry, Key: key, Build: build, Log: a.log,
		Now: a.Clock.Now})
}
