package taskchat

import (
	"encoding/json"
	"time"

	"sibyl/internal/agent"
)

// Name is the assistant's name in the journal, and that of its tree.
const Name = "tasks"

// Status of an AgentResponse (requirement 3, Status Values).
type Status string

// What a response asks of the person.
const (
	StatusSuccess       Status = "success"
	StatusClarification Status = "clarification_needed"
	StatusConfirmation  Status = "confirmation_required"
	StatusError         Status = "error"
)

// AgentResponse is what one message of a conversation comes to: the outcome of a run (requirement 3, Agent Response).
type AgentResponse struct {
	ConversationID string         `json:"conversation_id"`
	Response       string         `json:"response"`
	Status         Status         `json:"status"`
	ToolCalls      []ToolCall     `json:"tool_calls"`
	Clarification  *Clarification `json:"clarification,omitempty"`
	ReasoningTrace string         `json:"reasoning_trace,omitempty"`
	Message        string         `json:"message"` // the person's words
	RunID          string         `json:"run_id"`
	Intents        []IntentResult `json:"intents"`          // what the message was read as, with its alternatives, in the order said
	Metadata       Metadata       `json:"metadata"`         // of the conversation, as it is after this message
	Writes         *agent.Writes  `json:"writes,omitempty"` // what became of the changes that tools were called for; null: of none
}

// ToolCall is a call of an MCP tool (requirement 3, Tool Call Record). Exactly one of Result and Error is set.
type ToolCall struct {
	ToolName   string          `json:"tool_name"`
	Parameters json.RawMessage `json:"parameters"`
	Result     json.RawMessage `json:"result,omitempty"`
	Error      string          `json:"error,omitempty"` // in words for people
	InvokedAt  time.Time       `json:"invoked_at"`
}

// Clarification is a question to the person, with what can be chosen, numbered from 1. Its answer changes a task if that is of its Version still.
type Clarification struct {
	Question    string   `json:"question"`
	Options     []string `json:"options"`
	Kind        string   `json:"kind"`                   // "confirm": yes or no; "choose": one of the options; "value": a text
	Intent      string   `json:"intent,omitempty"`       // what is done then
	Tasks       []Item   `json:"tasks,omitempty"`        // those it is done to, as they were when it was asked
	OptionTasks [][]Item `json:"option_tasks,omitempty"` // those of each option
}

// IntentResult is what the person wants, as far as it was understood (requirement 3, Intent Classification Result).
type IntentResult struct {
	IntentType   string         `json:"intent_type"`
	Confidence   float64        `json:"confidence"`
	Entities     map[string]any `json:"entities"`
	Alternatives []Scored       `json:"alternatives,omitempty"`
	Reasoning    string         `json:"reasoning,omitempty"`
	By           string         `json:"by"` // "rules", or the model that proposed it
}

// Scored is a name with a confidence of 0 to 1.
type Scored struct {
	Name       string  `json:"name"`
	Confidence float64 `json:"confidence"`
}

// ToolSelectionResult is the call that a wish leads to (requirement 3, Tool Selection Result).
type ToolSelectionResult struct {
	ToolName             string          `json:"tool_name"`
	Confidence           float64         `json:"confidence"`
	Parameters           json.RawMessage `json:"parameters"`
	RequiresConfirmation bool            `json:"requires_confirmation"`
	Alternatives         []Scored        `json:"alternatives,omitempty"`
}
