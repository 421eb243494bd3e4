package api

import (
	"context"
	"net/http"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/server/node"
	"sibyl/internal/server/user"
)

// Operation gives what an operator may see: the nodes, trees and prompts of the server.
type Operation struct {
	// Nodes are the processes that serve, and the time of the database.
	Nodes func(ctx context.Context) ([]node.Node, time.Time, error)
	// Trees gives the trees in force, by name, each checked; nil: there are no routes of trees and prompts.
	Trees func() ([]TreeInForce, error)
	// Prompts gives the prompts of all assistants, by assistant and name, each checked. folder is what is wrong with
	// their folder as a whole.
	Prompts func() (all []PromptInForce, folder string, err error)
}

// Nodes is the list of the server processes.
type Nodes struct {
	Nodes []Node `json:"nodes" doc:"The first started first."`
}

// Node is a server process.
type Node struct {
	node.Node
	Lives bool `json:"lives"`
}

// HowItWorks is how the server works for all of its users, in numbers alone.
type HowItWorks struct {
	At    time.Time       `json:"at" doc:"The server's time."`
	Build string          `json:"build" doc:"Of the node that answers."`
	Runs  []journal.Count `json:"runs" doc:"Those that have not ended, by assistant and how they stand."`
}

func (s *Server) operationRoutes() {
	if s.config.Operation == nil {
		return
	}
	const tag = "operation"
	registerForm(s, route{id: "listNodes", at: "GET /api/nodes", tag: tag,
		summary: "The nodes that serve, and how many runs each drives", needs: user.Operate}, s.listNodes)
	registerForm(s, route{id: "getOperation", at: "GET /api/operation", tag: tag,
		summary: "How the server works for all of its users, in numbers alone", needs: user.Operate}, s.getOperation)
	if s.config.Operation.Trees != nil {
		s.treeAndPromptRoutes(tag)
	}
}

func (s *Server) listNodes(ctx context.Context, _ *noInput) (f Nodes, err error) {
	found, now, err := s.config.Operation.Nodes(ctx)
	for _, n := range found {
		f.Nodes = append(f.Nodes, Node{n, n.Lives(now)})
	}
	return f, err
}

func (s *Server) getOperation(ctx context.Context, _ *noInput) (f HowItWorks, err error) {
	f.At, f.Build = s.config.Now().UTC(), s.config.Build
	f.Runs, err = s.config.Service.Census(ctx)
	return f, err
}

// Trees is the list of the trees in force.
type Trees struct {
	Trees []TreeInForce `json:"trees" doc:"By name, without their texts."`
}

// TreeInForce is a tree that new runs begin with, and the result of checking it.
type TreeInForce struct {
	Name     string       `json:"name"`
	BuiltIn  bool         `json:"built_in" doc:"It comes with the program; else it stands in the folder of the setting trees."`
	Replaces bool         `json:"replaces" doc:"It stands in place of one that is built in."`
	Nodes    int          `json:"nodes" doc:"0: it does not load."`
	Problems int          `json:"problems" doc:"What a check finds, warnings too."`
	Text     string       `json:"text" doc:"Its XML; empty in lists."`
	Original string       `json:"original,omitempty" doc:"The XML of the one that is built in, where this one stands in its place."`
	Picture  string       `json:"picture,omitempty" doc:"A line a node; left out where it does not load."`
	Found    []bt.Problem `json:"found" doc:"What a check finds; empty in lists."`
}

// Prompts is the list of the prompts, a file each.
type Prompts struct {
	Folder  string          `json:"folder,omitempty" doc:"What is wrong with the folder of the setting prompts as a whole. Those that are built in are listed then."`
	Prompts []PromptInForce `json:"prompts" doc:"By assistant and name, without their texts."`
}

// PromptInForce is a prompt as its file is now, and the result of checking it. A run keeps the prompts it began with.
type PromptInForce struct {
	Assistant string   `json:"assistant"`
	Name      string   `json:"name"`
	BuiltIn   bool     `json:"built_in" doc:"It comes with the program; else it stands in the folder of the setting prompts, in place of one that does."`
	Tokens    int      `json:"tokens" doc:"Estimated."`
	Problems  int      `json:"problems" doc:"What a check finds."`
	Text      string   `json:"text" doc:"Empty in lists."`
	Original  string   `json:"original,omitempty" doc:"The one that is built in, where this one stands in its place."`
	Found     []string `json:"found" doc:"What a check finds; empty in lists."`
}

func (s *Server) treeAndPromptRoutes(tag string) {
	registerForm(s, route{id: "listTrees", at: "GET /api/trees", tag: tag,
		summary: "The trees in force, and whether they load", needs: user.Operate}, s.listTrees)
	registerForm(s, route{id: "getTree", at: "GET /api/trees/{tree}", tag: tag,
		summary: "A tree in force, what a check of it finds, and the one that it replaces", needs: user.Operate,
		whole: true}, s.getTree)
	registerForm(s, route{id: "listPrompts", at: "GET /api/prompts", tag: tag,
		summary: "The prompts of all assistants, and whether they can be used", needs: user.Operate}, s.listPrompts)
	registerForm(s, route{id: "getPrompt", at: "GET /api/prompts/{assistant}/{prompt}", tag: tag,
		summary: "A prompt, what a check of it finds, and the one that it replaces", needs: user.Operate}, s.getPrompt)
}

func (s *Server) listTrees(context.Context, *noInput) (f Trees, err error) {
	f.Trees, err = s.config.Operation.Trees()
	for i := range f.Trees {
		t := &f.Trees[i]
		t.Text, t.Original, t.Picture, t.Found = "", "", "", nil
	}
	return f, err
}

func (s *Server) getTree(_ context.Context, in *struct {
	Tree string `path:"tree" maxLength:"200" doc:"The name of a tree in force."`
}) (TreeInForce, error) {
	found, err := s.config.Operation.Trees()
	for _, t := range found {
		if t.Name == in.Tree {
			return t, err
		}
	}
	if err == nil {
		err = newProblem(http.StatusNotFound, "no_tree", "There is no tree of that name.",
			"GET /api/trees names those in force.")
	}
	return TreeInForce{}, err
}

func (s *Server) listPrompts(context.Context, *noInput) (f Prompts, err error) {
	f.Prompts, f.Folder, err = s.config.Operation.Prompts()
	for i := range f.Prompts {
		p := &f.Prompts[i]
		p.Text, p.Original, p.Found = "", "", nil
	}
	return f, err
}

func (s *Server) getPrompt(_ context.Context, in *struct {
	Assistant string `path:"assistant" maxLength:"64" doc:"Whose it is."`
	Prompt    string `path:"prompt" maxLength:"200" doc:"The name of one of its prompts."`
}) (PromptInForce, error) {
	found, _, err := s.config.Operation.Prompts()
	for _, p := range found {
		if p.Assistant == in.Assistant && p.Name == in.Prompt {
			return p, err
		}
	}
	if err == nil {
		err = newProblem(http.StatusNotFound, "no_prompt", "There is no prompt of that name.",
			"GET /api/prompts names them.")
	}
	return PromptInForce{}, err
}
