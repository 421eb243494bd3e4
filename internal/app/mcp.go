package app

import (
	"context"

	"sibyl/internal/mcp"
)

// mcpSecret names what the questions and sessions of MCP are signed with.
const mcpSecret = "mcp"

// MCP readies the tools of the task list, and ask if there is an Oracle for it.
func (a *App) MCP(ctx context.Context, build string, ask *mcp.Oracle) (*mcp.Server, error) {
	key, err := a.shared.Secret(ctx, mcpSecret)
	if err != nil {
		return nil, err
	}
	return mcp.New(mcp.Config{Tasks: a.Tasks, Oracle: ask, Key: key, Build: build, Log: a.log, Now: a.Clock.Now})
}
