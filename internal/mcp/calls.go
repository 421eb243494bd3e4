package mcp

import (
	"context"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// endingWith withdraws the calls of a server when ctx is done: the SDK would wait for them.
func endingWith(ctx context.Context) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(call context.Context, method string, req sdk.Request) (sdk.Result, error) {
			call, cancel := context.WithCancel(call)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			return next(call, method, req)
		}
	}
}

// calls are those that are under way, by the ids of their sessions.
type calls struct {
	mu sync.Mutex
	of map[string]map[*context.CancelFunc]bool
}

// counted lets the calls of a session be withdrawn together.
func (c *calls) counted(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		id := req.GetSession().ID()
		c.mu.Lock()
		if c.of[id] == nil {
			c.of[id] = map[*context.CancelFunc]bool{}
		}
		c.of[id][&cancel] = true
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if delete(c.of[id], &cancel); len(c.of[id]) == 0 {
				delete(c.of, id)
			}
		}()
		return next(ctx, method, req)
	}
}

// withdraw withdraws the calls of a session.
func (c *calls) withdraw(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cancel := range c.of[id] {
		(*cancel)()
	}
}
