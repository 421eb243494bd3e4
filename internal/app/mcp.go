package app

import (
	"context"

	"sibyl/internal/mcp"
)

// mcpSecret names what the questions and sessions of MCP are signed with.
const mcpSecret = "mcp"

// MCP readies the tools of the task list and of the Inquiry, and ask if there is an Oracle for it. documents are the folders that a witness may be, by owner.
func (a *App) MCP(ctx context.Context, build string, ask *mcp.Oracle, documents func(owner string) map[string]string) (*mcp.Server, error) {
	key, err := a.shared.Secret(ctx, mcpSecret)
	if err != nil {
		return nil, err
	}
	inquiry := &mcp.Inquiry{Service: a.Service, Desk: a.Inquiry, Folders: documents}
	if ask != nil {
		inquiry.Begin = ask.Begin
	}
	return mcp.New(mcp.Config{Tasks: a.Tasks, Oracle: ask, Inquiry: inquiry, Key: key, Build: build, Log: a.log, Now: a.Clock.Now})
}
