package mcpclient

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// InProcess connects to a server of this process, over the same messages as from outside. It can connect any number of times.
func InProcess(server *mcp.Server) mcp.Transport { return inProcess{server} }

type inProcess struct{ server *mcp.Server }

// Connect connects the server, and then us to it.
func (p inProcess) Connect(ctx context.Context) (mcp.Connection, error) {
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := p.server.Connect(ctx, theirs, nil); err != nil {
		return nil, fmt.Errorf("connect the server: %w", err)
	}
	return ours.Connect(ctx)
}
