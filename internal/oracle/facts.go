package oracle

import (
	"strings"

	"sibyl/internal/oracle/classify"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// ToolFact is what the tree knows of a tool.
type ToolFact struct {
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Source      tool.Source `json:"source"`
	Once        bool        `json:"once,omitempty"`
	Foreign     bool        `json:"foreign,omitempty"`
	Search      bool        `json:"search,omitempty"`
}

// FactsOf lists the tools that a run may offer.
func FactsOf(specs []tool.Spec) []ToolFact {
	facts := make([]ToolFact, len(specs))
	for i, s := range specs {
		facts[i] = ToolFact{Name: s.Name, Description: s.Description, Source: s.Source, Once: s.Effect == tool.Once,
			Foreign: s.Foreign, Search: s.Search}
	}
	return facts
}

// Reply is what the tree knows of one turn of the model. Ref is the record that holds it.
type Reply struct {
	Ref       int64          `json:"ref"`
	HasText   bool           `json:"has_text"`
	Asks      bool           `json:"asks,omitempty"` // its text ends with a question
	Calls     []CallFact     `json:"calls,omitempty"`
	Signal    *signal.Signal `json:"signal,omitempty"`
	Malformed bool           `json:"malformed,omitempty"`
	Problem   string         `json:"problem,omitempty"` // why a signal is malformed
	Extra     int            `json:"extra,omitempty"`
	Tokens    int            `json:"tokens,omitempty"`  // what it counts against a budget
	History   int            `json:"history,omitempty"` // tokens of the conversation with it, estimated
	Prompt    int            `json:"prompt,omitempty"`  // tokens of the system prompt
	Model     string         `json:"model"`
	Instead   string         `json:"instead,omitempty"` // why another model than the first one answered
}

// CallFact is a proposed call: Digest names its arguments, Key the call without what is volatile in them.
type CallFact struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Key    string `json:"key"`
	Brief  string `json:"brief"`
}

// Entry is one turn of the transcript: the record of the reply, the records of its tools' results, and what the
// control layer said after it. Tool i answers call i of the reply; a call that was not performed has Refused instead. The first
// entry may be notes in place of the entries Of, and of the session's earlier exchanges.
type Entry struct {
	Turn  int64       `json:"turn,omitempty"`
	Tools []ToolEntry `json:"tools,omitempty"`
	Hint  string      `json:"hint,omitempty"`

	Notes int64   `json:"notes,omitempty"` // their record
	Of    []Entry `json:"of,omitempty"`
}

// ToolEntry is how one call of a turn ended.
type ToolEntry struct {
	Ref     int64  `json:"ref,omitempty"`
	Refused string `json:"refused,omitempty"`
}

// Accepted is the reply that became the answer, and why the run stopped there.
type Accepted struct {
	Ref        int64  `json:"ref"`
	StopReason string `json:"stop_reason"`
}

// The reasons to stop. Satisfied is an answer; partial, budget, stuck and loop are partial ones; needs_user is a question.
const (
	StopSatisfied = "satisfied"
	StopPartial   = "partial"
	StopBudget    = "budget"
	StopStuck     = "stuck"
	StopError     = "error"
	StopRefused   = "refused"
	StopCancelled = "cancelled"
	StopLoop      = "loop"
	StopNeedsUser = "needs_user"
)

// sourceOrder is where an answer may stand, by class: the first is offered, the others are tried when it has nothing.
func sourceOrder(c classify.Classification) []tool.Source {
	order := func(t classify.Type) []tool.Source {
		switch t {
		case classify.Code:
			return []tool.Source{tool.Code, tool.Vault, tool.Web}
		case classify.Documentation, classify.Action:
			return []tool.Source{tool.Vault, tool.Code, tool.Web}
		case classify.Research:
			return []tool.Source{tool.Web, tool.Vault, tool.Code}
		}
		return nil
	}
	first := order(c.QueryType)
	if first == nil {
		first = order(c.Secondary)
	}
	if first == nil {
		return []tool.Source{tool.Code, tool.Vault, tool.Web}
	}
	if second := order(c.Secondary); second != nil && len(first) > 1 && second[0] != first[0] {
		rest := []tool.Source{first[0], second[0]}
		for _, s := range first[1:] {
			if s != second[0] {
				rest = append(rest, s)
			}
		}
		return rest
	}
	return first
}

// brief shortens a text to one line for people.
func brief(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
