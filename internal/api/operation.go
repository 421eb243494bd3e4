package api

import (
	"context"
	"net/http"
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
	// Trees are those in force, by name, each checked; nil: no routes of them.
	Trees func() ([]CheckedTree, error)
	// Prompts are those of all assistants, by assistant and name, each checked, and what is wrong with their folder as a whole; nil: no routes of them.
	Prompts func() (all []CheckedPrompt, folder string, err error)
}

// Nodes are the processes that serve.
type Nodes struct {
	Nodes []Node `json:"nodes" doc:"The first started first."`
}

// Node is a process that serves.
type Node struct {
	Name      string    `json:"name"`
	Build     string    `json:"build"`
	Address   string    `json:"address" doc:"Where it listens."`
	StartedAt time.Time `json:"started_at"`
	SeenAt    time.Time `json:"seen_at" doc:"When it last said that it lives."`
	Lives     bool      `json:"lives"`
	Draining  bool      `json:"draining" doc:"It takes no more runs."`
	Runs      int       `json:"runs" doc:"That it drives, of all users."`
	MostRuns  int       `json:"most_runs,omitempty" doc:"That it drives at once; left out: any number."`
}

// HowItWorks is how the server works for all of its users, in numbers alone.
type HowItWorks struct {
	At      time.Time  `json:"at" doc:"The server's time."`
	Build   string     `json:"build" doc:"Of the node that answers."`
	Runs    []RunCount `json:"runs" doc:"Those that have not ended, by assistant and how they stand."`
	Minutes []Minute   `json:"minutes" doc:"What the node that answers did in the last hour, the earliest first; the last one goes on. Empty where it does not tell."`
}

// RunCount is how many runs of an assistant stand so.
type RunCount struct {
	Assistant string        `json:"assistant"`
	State     journal.Stand `json:"state" enum:"driven,waiting,resting,set_aside" doc:"Waiting: for a node with room. Resting: until what it waits for may have passed. Set aside: until its user has it tried again, or stops it."`
	Runs      int           `json:"runs"`
	Oldest    time.Time     `json:"oldest" doc:"When the first of them started."`
}

// Minute is what a node did in one minute. Times are in milliseconds.
type Minute struct {
	At            time.Time `json:"at" doc:"Its beginning."`
	Effects       int       `json:"effects" doc:"That were performed: searches, reads, requests to models, writes."`
	Failed        int       `json:"failed" doc:"Of them."`
	EffectMS      int64     `json:"effect_ms" doc:"How long one took, on average."`
	SlowestEffect int64     `json:"slowest_effect_ms"`
	Requests      int       `json:"requests" doc:"To models."`
	Unanswered    int       `json:"unanswered" doc:"Of them."`
	ModelMS       int64     `json:"model_ms" doc:"How long one that was answered took, on average."`
	SlowestModel  int64     `json:"slowest_model_ms"`
	Input         int       `json:"input_tokens" doc:"That models read."`
	Output        int       `json:"output_tokens" doc:"That models wrote."`
	Cached        int       `json:"cached_tokens" doc:"Of those read, the ones that a provider had cached."`
}

func (s *Server) operationRoutes() {
	if s.config.Operation == nil {
		return
	}
	const tag = "operation"
	register(s, route{id: "listNodes", method: http.MethodGet, path: "/api/nodes", tag: tag, summary: "The nodes that serve, and how many runs each drives", needs: user.Operate}, s.nodes)
	register(s, route{id: "getOperation", method: http.MethodGet, path: "/api/operation", tag: tag, summary: "How the server works for all of its users, in numbers alone", needs: user.Operate}, s.operation)
	if s.config.Operation.Trees != nil {
		s.treeRoutes(tag)
	}
	if s.config.Operation.Prompts != nil {
		s.promptRoutes(tag)
	}
}

func (s *Server) nodes(ctx context.Context, _ *none) (*of[Nodes], error) {
	found, now, err := s.config.Operation.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	return &of[Nodes]{Nodes{forms(found, func(n node.Node) Node {
		return Node{Name: n.Name, Build: n.Build, Address: n.Address, StartedAt: n.StartedAt, SeenAt: n.SeenAt, Lives: n.Lives(now), Draining: n.Draining, Runs: n.Runs, MostRuns: n.Most}
	})}}, nil
}

func (s *Server) operation(ctx context.Context, _ *none) (*of[HowItWorks], error) {
	counts, err := s.config.Service.Census(ctx)
	if err != nil {
		return nil, err
	}
	f := HowItWorks{At: s.config.Now().UTC(), Build: s.config.Build, Minutes: []Minute{}, Runs: forms(counts, func(c journal.Count) RunCount {
		return RunCount{Assistant: c.Assistant, State: c.Stand, Runs: c.Runs, Oldest: c.Oldest}
	})}
	if s.config.Operation.Lately != nil {
		f.Minutes = forms(s.config.Operation.Lately(), minuteForm)
	}
	return &of[HowItWorks]{f}, nil
}

func minuteForm(m telemetry.Minute) Minute {
	return Minute{At: m.At, Effects: m.Effects, Failed: m.Failed, EffectMS: mean(m.EffectTime, m.Effects), SlowestEffect: m.SlowestEffect.Milliseconds(), Requests: m.Requests, Unanswered: m.Unanswered,
		ModelMS: mean(m.ModelTime, m.Requests-m.Unanswered), SlowestModel: m.SlowestModel.Milliseconds(), Input: m.Input, Output: m.Output, Cached: m.Cached}
}

// mean is how long one of so many took, in milliseconds.
func mean(all time.Duration, many int) int64 {
	return (all / time.Duration(max(many, 1))).Milliseconds()
}
