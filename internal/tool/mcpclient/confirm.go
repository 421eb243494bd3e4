package mcpclient

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/tool"
)

// confirmationKey is the key under which the context of a call of our own server holds its *tool.Confirmation, nil
// where the person confirmed nothing. The server's questions come within the call, by the newest protocol, which our
// own server speaks.
type confirmationKey struct{}

// callConfirmed sends a call and answers for the person while it goes on.
func (r *remote) callConfirmed(ctx context.Context, p *mcp.CallToolParams, c *tool.Confirmation) (tool.Result, error) {
	res, err := r.sendCall(context.WithValue(ctx, confirmationKey{}, c), p)
	switch {
	case !errors.Is(err, errUnconfirmed):
		return res, err
	case c == nil: // the server takes our no for the person's
		return res, tool.Errorf(tool.Denied, "ask the person first", "%s wants a yes of the person: %w",
			r.name, errUnconfirmed)
	}
	return res, tool.Errorf(tool.Conflict, "ask the person again",
		"what %s is about has changed since the person confirmed it", r.name)
}

// answerElicitation answers our own server's request for confirmation: yes to what the person confirmed for the call
// that goes on, no to all else. A digest names the tool, its arguments and the version.
func answerElicitation(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	asked, _ := req.Params.Meta[tool.MetaConfirms].(string)
	if c, _ := ctx.Value(confirmationKey{}).(*tool.Confirmation); c != nil && asked != "" && c.Digest == asked {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, nil
	}
	return &mcp.ElicitResult{Action: "decline"}, nil
}
