package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// request is the body of v1/messages.
type request struct {
	MaxTokens    int           `json:"max_tokens"`
	Messages     []message     `json:"messages"`
	Model        string        `json:"model"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
	System       []textBlock   `json:"system,omitempty"`
	Thinking     *thinking     `json:"thinking,omitempty"`
	ToolChoice   typeOnly      `json:"tool_choice,omitempty"`
	Tools        []tool        `json:"tools,omitempty"`
	Stream       bool          `json:"stream"`
}

// message is one turn. Its blocks have the types below, or are json.RawMessage as the provider gave it.
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
	Type  string   `json:"type"`
	Text  string   `json:"text"`
	Cache typeOnly `json:"cache_control,omitempty"`
}

type pictureBlock struct {
	Type   string        `json:"type"`
	Source pictureSource `json:"source"`
}

type pictureSource struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  []byte `json:"data"`
}

// typeOnly is an object with a type and no other field.
type typeOnly map[string]string

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
	Cache     typeOnly    `json:"cache_control,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
	Cache       typeOnly        `json:"cache_control,omitempty"`
}

// thinking says whether and how the model thinks before it answers.
type thinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens,omitempty"` // of the type enabled only: tokens out of MaxTokens
}

// outputConfig enforces the form of the answer, and sets the effort.
type outputConfig struct {
	Effort string  `json:"effort,omitempty"`
	Format *format `json:"format,omitempty"`
}

type format struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

// optional are the fields and values that not every endpoint and model accepts, in the order of the bits below.
var optional = []string{"output_config", "cache_control", "adaptive", "effort parameter", "disabled"}

const (
	withoutOutput = 1 << iota
	withoutCache
	withoutAdaptive
	withoutEffort
	withoutDisabled
)

// encode makes the body of a streaming request. The protocol rejects a whole conversation for a small fault. A schema
// that can't be enforced would be rejected, so it is not sent.
func (p protocol) encode(req wire.Request) (any, error) {
	body := request{Model: p.config.Model, MaxTokens: p.maxTokens(req), Stream: true}
	if !isBlank(req.System) {
		body.System = []textBlock{newTextBlock(req.System)}
	}
	var o outputConfig
	if req.Strict {
		o.Format = &format{"json_schema", req.Schema.JSON}
	}
	var c conversation
	for _, msg := range req.Messages {
		c.addMessage(p, msg)
	}
	body.Messages = c.wireMessages()
	body.Thinking, o.Effort = p.thinkingFor(body.MaxTokens, c.foreignCalls, req.Without)
	if o != (outputConfig{}) && req.Without&withoutOutput == 0 {
		body.OutputConfig = &o
	}
	tools := req.Tools
	if len(tools) == 0 {
		tools = c.calledTools // a conversation with calls is accepted only with tools
	}
	if len(tools) > 0 && (len(req.Tools) == 0 || req.NoCalls) {
		body.ToolChoice = typeOnly{"type": "none"}
	}
	for _, t := range tools {
		body.Tools = append(body.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: wire.Parameters(t)})
	}
	if req.Without&withoutCache == 0 {
		body.markCacheEnds()
	}
	return body, nil
}

// markCacheEnds marks the ends of the parts that later requests share with this one: tools and system prompt, which
// precede all messages, and the conversation so far.
func (r *request) markCacheEnds() {
	ephemeral := typeOnly{"type": "ephemeral"} // up to here the provider caches the request
	switch n := len(r.Tools); {
	case len(r.System) > 0:
		r.System[0].Cache = ephemeral
	case n > 0:
		r.Tools[n-1].Cache = ephemeral
	}
	last := r.Messages[len(r.Messages)-1].Content
	switch block := last[len(last)-1].(type) {
	case textBlock:
		block.Cache = ephemeral
		last[len(last)-1] = block
	case resultBlock:
		block.Cache = ephemeral
		last[len(last)-1] = block
	}
}

// thinkingFor returns the fields that ask the model to think as the settings say. The newest models decide themselves
// how much they think, within an effort, and some can't stop thinking. Older ones reject such fields by name, and take
// a budget instead; with a budget they reject a conversation with calls that lack their thinking (foreignCalls).
func (p protocol) thinkingFor(maxTokens int, foreignCalls bool, without uint32) (how *thinking, effort string) {
	switch {
	case p.config.Think == "":
		return nil, ""
	case p.config.Think == "off" && without&withoutDisabled != 0:
		return &thinking{Type: "between_tools"}, ""
	case p.config.Think == "off":
		return &thinking{Type: "disabled"}, ""
	case without&(withoutAdaptive|withoutEffort) == 0:
		return &thinking{Type: "adaptive"}, strings.TrimPrefix(p.config.Think, "on")
	}
	budget := min(budgets[p.config.Think], maxTokens/2)
	if budget < minBudget || foreignCalls {
		return nil, ""
	}
	return &thinking{"enabled", budget}, ""
}

// budgets are tokens of thinking for a Config.Think; minBudget is the least that the protocol accepts.
var budgets = map[string]int{"low": 2048, "on": 8192, "medium": 8192, "high": 24_576}

const minBudget = 1024

