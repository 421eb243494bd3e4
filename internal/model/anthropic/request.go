package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// request is the body of v1/messages.
type request struct {
	MaxTokens    int         `json:"max_tokens"`
	Messages     []message   `json:"messages"`
	Model        string      `json:"model"`
	OutputConfig *output     `json:"output_config,omitempty"`
	System       []any       `json:"system,omitempty"`
	ToolChoice   *toolChoice `json:"tool_choice,omitempty"`
	Tools        []tool      `json:"tools,omitempty"`
	Stream       bool        `json:"stream"`
}

// message is one turn. Its blocks are the types below, or json.RawMessage as the provider gave it.
type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

// The roles of a message. Results of tools are the user's.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
)

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type callBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type resultBlock struct {
	Type      string      `json:"type"`
	ToolUseID string      `json:"tool_use_id"`
	Content   []textBlock `json:"content"`
	IsError   bool        `json:"is_error"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type toolChoice struct {
	Type string `json:"type"`
}

// output enforces the form of the answer.
type output struct {
	Format struct {
		Type   string          `json:"type"`
		Schema json.RawMessage `json:"schema"`
	} `json:"format"`
}

// encode puts req into the form that the protocol wants, which rejects a whole conversation for a small fault. The only optional
// field is that of the answer's form; a schema that can't be enforced would be rejected.
func (p protocol) encode(req model.Request, without uint32) ([]byte, error) {
	body := request{Model: p.name, MaxTokens: DefaultMaxOutputTokens, Stream: true}
	if req.MaxOutputTokens > 0 {
		body.MaxTokens = req.MaxOutputTokens
	}
	if !blank(req.System) {
		body.System = []any{text(req.System)}
	}
	schema, strict, err := wire.AnswerSchema(req)
	if err != nil {
		return nil, err
	}
	if strict && without == 0 {
		body.OutputConfig = &output{}
		body.OutputConfig.Format.Type, body.OutputConfig.Format.Schema = "json_schema", schema
	}
	var c conversation
	for i, msg := range req.Messages {
		if !c.add(p, msg) {
			return nil, wire.UnknownRole(i, msg.Role)
		}
	}
	body.Messages = c.finish()
	tools := req.Tools
	if len(tools) == 0 && len(c.called) > 0 {
		// A conversation that holds calls is accepted only with tools.
		body.ToolChoice = &toolChoice{"none"}
		tools = c.called
	}
	for _, t := range tools {
		schema, err := inputSchema(t)
		if err != nil {
			return nil, err
		}
		body.Tools = append(body.Tools, tool{t.Name, t.Description, schema})
	}
	return wire.Marshal(body)
}

// conversation is the messages on the wire. They alternate between user and assistant, so messages of one role in a row
// become one.
type conversation struct {
	messages []message
	results  int          // tool results that the last message begins with
	called   []model.Tool // the tools that were called, each once
}

// add puts msg behind the others. It is false for a role that is not known.
func (c *conversation) add(p protocol, msg model.Message) bool {
	switch msg.Role {
	case model.User:
		c.say(roleUser, text(msg.Text))
	case model.Assistant:
		for _, call := range msg.ToolCalls {
			if !slices.ContainsFunc(c.called, func(t model.Tool) bool { return t.Name == call.Name }) {
				c.called = append(c.called, model.Tool{Name: call.Name})
			}
		}
		blocks, ok := p.replay(msg)
		if !ok {
			blocks = rebuilt(msg)
		}
		c.say(roleAssistant, blocks...)
	case model.ToolRole:
		c.answer(resultBlock{"tool_result", wireID(msg.ToolCallID), []textBlock{text(msg.Text)}, msg.IsError})
	default:
		return false
	}
	return true
}

// rebuilt is an assistant turn made of its text and calls.
func rebuilt(msg model.Message) []any {
	var blocks []any
	if !blank(msg.Text) || len(msg.ToolCalls) == 0 {
		blocks = append(blocks, text(msg.Text))
	}
	for _, call := range msg.ToolCalls {
		blocks = append(blocks, toolUse(call))
	}
	return blocks
}

func toolUse(call model.ToolCall) callBlock {
	return callBlock{kindToolUse, wireID(call.ID), call.Name, wire.Object(call.Arguments)}
}

// say adds blocks to the last message, if it is of this role, or begins another.
func (c *conversation) say(role string, blocks ...any) {
	if n := len(c.messages); n > 0 && c.messages[n-1].Role == role {
		c.messages[n-1].Content = append(c.messages[n-1].Content, blocks...)
		return
	}
	c.messages = append(c.messages, message{role, blocks})
	c.results = 0
}

// answer adds a tool's result. In the message that follows a call, the results come before anything else.
func (c *conversation) answer(result resultBlock) {
	c.say(roleUser)
	last := &c.messages[len(c.messages)-1]
	last.Content = slices.Insert(last.Content, c.results, any(result))
	c.results++
}

// finish returns the messages, which on this wire begin and end with the user's: the first must, and an assistant's in
// the last place is taken for the beginning of the answer, which many models refuse.
func (c *conversation) finish() []message {
	if len(c.messages) == 0 || c.messages[0].Role != roleUser {
		c.messages = slices.Insert(c.messages, 0, message{roleUser, []any{text("")}})
	}
	c.say(roleUser)
	if last := &c.messages[len(c.messages)-1]; len(last.Content) == 0 {
		last.Content = append(last.Content, text("(continue)"))
	}
	return c.messages
}

// text is a block of it. A block of white space alone is rejected.
func text(text string) textBlock {
	if blank(text) {
		text = wire.Empty
	}
	return textBlock{kindText, text}
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// wireID returns id in the alphabet that the wire takes. An id that another provider made may be outside it; it is
// spelled in a way that no two ids share.
func wireID(id string) string {
	foreign := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	if id != "" && !strings.ContainsFunc(id, foreign) {
		return id
	}
	return "id_" + base64.RawURLEncoding.EncodeToString([]byte(id))
}

// inputSchema is the schema of a tool's arguments, whose type the wire wants to be said.
func inputSchema(t model.Tool) (json.RawMessage, error) {
	schema, err := wire.ToolSchema(t)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(schema, &fields); err != nil || fields == nil {
		return nil, fmt.Errorf("the schema of tool %q is not a JSON object", t.Name)
	}
	if fields["type"] != nil {
		return schema, nil
	}
	fields["type"] = json.RawMessage(`"object"`)
	return json.Marshal(fields)
}
