package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/journal"
	"sibyl/internal/schema"
	"sibyl/internal/server/user"
	"sibyl/internal/task"
	"sibyl/internal/tool"
)

// What a request may say in its _meta.
const (
	MetaKey      = tool.MetaKey      // a text: an idempotency key
	MetaVersion  = tool.MetaVersion  // a number: the version of the task that the caller saw
	MetaLook     = tool.MetaLook     // true: nothing is to be done, but to give the first result of the key
	MetaConfirms = tool.MetaConfirms // of a question that this server asks: what a yes confirms
)

// mostKey bounds an idempotency key, in bytes.
const mostKey = 200

// offer is a tool and the function that performs its calls.
type offer struct {
	spec     *sdk.Tool
	database bool // an error that is not known comes from the database
	begins   bool // a call begins a run
	call     func(ctx context.Context, c call) (*sdk.CallToolResult, error)
	schema   []byte // of the arguments
}

// call is one invocation.
type call struct {
	by      task.By
	version int64 // of the task that the caller saw; 0: any
	look    bool  // for what was done under the key
	req     *sdk.CallToolRequest
}

// newOffer makes a tool of a function; its types describe arguments and result. text is the result in words for a
// person.
func newOffer[In, Out any](
	s tool.Spec, do func(ctx context.Context, c call, in In) (data Out, text string, err error),
) offer {
	arguments := schema.Of[In]()
	o := described(s, arguments.JSON(), schema.Result[Out]())
	o.call = func(ctx context.Context, c call) (*sdk.CallToolResult, error) {
		in := arguments.New(nil).(*In) //nolint:forcetypeassert // it is of In
		if err := arguments.Decode(c.req.Params.Arguments, in); err != nil {
			return nil, err
		}
		data, text, err := do(ctx, c, *in)
		if err != nil {
			return nil, err
		}
		return successResult(data, text)
	}
	return o
}

// described returns a tool without a handler; data is the JSON Schema of a success.
func described(s tool.Spec, arguments any, data json.RawMessage) offer {
	hints := s.MCPHints()
	return offer{spec: &sdk.Tool{Name: s.Name, Title: s.Title, Description: s.Description, InputSchema: arguments,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: hints.ReadOnly, DestructiveHint: &hints.Destructive,
			IdempotentHint: hints.Idempotent, OpenWorldHint: &hints.OpenWorld},
		// What a failure has, error, code and details, is the same for all tools, and in docs/mcp.md: it would be half
		// of the list.
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"success":{"type":"boolean"},"data":` +
			string(data) + `},"required":["success"]}`),
	}}
}

// reads reports whether a read-only token may call the tool.
func (o offer) reads() bool { return o.spec != nil && o.spec.Annotations.ReadOnlyHint && !o.begins }

// handler returns the function that performs the calls of a tool.
func (s *Server) handler(o offer, owner, actor string) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (res *sdk.CallToolResult, err error) {
		defer func() {
			if thrown := recover(); thrown != nil { // what was thrown may hold words of a person
				s.config.Log.LogAttrs(ctx, slog.LevelError, "a tool panicked", slog.String("tool", o.spec.Name),
					slog.String("panic", fmt.Sprintf("%T", thrown)), slog.String("stack", string(debug.Stack())))
				res, err = faultResult(faultOf(errors.New("it panicked"), false)), nil
			}
		}()
		req.Params.Arguments = withoutSlips(req.Params.Arguments, o.schema)
		c, err := s.read(o, owner, actor, req)
		if err == nil && c.look {
			err = s.checkKeyUsed(ctx, c)
		}
		if err == nil {
			res, err = o.call(ctx, c)
		}
		if question, ok := errors.AsType[questionResult](err); ok {
			return question.CallToolResult, nil
		}
		if err == nil {
			return res, nil
		}
		if gone := ctx.Err(); gone != nil && errors.Is(err, gone) {
			return nil, gone // nobody waits for a result
		}
		f := faultOf(err, o.database)
		s.logFault(ctx, o.spec.Name, f)
		return faultResult(f), nil
	}
}

// read parses and checks a request.
func (s *Server) read(o offer, owner, actor string, req *sdk.CallToolRequest) (c call, err error) {
	c = call{by: task.By{Owner: owner, Actor: actor}, req: req}
	if actor == "" {
		c.by.Actor = actorOf(req)
	}
	if key, ok := req.Params.Meta[MetaKey]; ok {
		text, is := key.(string)
		if !is || text == "" || len(text) > mostKey || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return c, invalid("_meta."+MetaKey, fmt.Sprintf("must be a text of 1 to %d bytes", mostKey))
		}
		c.by.Key = text
	}
	if version, ok := req.Params.Meta[MetaVersion]; ok {
		n, is := version.(float64)
		if !is || n < 1 || n != math.Trunc(n) {
			return c, invalid("_meta."+MetaVersion, "must be a whole number from 1 on")
		}
		c.version = int64(n)
	}
	if look, ok := req.Params.Meta[MetaLook]; ok {
		if c.look, ok = look.(bool); !ok || c.by.Key == "" || !o.database {
			return c, invalid("_meta."+MetaLook, "must be true or false, beside "+MetaKey+", for a tool of tasks")
		}
	}
	return c, nil
}

// checkKeyUsed returns task.ErrNotFound unless the key of a call has been used.
func (s *Server) checkKeyUsed(ctx context.Context, c call) error {
	was, err := s.config.Tasks.Made(ctx, c.by)
	if err == nil && !was {
		err = task.ErrNotFound
	}
	return err
}

// mostActor bounds the name that a client gives itself, in bytes.
const mostActor = 80

// actorOf returns the actor for changes that a client makes.
func actorOf(req *sdk.CallToolRequest) string {
	name := ""
	if c := req.ClientInfo(); c != nil {
		name = strings.Join(strings.Fields(journal.Clean(c.Name)), " ")
	}
	if name == "" {
		return "mcp"
	}
	return "mcp: " + tool.Clip(name, mostActor)
}

// readsOnly reports whether a request's token may only read. Without a token, the transport has decided that.
func readsOnly(req sdk.Request) bool {
	extra := req.GetExtra()
	return extra != nil && extra.TokenInfo != nil && !slices.Contains(extra.TokenInfo.Scopes, string(user.Write))
}

// absent lists the features that are not advertised, though the SDK would answer for them.
const absent = "prompts resources completion logging"

// guard limits a read-only token to tools that read. An unknown tool is refused without repeating its name.
func (s *Server) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if feature, _, ok := strings.Cut(method, "/"); ok && slices.Contains(strings.Fields(absent), feature) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound,
				Message: "this server offers tools, and nothing else"}
		}
		params, calls := req.GetParams().(*sdk.CallToolParamsRaw)
		if calls && !s.byName[params.Name].reads() && readsOnly(req) {
			return faultResult(&Fault{Code: Forbidden, Text: "The token may only read. Take one with the scope write.",
				Details: map[string]any{"scope": string(user.Write)}}), nil
		}
		res, err := next(ctx, method, req)
		if wrong, ok := errors.AsType[*jsonrpc.Error](err); calls && ok &&
			wrong.Message == fmt.Sprintf("unknown tool %q", params.Name) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
				Message: "unknown tool: tools/list has those there are"}
		}
		if list, ok := res.(*sdk.ListToolsResult); ok && err == nil && readsOnly(req) {
			list.Tools = slices.DeleteFunc(list.Tools, func(t *sdk.Tool) bool { return !s.byName[t.Name].reads() })
		}
		return res, err
	}
}
