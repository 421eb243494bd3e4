// Package model is the contract between Sibyl and a chat model, whoever serves it.
//
// Guarantees every adapter keeps (checked by the suite in modeltest):
//   - Chat returns only after its last call to emit, and never calls emit concurrently.
//   - The concatenation of the emitted text since the last retract equals Response.Text.
//   - On an error the Response holds what had arrived, and the error is an *Error with a Kind.
//   - Cancelling the context ends the request itself, not only the waiting for it.
//   - Adapters never retry: retrying is the caller's to say (see Retry).
//   - Adapters ignore Purpose and Facts; only the offline model reads them.
package model

import (
	"context"
	"encoding/json"
	"strings"
)

// Role says who speaks a Message.
type Role string

// The roles of a conversation. The system prompt is Request.System, not a message.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one turn of the conversation sent to a model.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`

	// ToolCalls are the calls an assistant message asked for.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`

	// ToolCallID and ToolName say which call a tool message answers.
	ToolCallID string `json:"tool_call_id,omitempty"`
	ToolName   string `json:"tool_name,omitempty"`
	IsError    bool   `json:"is_error,omitempty"`

	// Native is the assistant turn as its provider gave it, for providers that sign their thinking.
	// An adapter sends it back only if Native.Provider is its own; others use Text and ToolCalls.
	Native *Native `json:"native,omitempty"`

	// Memo, if set, keeps the message's encoded form for the next request that holds it or a copy of it.
	Memo *Memo `json:"-"`
}

// Native is a provider's own form of an assistant turn.
type Native struct {
	Provider string          `json:"provider"`
	Turn     json.RawMessage `json:"turn"`
}

// ToolCall is a model's proposal to call a tool. Arguments is the text the model wrote: it may not be valid JSON.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tool is what a model is told of a tool: Schema is a JSON Schema object for its arguments.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// Request asks a model for one assistant turn. No tools means that no tool may be called.
type Request struct {
	System          string
	Messages        []Message
	Tools           []Tool
	MaxOutputTokens int // 0: the provider's default

	// Schema, if set, wants the text to be one JSON value. A provider that can, enforces it; see Structured for all others.
	Schema *Schema

	// Purpose names what the request is for ("oracle.turn"); Facts is the typed situation behind it.
	// The offline model answers from these, so that nobody parses a prompt.
	Purpose string
	Facts   any
}

// Schema is the form of an answer: a JSON Schema, and its name of at most 64 letters, digits, underscores and hyphens. Hosted
// providers enforce it only if each object in it forbids additional properties and requires all of its own.
type Schema struct {
	Name string
	JSON json.RawMessage
}

// Delta is one piece of a streamed answer. Retract withdraws all text emitted so far: an attempt failed and
// another begins.
type Delta struct {
	Text    string
	Retract bool
}

// Finish says why a model stopped.
type Finish string

// Why a model stopped. FinishOther covers what a provider says beyond these.
const (
	FinishStop   Finish = "stop"
	FinishTools  Finish = "tools"
	FinishLength Finish = "length"
	FinishFilter Finish = "filter"
	FinishOther  Finish = "other"
)

// Usage counts tokens as the provider reported them; zero where it reported none.
type Usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	CachedTokens int `json:"cached_tokens,omitempty"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.InputTokens + v.InputTokens, u.OutputTokens + v.OutputTokens, u.CachedTokens + v.CachedTokens}
}

// Response is one assistant turn. Model is stamped "provider:model"; the model part may hold dots, colons and slashes.
type Response struct {
	Text      string     `json:"text"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	Finish    Finish     `json:"finish"`
	Usage     Usage      `json:"usage"`
	Model     string     `json:"model"`
	Native    *Native    `json:"native,omitempty"`

	// Attempts counts the requests made for this answer, failed ones included.
	Attempts int `json:"attempts,omitempty"`

	// Tries are the models of a fallback chain that did not answer before the one that did, in order.
	Tries []Try `json:"tries,omitempty"`
}

// Try is a model of a fallback chain that did not answer. Of one that was not asked, because it had failed a short time before,
// Cooling is set.
type Try struct {
	Model   string `json:"model"`
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
	Cooling bool   `json:"cooling,omitempty"`
}

func (t Try) String() string {
	if t.Cooling {
		return t.Model + " is left alone for a while (" + string(t.Kind) + ")"
	}
	return t.Model + ": " + string(t.Kind)
}

// Model answers requests. Implementations are safe for concurrent use.
type Model interface {
	// ID is the stamp "provider:model".
	ID() string

	// Local says that nothing sent to this model leaves the machine.
	Local() bool

	// Chat asks for one turn, passing text to emit as it arrives. An error from emit ends the request and is returned
	// wrapped. emit may be nil.
	Chat(ctx context.Context, req Request, emit func(Delta) error) (Response, error)
}

// SplitID takes "provider:model" apart at the first colon. A text with no colon is a provider alone.
func SplitID(id string) (provider, name string) {
	provider, name, _ = strings.Cut(id, ":")
	return provider, name
}
