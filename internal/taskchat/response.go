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
	StatusClarification Status = "clarification_needed" // something is asked, or the message was not understood
	StatusConfirmation  Status = "confirmation_required"
	StatusError         Status = "error"
)

// AgentResponse is what one message of a conversation comes to: the outcome of a run (requirement 3, Agent Response).
type AgentResponse struct {
	ConversationID string                `json:"conversation_id"`
	Response       string                `json:"response" doc:"For the person."`
	Status         Status                `json:"status" enum:"success,clarification_needed,confirmation_required,error"`
	ToolCalls      []ToolCall            `json:"tool_calls" doc:"The calls of MCP tools, in order."`
	Clarification  *Clarification        `json:"clarification,omitempty" doc:"What is asked. The next message answers it, or it is void."`
	ReasoningTrace string                `json:"reasoning_trace,omitempty" doc:"For whoever wants to know why; no form is promised."`
	Message        string                `json:"message" doc:"What was said."`
	RunID          string                `json:"run_id"`
	Intents        []IntentResult        `json:"intents" doc:"What the message was read as, in the order said."`
	ToolSelections []ToolSelectionResult `json:"tool_selections,omitempty" doc:"The calls that the message led to, made or asked about, in order."`
	Metadata       Metadata              `json:"metadata" doc:"Of the conversation, as it is after this message."`
	Writes         *agent.Writes         `json:"writes,omitempty" doc:"What became of the changes that tools were called for."`
}

// ToolCall is a call of an MCP tool (requirement 3, Tool Call Record). Exactly one of Result and Error is set.
type ToolCall struct {
	ToolName   string          `json:"tool_name"`
	Parameters json.RawMessage `json:"parameters"`
	Result     json.RawMessage `json:"result,omitempty"`
	Error      string          `json:"error,omitempty" doc:"In words for people."`
	InvokedAt  time.Time       `json:"invoked_at"`
}

// Clarification is a question to the person, with what can be chosen, numbered from 1. Its answer changes a task if
// that is of its Version still.
type Clarification struct {
	Question    string   `json:"question"`
	Options     []string `json:"options" doc:"What can be chosen, numbered from 1."`
	Kind        string   `json:"kind" enum:"confirm,choose,value" doc:"What is asked for: yes or no, one of the options, or a text."`
	Intent      string   `json:"intent,omitempty" doc:"What is done then: create, list, update, complete, delete."`
	Tasks       []Item   `json:"tasks,omitempty" doc:"Those it is done to, as they were when it was asked."`
	OptionTasks [][]Item `json:"option_tasks,omitempty" doc:"Those of each option, in its order."`
}

// IntentResult is what the person wants, as far as it was understood (requirement 3, Intent Classification Result).
type IntentResult struct {
	IntentType   string         `json:"intent_type"`
	Confidence   float64        `json:"confidence" doc:"0 to 1."`
	Entities     map[string]any `json:"entities" doc:"What was said beside it: title, description, status, reference."`
	Alternatives []Scored       `json:"alternatives,omitempty" doc:"What it may have been instead."`
	Reasoning    string         `json:"reasoning,omitempty"`
	By           string         `json:"by" doc:"The model that read it, or rules."`
}

// Scored is a name with a confidence of 0 to 1.
type Scored struct {
	Name       string  `json:"name"`
	Confidence float64 `json:"confidence"`
}

// ToolSelectionResult is the call that a wish leads to (requirement 3, Tool Selection Result).
type ToolSelectionResult struct {
	ToolName             string          `json:"tool_name"`
	Confidence           float64         `json:"confidence" doc:"0 to 1."`
	Parameters           json.RawMessage `json:"parameters"`
	RequiresConfirmation bool            `json:"requires_confirmation" doc:"It destroys something, and wants a yes first."`
	Alternatives         []Scored        `json:"alternatives,omitempty" doc:"Other tools."`
}
