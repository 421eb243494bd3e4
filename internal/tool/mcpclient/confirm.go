package mcpclient

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/tool"
)

// confirming is a call of our own server that goes on.
type confirming struct {
	call *tool.Confirmation // nil: the person confirmed nothing
}

// ofCall is the key under which the context of a call holds its confirming. In the newest protocol the server's questions come within the
// call; before, they come beside it.
type ofCall struct{}

// confirmed sends a call and answers for the person while it goes on.
func (r *remote) confirmed(ctx context.Context, p *mcp.CallToolParams, c *confirming) (tool.Result, error) {
	s := r.session
	s.mu.Lock()
	s.asking[c] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.asking, c)
		s.mu.Unlock()
	}()
	res, err := r.send(context.WithValue(ctx, ofCall{}, c), p)
	switch {
	case !errors.Is(err, errUnconfirmed):
		return res, err
	case c.call == nil: // the server takes our no for the person's
		return res, tool.Errorf(tool.Denied, "ask the person first", "%s wants a yes of the person: %w", r.name, errUnconfirmed)
	}
	return res, tool.Errorf(tool.Conflict, "ask the person again", "what %s is about has changed since the person confirmed it", r.name)
}

// elicit answers our own server's request for confirmation: yes to what the person confirmed for the call that goes on, no to all else.
func (s *Session) elicit(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	digest, _ := req.Params.Meta[tool.MetaConfirms].(string)
	if digest != "" && s.covers(ctx, digest) {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, nil
	}
	return &mcp.ElicitResult{Action: "decline"}, nil
}

// covers says whether the call that goes on is confirmed for this digest. A digest names the tool, its arguments and the version, so that
// it can't be another's.
func (s *Session) covers(ctx context.Context, digest string) bool {
	if c, within := ctx.Value(ofCall{}).(*confirming); within {
		return c.call != nil && c.call.Digest == digest
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.asking {
		if c.call != nil && c.call.Digest == digest {
			return true
		}
	}
	return false
}
