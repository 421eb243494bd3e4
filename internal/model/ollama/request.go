package ollama

import (
	"encoding/json"
	"errors"
	"slices"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// chatRequest is the body of api/chat.
type chatRequest struct {
	Model     string          `json:"model"`
	Messages  []message       `json:"messages"`
	Stream    bool            `json:"stream"`
	Format    json.RawMessage `json:"format,omitempty"`
	Tools     []tool          `json:"tools,omitempty"`
	Think     any             `json:"think,omitempty"` // a bool or an effort
	KeepAlive string          `json:"keep_alive,omitempty"`
	Options   options         `json:"options"`
	Truncate  bool            `json:"truncate"`
	Shift     bool            `json:"shift"`
}

type options struct {
	NumCtx     int `json:"num_ctx,omitempty"`
	NumPredict int `json:"num_predict,omitempty"`
}

// message is one message on the wire, in both directions.
type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	Thinking   string `json:"thinking,omitempty"`
	ToolCalls  []call `json:"tool_calls,omitempty"`
	ToolName   string `json:"tool_name,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

// call is one tool call on the wire. Servers older than 0.12.10 give and take no id.
type call struct {
	ID       string   `json:"id,omitempty"`
	Function function `json:"function"`
}

type function struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // an object
}

type tool struct {
	Type     string         `json:"type"`
	Function toolDefinition `json:"function"`
}

type toolDefinition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// thought is what a Native turn holds: all that Text and ToolCalls of the turn leave out.
type thought struct {
	Thinking string `json:"thinking"`
}

// encode writes req as the body of a streaming request. The protocol has no word for tools that may not be called, so they are left
// out. Its only optional field is think: of some models it takes no effort, only yes or no.
func (p protocol) encode(req model.Request, without uint32) ([]byte, error) {
	known := p.known.Load()
	if known == nil {
		known = &facts{}
	}
	body := chatRequest{Model: p.name, Stream: true, Options: options{
		NumCtx: known.numCtx(p.config.NumCtx), NumPredict: max(0, req.MaxOutputTokens),
	}}
	if p.config.KeepAlive != 0 {
		body.KeepAlive = p.config.KeepAlive.String()
	}
	if slices.Contains(known.can, "thinking") {
		body.Think = think(p.config.Think, without != 0)
	}
	var err error
	if body.Messages, err = p.messages(req); err != nil {
		return nil, err
	}
	if req.NoCalls {
		req.Tools = nil
	}
	if body.Tools, err = tools(req.Tools); err != nil {
		return nil, err
	}
	if body.Format, _, err = wire.AnswerSchema(req); err != nil {
		return nil, err
	}
	b, err := json.Marshal(body)
	return b, err
}

// think is how the wire says a Config.Think, with or without an effort.
func think(set string, plainly bool) any {
	switch {
	case set == "":
		return nil
	case set == "on", set == "off", plainly:
		return set != "off"
	}
	return set
}

func (p protocol) messages(req model.Request) ([]message, error) {
	out := make([]message, 0, len(req.Messages)+1)
	if req.System != "" {
		out = append(out, message{Role: "system", Content: req.System})
	}
	for i, msg := range req.Messages {
		switch msg.Role {
		case model.User:
			out = append(out, message{Role: "user", Content: msg.Text})
		case model.Assistant:
			out = append(out, p.assistant(msg))
		case model.ToolRole:
			out = append(out, message{
				Role: "tool", Content: wire.Result(msg), ToolName: msg.ToolName, ToolCallID: msg.ToolCallID,
			})
		default:
			return nil, wire.UnknownRole(i, msg.Role)
		}
	}
	if len(out) == 0 { // by which Ollama is asked to load the model
		return nil, errors.New("the request holds no message")
	}
	return out, nil
}

func (p protocol) assistant(msg model.Message) message {
	out := message{Role: "assistant", Content: msg.Text}
	if msg.Native != nil && msg.Native.Provider == p.config.Provider {
		var native thought
		if json.Unmarshal(msg.Native.Turn, &native) == nil { // a turn without its thinking is still a turn
			out.Thinking = native.Thinking
		}
	}
	for i, c := range msg.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, call{
			ID: c.ID, Function: function{Index: i, Name: c.Name, Arguments: wire.Object(c.Arguments)},
		})
	}
	return out
}

func tools(offered []model.Tool) ([]tool, error) {
	var out []tool
	for _, t := range offered {
		schema, err := wire.ToolSchema(t)
		if err != nil {
			return nil, err
		}
		out = append(out, tool{Type: "function", Function: toolDefinition{
			Name: t.Name, Description: t.Description, Parameters: schema,
		}})
	}
	return out, nil
}
