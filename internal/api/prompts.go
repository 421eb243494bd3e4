package api

import (
	"context"
	"net/http"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/user"
)

// CheckedPrompt is a prompt as its file is, with what a check of it says.
type CheckedPrompt struct {
	Name     string // by assistant: oracle/base
	Text     string
	Original string   // the one that is built in, where this one stands in its place
	BuiltIn  bool     // it stands in nobody's folder
	Problems []string // without their file
}

// Prompts are what models are told, a file each.
type Prompts struct {
	Folder  string          `json:"folder,omitempty" doc:"What is wrong with the folder of the setting prompts as a whole. Those that are built in are listed then."`
	Prompts []PromptInForce `json:"prompts" doc:"By assistant and name."`
}

// PromptInForce is a prompt as its file is by now. A run keeps those that it began with.
type PromptInForce struct {
	Assistant string `json:"assistant"`
	Name      string `json:"name"`
	BuiltIn   bool   `json:"built_in" doc:"It comes with the program; else it stands in the folder of the setting prompts, in place of one that does."`
	Tokens    int    `json:"tokens" doc:"Estimated."`
	Problems  int    `json:"problems" doc:"What a check finds."`
}

// PromptWhole is a prompt with its text, and what a check of it says.
type PromptWhole struct {
	PromptInForce
	Text     string   `json:"text"`
	Original string   `json:"original,omitempty" doc:"The one that is built in, where this one stands in its place."`
	Found    []string `json:"found" doc:"What a check finds."`
}

func (s *Server) promptRoutes(tag string) {
	register(s, route{id: "listPrompts", method: http.MethodGet, path: "/api/prompts", tag: tag, summary: "The prompts of all assistants, and whether they can be used", needs: user.Operate}, s.prompts)
	register(s, route{id: "getPrompt", method: http.MethodGet, path: "/api/prompts/{assistant}/{prompt}", tag: tag, summary: "A prompt, what a check of it finds, and the one that it replaces", needs: user.Operate}, s.prompt)
}

func promptForm(p CheckedPrompt) PromptInForce {
	assistant, name, _ := strings.Cut(p.Name, "/")
	return PromptInForce{Assistant: assistant, Name: name, BuiltIn: p.BuiltIn, Tokens: agent.Tokens(p.Text), Problems: len(p.Problems)}
}

func (s *Server) prompts(context.Context, *none) (*of[Prompts], error) {
	found, folder, err := s.config.Operation.Prompts()
	if err != nil {
		return nil, err
	}
	return &of[Prompts]{Prompts{Folder: folder, Prompts: forms(found, promptForm)}}, nil
}

func (s *Server) prompt(_ context.Context, in *struct {
	Assistant string `path:"assistant" maxLength:"64" doc:"Whose it is."`
	Prompt    string `path:"prompt" maxLength:"200" doc:"The name of one of its prompts."`
}) (*of[PromptWhole], error) {
	found, _, err := s.config.Operation.Prompts()
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		if p.Name == in.Assistant+"/"+in.Prompt {
			return &of[PromptWhole]{PromptWhole{promptForm(p), p.Text, p.Original, list(p.Problems)}}, nil
		}
	}
	return nil, newProblem(http.StatusNotFound, "no_prompt", "There is no prompt of that name.", "GET /api/prompts names them.")
}
