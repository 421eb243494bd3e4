package api

import (
	"context"
	"net/http"

	"sibyl/internal/bt"
	"sibyl/internal/user"
)

// Trees are those in force.
type Trees struct {
	Trees []TreeInForce `json:"trees" doc:"By name, without their texts."`
}

// TreeInForce is a tree that new runs begin with, and what a check of it says.
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

// Prompts are what models are told, a file each.
type Prompts struct {
	Folder  string          `json:"folder,omitempty" doc:"What is wrong with the folder of the setting prompts as a whole. Those that are built in are listed then."`
	Prompts []PromptInForce `json:"prompts" doc:"By assistant and name, without their texts."`
}

// PromptInForce is a prompt as its file is by now, and what a check of it says. A run keeps those that it began with.
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

func (s *Server) fileRoutes(tag string) {
	answer(s, route{id: "listTrees", at: "GET /api/trees", tag: tag, summary: "The trees in force, and whether they load", needs: user.Operate}, s.trees)
	answer(s, route{id: "getTree", at: "GET /api/trees/{tree}", tag: tag, summary: "A tree in force, what a check of it finds, and the one that it replaces", needs: user.Operate, whole: true}, s.treeInForce)
	answer(s, route{id: "listPrompts", at: "GET /api/prompts", tag: tag, summary: "The prompts of all assistants, and whether they can be used", needs: user.Operate}, s.prompts)
	answer(s, route{id: "getPrompt", at: "GET /api/prompts/{assistant}/{prompt}", tag: tag, summary: "A prompt, what a check of it finds, and the one that it replaces", needs: user.Operate}, s.prompt)
}

func (s *Server) trees(context.Context, *none) (f Trees, err error) {
	f.Trees, err = s.config.Operation.Trees()
	for i := range f.Trees {
		t := &f.Trees[i]
		t.Text, t.Original, t.Picture, t.Found = "", "", "", nil
	}
	return f, err
}

func (s *Server) treeInForce(_ context.Context, in *struct {
	Tree string `path:"tree" maxLength:"200" doc:"The name of a tree in force."`
}) (TreeInForce, error) {
	found, err := s.config.Operation.Trees()
	for _, t := range found {
		if t.Name == in.Tree {
			return t, err
		}
	}
	if err == nil {
		err = newProblem(http.StatusNotFound, "no_tree", "There is no tree of that name.", "GET /api/trees names those in force.")
	}
	return TreeInForce{}, err
}

func (s *Server) prompts(context.Context, *none) (f Prompts, err error) {
	f.Prompts, f.Folder, err = s.config.Operation.Prompts()
	for i := range f.Prompts {
		p := &f.Prompts[i]
		p.Text, p.Original, p.Found = "", "", nil
	}
	return f, err
}

func (s *Server) prompt(_ context.Context, in *struct {
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
		err = newProblem(http.StatusNotFound, "no_prompt", "There is no prompt of that name.", "GET /api/prompts names them.")
	}
	return PromptInForce{}, err
}
