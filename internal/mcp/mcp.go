// Package mcp offers the task list, the Oracle and the Inquiry to other programs over the Model Context Protocol: on
// standard streams, over HTTP and in this process. It parses and renders: what can be done is in task and service.
//
// Guarantees:
//   - Whose tasks these are is settled before a call: by the way in, or by the token of its request. No argument names
//     an owner.
//   - Every result has one shape: success with data, or an error with a code and details, and the same for a person in
//     a few words. No error repeats what was sent, or what a database said of it. Arguments that are not in the schema
//     are refused, and nothing is done.
//   - No task is deleted unless a person said yes to a question that named it. The yes holds for five minutes, for one
//     owner, one call and one version of the task, in every process that has the same key. Clients that can't ask a
//     person are refused.
//   - A write under an idempotency key is performed once; repeated, it gives the first result. One that is only looked
//     up is not performed.
//   - A token with the scope read sees and calls only tools that read.
//   - investigate begins a run, and one of an owner at a time; inquiry writes nothing. No path of the server is told.
//   - ask changes nothing but the sessions and runs that every question leaves: its runs have no tool that writes.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/inquiry"
	"sibyl/internal/task"
)

// Tasks are what can be done with the task list: the part of task.Service that is needed here.
type Tasks interface {
	Add(ctx context.Context, by task.By, title string, description *string) (t task.Task, again bool, err error)
	Update(ctx context.Context, by task.By, id, version int64, e task.Edit) (t task.Task, again bool, err error)
	Complete(ctx context.Context, by task.By, id, version int64) (t task.Task, already bool, err error)
	Delete(ctx context.Context, by task.By, id, version int64) (was task.Task, again bool, err error)
	Task(ctx context.Context, owner string, id int64) (task.Task, error)
	List(ctx context.Context, owner string, q task.Query) (task.Page, error)
	Made(ctx context.Context, by task.By) (bool, error)
	Last(ctx context.Context, owner string) (task.Change, error)
	UndoChange(ctx context.Context, by task.By, id int64) (task.Change, error)
}

// Config configures a Server.
type Config struct {
	Tasks      Tasks         // nil: no tool of tasks is offered
	Undo       bool          // undo_task is offered too
	Assistants *Assistants   // nil: none is offered
	Inquiry    *inquiry.Desk // nil: inquiry is not offered
	// signs questions and sessions: secret, at least MinKey bytes, and the same in all processes over one database
	Key   []byte
	Build string
	Log   *slog.Logger     // nil: none
	Now   func() time.Time // nil: the time of day
}

// MinKey is the least length of a Config's Key, in bytes.
const MinKey = 32

// Server offers tools. It is safe for concurrent use.
type Server struct {
	config Config
	tools  []offer
	byName map[string]offer
}

// New creates a Server after checking its configuration.
func New(c Config) (*Server, error) {
	if len(c.Key) < MinKey {
		return nil, fmt.Errorf("an MCP server wants a key of at least %d bytes", MinKey)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Server{config: c, byName: map[string]offer{}}
	if c.Tasks != nil {
		s.tools = s.taskTools()
	}
	for _, a := range s.assistantsWithTools() {
		s.tools = append(s.tools, s.assistantTool(a))
	}
	if c.Inquiry != nil {
		s.tools = append(s.tools, s.inquiryTool())
	}
	for i, o := range s.tools {
		var err error
		if s.tools[i].schema, err = json.Marshal(o.spec.InputSchema); err != nil {
			return nil, fmt.Errorf("the schema of %s: %w", o.spec.Name, err)
		}
		s.byName[o.spec.Name] = s.tools[i]
	}
	return s, nil
}

// For returns an SDK server that acts for one owner, for any SDK transport. actor is recorded in the history of tasks;
// empty means “mcp: ” and the client's own name.
func (s *Server) For(owner, actor string) *sdk.Server { return s.server(owner, actor, nil) }

// listsLast is how long a client may cache a list of tools.
const listsLast = 5 * time.Minute

// server creates an SDK server. sessionID names the sessions that it begins over HTTP.
func (s *Server) server(owner, actor string, sessionID func() string) *sdk.Server {
	made := sdk.NewServer(&sdk.Implementation{Name: "sibyl", Title: "Sibyl", Version: s.config.Build},
		&sdk.ServerOptions{
			Instructions: s.instructions(),
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
			GetSessionID: sessionID,
			SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
				c.CacheScope, c.TTLMs = "private", int(listsLast.Milliseconds())
			},
		})
	for _, o := range s.tools {
		made.AddTool(o.spec, s.handler(o, owner, actor))
	}
	made.AddReceivingMiddleware(s.guard)
	return made
}

// instructions describe the offered tools to a model.
func (s *Server) instructions() string {
	text := ""
	if s.config.Tasks != nil {
		text = "A person's task list. Name tasks by the id that list_tasks gives, and look there before you guess. " +
			"delete_task asks the person. "
	}
	for _, a := range s.assistantsWithTools() {
		text += a.Tool.Name + " " + a.About + ". "
	}
	if s.config.Inquiry != nil {
		text += "inquiry tells how far an inquiry is, and what came of it."
	}
	return strings.TrimSpace(text)
}
