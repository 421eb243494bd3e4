package api

import (
	"context"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/node"
	"sibyl/internal/telemetry"
	"sibyl/internal/user"
)

// Operation is what tells how the server works for all of its users.
type Operation struct {
	// Nodes are the processes that serve, and the time of the database.
	Nodes func(ctx context.Context) ([]node.Node, time.Time, error)
	// Lately is what this process did in the last hour; nil: it does not tell.
	Lately func() []telemetry.Minute
	// Trees are those in force, by name, each checked; nil: no routes of them, nor of Prompts.
	Trees func() ([]TreeInForce, error)
	// Prompts are those of all assistants, by assistant and name, each checked, and what is wrong with their folder as a whole.
	Prompts func() (all []PromptInForce, folder string, err error)
}

// Nodes are the processes that serve.
type Nodes struct {
	Nodes []Node `json:"nodes" doc:"The first started first."`
}

// Node is a process that serves.
type Node struct {
	node.Node
	Lives bool `json:"lives"`
}

// HowItWorks is how the server works for all of its users, in numbers alone.
type HowItWorks struct {
	At      time.Time          `json:"at" doc:"The server's time."`
	Build   string             `json:"build" doc:"Of the node that answers."`
	Runs    []journal.Count    `json:"runs" doc:"Those that have not ended, by assistant and how they stand."`
	Minutes []telemetry.Minute `json:"minutes" doc:"What the node that answers did in the last hour, the earliest first; the last one goes on. Empty where it does not tell."`
}

func (s *Server) operationRoutes() {
	if s.config.Operation == nil {
		return
	}
	const tag = "operation"
	answer(s, route{id: "listNodes", at: "GET /api/nodes", tag: tag, summary: "The nodes that serve, and how many runs each drives", needs: user.Operate}, s.nodes)
	answer(s, route{id: "getOperation", at: "GET /api/operation", tag: tag, summary: "How the server works for all of its users, in numbers alone", needs: user.Operate}, s.operation)
	if s.config.Operation.Trees != nil {
		s.fileRoutes(tag)
	}
}

func (s *Server) nodes(ctx context.Context, _ *none) (f Nodes, err error) {
	found, now, err := s.config.Operation.Nodes(ctx)
	for _, n := range found {
		f.Nodes = append(f.Nodes, Node{n, n.Lives(now)})
	}
	return f, err
}

func (s *Server) operation(ctx context.Context, _ *none) (f HowItWorks, err error) {
	f.At, f.Build = s.config.Now().UTC(), s.config.Build
	if s.config.Operation.Lately != nil {
		f.Minutes = s.config.Operation.Lately()
	}
	f.Runs, err = s.config.Service.Census(ctx)
	return f, err
}
