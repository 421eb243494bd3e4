package tasks

import (
	"context"
	"encoding/json"
)

// Chat is a task assistant as a person has it, and the lists as they are. Implementations are safe for concurrent use.
type Chat interface {
	// Say is one turn of a user. NewConversation begins a conversation, any other is one that a response named.
	Say(ctx context.Context, user, conversation, text string) (Response, error)
	// Tasks is the whole list of a user, in order of creation. It is read past the assistant.
	Tasks(ctx context.Context, user string) ([]Task, error)
}

// World is a chat with lists that can also be changed past it, as from another window. Users are made by their first
// mention.
type World interface {
	Chat
	Add(ctx context.Context, user, title string) error
	Rename(ctx context.Context, user string, id int64, title string) error
	Complete(ctx context.Context, user string, id int64) error
	Delete(ctx context.Context, user string, id int64) error
}

// NewConversation asks for a conversation that has no turn yet.
const NewConversation = "new"

// Task is an entry of a list.
type Task struct {
	ID          int64
	Title       string
	Description string // "" for none
	Status      string // Pending or Completed
}

// Response is what the assistant answers (requirement 3, Agent Response).
type Response struct {
	ConversationID string         `json:"conversation_id"`
	Text           string         `json:"response"`
	Status         string         `json:"status"`
	ToolCalls      []ToolCall     `json:"tool_calls"`
	Clarification  *Clarification `json:"clarification"`
}

// ToolCall is a call that the assistant says it made (requirement 3, Tool Call Record). One with an Error, or whose
// Result has "success": false, counts for nothing.
type ToolCall struct {
	Tool       string         `json:"tool_name"`
	Parameters map[string]any `json:"parameters"`
	Result     map[string]any `json:"result"`
	Error      string         `json:"error"`
}

// Clarification is a question with what one may choose.
type Clarification struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
}

// ReadResponse reads a response as the assistant gives it.
func ReadResponse(outcome json.RawMessage) (r Response, err error) {
	err = json.Unmarshal(outcome, &r)
	return r, err
}
