package mcpclient

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/tool"
)

// confirmationKey is the context key of the *tool.Confirmation of a call of our own server; nil if the person confirmed
// nothing. In the newest protocol, which our own server speaks, the server's questions come within the call.
type confirmationKey struct{}

// callConfirmed sends a call and answers the server's questions while it is running.
func (r *remote) callConfirmed(ctx context.Context, p *mcp.CallToolParams, c *tool.Confirmation) (tool.Result, error) {
	res, err := r.sendCall(context.WithValue(ctx, confirmationKey{}, c), p)
	switch {
	case !errors.Is(err, errUnconfirmed):
		return res, err
	case c == nil: // we declined; the person was not asked
		return res, tool.Errorf(tool.Denied, "ask the person first", "%s wants a yes of the person: %w",
			r.name, errUnconfirmed)
	}
	return res, tool.Errorf(tool.Conflict, "ask the person again",
		"what %s is about has changed since the person confirmed it", r.name)
}

// answerElicitation answers our own server's request for confirmation: yes if the person has confirmed this running
// call, and otherwise no. The digest is compared: it is of the tool, its arguments and the version.
func answerElicitation(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	digest, _ := req.Params.Meta[tool.MetaConfirms].(string)
	if c, _ := ctx.Value(confirmationKey{}).(*tool.Confirmation); c != nil && digest != "" && c.Digest == digest {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, nil
	}
	return &mcp.ElicitResult{Action: "decline"}, nil
}