// conversation collects the messages on the wire. They alternate between user and assistant, so several messages of one
// role in a row become one.
type conversation struct {
	messages    []message
	results     int          // tool results that the last message begins with
	calledTools []model.Tool // the tools that were called, each once

	foreignCalls bool // a turn with calls lacks this model's own thinking
}

// addMessage appends msg.
func (c *conversation) addMessage(p protocol, msg model.Message) {
	switch msg.Role {
	case model.User:
		for _, picture := range msg.Pictures {
			c.addBlocks(roleUser, pictureBlock{"image", pictureSource{"base64", picture.Type, picture.Data}})
		}
		c.addBlocks(roleUser, newTextBlock(msg.Text))
	case model.ToolRole:
		c.addResult(resultBlock{Type: "tool_result", ToolUseID: wireID(msg.ToolCallID),
			Content: []textBlock{newTextBlock(msg.Text)}, IsError: msg.IsError})
	default:
		for _, call := range msg.ToolCalls {
			if !slices.ContainsFunc(c.calledTools, func(t model.Tool) bool { return t.Name == call.Name }) {
				c.calledTools = append(c.calledTools, model.Tool{Name: call.Name})
			}
		}
		blocks, own := p.nativeBlocks(msg)
		if !own {
			blocks = rebuildBlocks(msg)
			c.foreignCalls = c.foreignCalls || len(msg.ToolCalls) > 0
		}
		c.addBlocks(roleAssistant, blocks...)
	}
}

// nativeTurn is what Native.Turn holds: the content of an assistant turn as it is sent back, and the model that wrote
// it. Signatures are valid for that model only.
type nativeTurn struct {
	Model   string            `json:"model"`
	Content []json.RawMessage `json:"content"`
}

// nativeBlocks returns the blocks of msg as this model gave them. own is false if another model gave them, or if their
// calls are not exactly those of msg: a call without a result, or a result without a call, would be rejected.
func (p protocol) nativeBlocks(msg model.Message) (blocks []any, own bool) {
	var kept nativeTurn
	if !wire.ReadNative(msg, p.config.Provider, &kept) || kept.Model != p.config.Model {
		return nil, false
	}
	var ids []string
	last := ""
	for _, raw := range kept.Content {
		var b piece
		if json.Unmarshal(raw, &b) != nil || b.Type == "" {
			return nil, false
		}
		if b.Type == kindToolUse {
			ids = append(ids, b.ID)
		}
		last = b.Type
		blocks = append(blocks, raw)
	}
	if last == kindThinking || last == kindRedacted { // the API rejects them at the end
		blocks = append(blocks, newTextBlock(""))
	}
	same := slices.EqualFunc(ids, msg.ToolCalls, func(id string, call model.ToolCall) bool {
		return id == wireID(call.ID)
	})
	return blocks, same && len(blocks) > 0
}

// rebuildBlocks makes the blocks of an assistant turn from its text and calls.
func rebuildBlocks(msg model.Message) []any {
	var blocks []any
	if !isBlank(msg.Text) || len(msg.ToolCalls) == 0 {
		blocks = append(blocks, newTextBlock(msg.Text))
	}
	for _, call := range msg.ToolCalls {
		blocks = append(blocks, newCallBlock(call))
	}
	return blocks
}

func newCallBlock(call model.ToolCall) callBlock {
	return callBlock{kindToolUse, wireID(call.ID), call.Name, wire.ArgumentsObject(call.Arguments)}
}

// addBlocks adds blocks to the last message if it has this role, or else to a new one.
func (c *conversation) addBlocks(role string, blocks ...any) {
	if n := len(c.messages); n > 0 && c.messages[n-1].Role == role {
		c.messages[n-1].Content = append(c.messages[n-1].Content, blocks...)
		return
	}
	c.messages = append(c.messages, message{role, blocks})
	c.results = 0
}

// addResult adds a tool's result. In the message after a call, results have to precede everything else.
func (c *conversation) addResult(result resultBlock) {
	c.addBlocks(roleUser)
	last := &c.messages[len(c.messages)-1]
	last.Content = slices.Insert(last.Content, c.results, any(result))
	c.results++
}

// wireMessages returns the messages, and makes the first and the last one the user's: the protocol requires it of the
// first, and takes an assistant's message at the end for the beginning of the answer, which many models refuse.
func (c *conversation) wireMessages() []message {
	if len(c.messages) == 0 || c.messages[0].Role != roleUser {
		c.messages = slices.Insert(c.messages, 0, message{roleUser, []any{newTextBlock("")}})
	}
	c.addBlocks(roleUser)
	if last := &c.messages[len(c.messages)-1]; len(last.Content) == 0 {
		last.Content = append(last.Content, newTextBlock("(continue)"))
	}
	return c.messages
}

// newTextBlock makes a block of text. White space alone is replaced, since the API rejects it.
func newTextBlock(text string) textBlock {
	if isBlank(text) {
		text = wire.EmptyText
	}
	return textBlock{Type: kindText, Text: text}
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// wireID returns id in the alphabet of the protocol. An id of another provider may be outside it, and is encoded so
// that different ids stay different.
func wireID(id string) string {
	foreign := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	if id != "" && !strings.ContainsFunc(id, foreign) {
		return id
	}
	return "id_" + base64.RawURLEncoding.EncodeToString([]byte(id))
}
