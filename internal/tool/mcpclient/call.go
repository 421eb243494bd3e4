package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/tool"
)

// remote is a tool of a server.
type remote struct {
	session *Session
	name    string // on the server
	spec    tool.Spec
	check   *jsonschema.Resolved // nil: the server checks
}

// ownWrite is a writing tool of our own server. The server performs a write once for each key and owner, and keeps the
// key for good, in the transaction of the write. A used key returns the first result again and changes nothing, so a
// repeated call is performed exactly once, and a look-up (MetaLook) shows the result of a call that a crash
// interrupted. If it refuses, the key was never used, or its effect was undone since.
type ownWrite struct{ *remote }

// makeTools makes the tools of a listing that can be called. Of several with one name, the first is kept.
func (s *Session) makeTools(l Listing) (tools []tool.Tool) {
	seen := map[string]bool{}
	for _, o := range l {
		if o.Left == "" && s.cfg.Allow != nil && !slices.Contains(s.cfg.Allow, o.Name) {
			continue
		}
		spec, err := s.specOf(o)
		if err == nil && seen[spec.Name] {
			err = errors.New("the server lists another with this name")
		}
		if err != nil {
			s.left = append(s.left, Left{Tool: o.Name, Why: err.Error()})
			s.cfg.Log.Warn("a tool of an MCP server is left out", "server", s.cfg.Name, "tool", safeName(o.Name),
				"why", err)
			continue
		}
		seen[spec.Name] = true
		r := &remote{session: s, name: o.Name, spec: spec}
		if s.cfg.Own {
			if spec.Effect == tool.Once {
				tools = append(tools, ownWrite{r})
				continue
			}
		} else {
			r.check = resolveSchema(spec.Schema)
		}
		tools = append(tools, r)
	}
	return tools
}

// resolveSchema compiles a schema to check arguments against; nil if only its server understands it.
func resolveSchema(schema json.RawMessage) *jsonschema.Resolved {
	var s jsonschema.Schema
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return r
}

// Spec describes the tool.
func (r *remote) Spec() tool.Spec { return r.spec }

// Call calls the tool.
func (r *remote) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	return r.callWithMeta(ctx, call, mcp.Meta{})
}

// callWithMeta calls the tool with a _meta, to which it adds key and version.
func (r *remote) callWithMeta(ctx context.Context, call tool.Call, meta mcp.Meta) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, tool.AsError(err)
	}
	args, err := r.arguments(call)
	if err != nil {
		return tool.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.session.cfg.Timeout)
	defer cancel()
	p := &mcp.CallToolParams{Name: r.name, Arguments: args, Meta: meta}
	if call.Key != "" {
		p.Meta[tool.MetaKey] = call.Key
	}
	if !r.session.cfg.Own {
		return r.sendCall(ctx, p)
	}
	if call.Version != 0 {
		p.Meta[tool.MetaVersion] = call.Version
	}
	if call.Confirmation != nil {
		subject, err := tool.ConfirmationDigest(r.name, args, call.Version)
		if err != nil || subject != call.Confirmation.Digest {
			return tool.Result{}, tool.Errorf(tool.Denied, "ask the person again",
				"what was confirmed is not this call of %s", r.name)
		}
	}
	return r.callConfirmed(ctx, p, call.Confirmation)
}

// arguments returns the arguments of a call, checked as far as possible.
func (r *remote) arguments(call tool.Call) (json.RawMessage, error) {
	if r.spec.Effect == tool.Once && call.Key == "" {
		return nil, tool.Errorf(tool.Failed, "", "%s was called without an idempotency key", r.spec.Name)
	}
	args := bytes.TrimSpace(call.Args)
	if len(args) == 0 || string(args) == "null" {
		args = []byte("{}")
	}
	var given map[string]any
	if err := json.Unmarshal(args, &given); err != nil {
		return nil, tool.Errorf(tool.InvalidArgs, "send one JSON object", "the arguments must be one JSON object")
	}
	if r.check != nil {
		if err := r.check.Validate(given); err != nil {
			return nil, tool.Errorf(tool.InvalidArgs, "look at the schema of the arguments",
				"the arguments do not fit: %w", err)
		}
	}
	return args, nil
}

// sendCall sends a call to the server. If the connection was closed, the call was not sent, and is sent over a new one.
// If the server has forgotten the session, the call was not accepted, or it was running beside another call that found
// this out: it is sent again if it may be repeated.
func (r *remote) sendCall(ctx context.Context, p *mcp.CallToolParams) (tool.Result, error) {
	for first := true; ; first = false {
		link, err := r.session.ensureLink(ctx)
		if err != nil {
			return tool.Result{}, r.session.toolError(err)
		}
		res, err := link.CallTool(ctx, p)
		switch {
		case err == nil:
			return r.toResult(res)
		case ctx.Err() != nil:
			return tool.Result{}, r.withUnknownOutcome(tool.AsError(ctx.Err()))
		case errors.Is(err, mcp.ErrConnectionClosed), errors.Is(err, mcp.ErrSessionMissing):
			r.session.dropLink(link)
			unsent := errors.Is(err, mcp.ErrConnectionClosed)
			if first && (unsent || r.spec.Effect == tool.Repeatable || r.session.cfg.Own) {
				continue
			}
		}
		return tool.Result{}, r.withUnknownOutcome(r.session.toolError(err))
	}
}

// withUnknownOutcome adds to the error of a write without an answer that it may have taken effect.
func (r *remote) withUnknownOutcome(err *tool.Error) *tool.Error {
	if r.spec.Effect == tool.Once && slices.Contains([]tool.Kind{tool.Unavailable, tool.Timeout, tool.Cancelled},
		err.Kind) {
		err.Hint = "whether it took effect is not known"
	}
	return err
}

// Found looks the call up by its key.
func (o ownWrite) Found(ctx context.Context, call tool.Call) (tool.Result, bool, error) {
	res, err := o.callWithMeta(ctx, call, mcp.Meta{tool.MetaLook: true})
	if err == nil {
		return res, true, nil
	}
	switch tool.AsError(err).Kind {
	case tool.InvalidArgs, tool.NotFound, tool.Conflict, tool.Denied: // Call reports it
		return tool.Result{}, false, nil
	}
	return tool.Result{}, false, err
}

// toolError makes a *tool.Error of an error of the connection. Its words are the SDK's and the server's, without what
// was sent.
func (s *Session) toolError(err error) *tool.Error {
	if known, ok := errors.AsType[*tool.Error](err); ok {
		return known
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		known := tool.AsError(err)
		known.Message = s.cfg.Name + ": " + known.Message
		return known
	}
	const most = 300
	if rpcErr, ok := errors.AsType[*jsonrpc.Error](err); ok {
		switch rpcErr.Code {
		case jsonrpc.CodeInvalidParams:
			return tool.Errorf(tool.InvalidArgs, "look at the schema of the arguments", "%s: %s", s.cfg.Name,
				tool.Clip(rpcErr.Message, most))
		case jsonrpc.CodeInternalError, jsonrpc.CodeInvalidRequest, jsonrpc.CodeParseError:
			return tool.Errorf(tool.Failed, "", "%s: %s", s.cfg.Name, tool.Clip(rpcErr.Message, most))
		}
	}
	unavailable := &tool.Error{Kind: tool.Unavailable, Message: tool.Clip(s.cfg.Name+" does not answer: "+err.Error(),
		most), Err: err}
	if t, ok := s.transport.(interface{ complaint() string }); ok {
		if complaint := t.complaint(); complaint != "" {
			unavailable.Hint = "it said: " + tool.Clip(complaint, most)
		}
	}
	return unavailable
}
