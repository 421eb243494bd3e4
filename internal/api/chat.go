package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/assistant"
	"sibyl/internal/service"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
)

// Chat is a message to the task assistant.
type Chat struct {
	Message      string `json:"message" minLength:"1" doc:"What is said, 4000 characters at most."`
	Conversation string `json:"conversation_id,omitempty" maxLength:"64" doc:"The conversation that it goes on with. Left out: one begins with it."`
	Model        string `json:"model,omitempty" maxLength:"200" doc:"provider:model; offline:rules for none. Left out: as the server is set to."`
}

// ChatResponse is how the task assistant answers a message.
type ChatResponse struct {
	Conversation  string             `json:"conversation_id"`
	Response      string             `json:"response" doc:"For the person."`
	Status        string             `json:"status" enum:"success,clarification_needed,confirmation_required,error"`
	ToolCalls     []ChatToolCall     `json:"tool_calls" doc:"The calls of MCP tools, in order."`
	Clarification *ChatClarification `json:"clarification,omitempty" doc:"What is asked. The next message of the conversation answers it, or it is void."`
	Reasoning     string             `json:"reasoning_trace,omitempty" doc:"For whoever wants to know why; no form is promised."`
	Message       string             `json:"message" doc:"What was said."`
	Run           string             `json:"run_id"`
	Intents       []ChatIntent       `json:"intents" doc:"What the message was read as, in the order said."`
	Metadata      ChatMetadata       `json:"metadata" doc:"Of the conversation, as it is after this message."`
}

// ChatIntent is what the person wants, as far as it was understood.
type ChatIntent struct {
	Intent       string         `json:"intent_type"`
	Confidence   float64        `json:"confidence" doc:"0 to 1."`
	Entities     map[string]any `json:"entities" doc:"What was said beside it: title, description, status, reference."`
	Alternatives []ChatScored   `json:"alternatives,omitempty" doc:"What it may have been instead."`
	Reasoning    string         `json:"reasoning,omitempty"`
	By           string         `json:"by" doc:"The model that read it, or rules."`
}

// ChatScored is an intent with its confidence.
type ChatScored struct {
	Name       string  `json:"name"`
	Confidence float64 `json:"confidence" doc:"0 to 1."`
}

// ChatMetadata is what a conversation remembers.
type ChatMetadata struct {
	References map[string]int64 `json:"task_references,omitempty" doc:"The id of the task at each position of the last list shown."`
	At         *time.Time       `json:"referenced_at,omitempty" doc:"When that list was shown."`
	Tool       string           `json:"last_tool_used,omitempty"`
	Parameters json.RawMessage  `json:"last_tool_parameters,omitempty"`
	Context    ChatContext      `json:"agent_context"`
}

// ChatContext is the agent's own part of the metadata.
type ChatContext struct {
	Domain         string          `json:"application_domain"`
	Confidences    []float64       `json:"confidence_history" doc:"Of the last three intents."`
	Clarifications int             `json:"clarification_count"`
	LastTask       int64           `json:"last_task,omitempty" doc:"What “it” means."`
	Language       string          `json:"language,omitempty" doc:"Of the last message."`
	Unlisted       bool            `json:"unlisted,omitempty" doc:"The last list had more tasks than were shown."`
	Shown          []string        `json:"shown,omitempty" doc:"The titles of the last list."`
	Changes        [][]ChatChanged `json:"changes,omitempty" doc:"What can be undone, the oldest first."`
}

// ChatChanged is a task that was changed, and its version since.
type ChatChanged struct {
	ID      int64 `json:"id"`
	Version int64 `json:"version"`
}

// ChatToolCall is a call of an MCP tool.
type ChatToolCall struct {
	Tool       string          `json:"tool_name"`
	Parameters json.RawMessage `json:"parameters"`
	Result     json.RawMessage `json:"result,omitempty"`
	Error      string          `json:"error,omitempty" doc:"In words for people."`
	InvokedAt  time.Time       `json:"invoked_at"`
}

// ChatClarification is a question to the person.
type ChatClarification struct {
	Question    string       `json:"question"`
	Options     []string     `json:"options" doc:"What can be chosen, numbered from 1."`
	Kind        string       `json:"kind" enum:"confirm,choose,value" doc:"What is asked for: yes or no, one of the options, or a text."`
	Intent      string       `json:"intent,omitempty" doc:"What is done then: create, list, update, complete, delete."`
	Tasks       []ChatTask   `json:"tasks,omitempty" doc:"Those it is done to, as they were when it was asked. One that is of another version by then is left as it is."`
	OptionTasks [][]ChatTask `json:"option_tasks,omitempty" doc:"Those of each option, in its order."`
}

// ChatTask is a task as it was when it was spoken of.
type ChatTask struct {
	ID          int64       `json:"id"`
	Title       string      `json:"title"`
	Description *string     `json:"description,omitempty"`
	Status      task.Status `json:"status" enum:"pending,completed"`
	CompletedAt *time.Time  `json:"completed_at,omitempty"`
	Version     int64       `json:"version"`
}

func (s *Server) chatRoutes() {
	s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[ChatResponse](), true, "")
	register(s, route{id: "chat", method: http.MethodPost, path: "/api/chat", tag: "tasks", summary: "Say something to the task assistant, and have its response",
		problems: []int{http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusInsufficientStorage},
		content:  []mediaType{{jsonType, "ChatResponse", ""}},
		also:     []success{{http.StatusAccepted, "Begun", "The message waits; Location has the address of its run, whose outcome is the response."}}}, s.chat)
}

// chat begins a run, and answers with its response. The run goes on when the client goes away.
func (s *Server) chat(ctx context.Context, in *keyed[Chat]) (*huma.StreamResponse, error) {
	r := service.Request{Assistant: taskchat.Name, Session: in.Body.Conversation, Words: in.Body.Message, Key: in.Key}
	said := assistant.Said{Base: taskchat.Options{Model: in.Body.Model}}
	return s.answered(ctx, func() (service.Submitted, error) { return s.submit(ctx, r, said) }, func(t *stream, r service.Row) {
		t.answer(r, func(ctx context.Context, r service.Row) (any, error) {
			res, err := t.s.config.Service.Result(ctx, r.Owner, r.ID)
			return res.Outcome, err
		})
	})
}
