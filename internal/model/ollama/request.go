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
	NumCtx      int      `json:"num_ctx,omitempty"`
	NumPredict  int      `json:"num_predict,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
}

// message is one message of a request.
type message struct {
	Role       string   `json:"role"`
	Content    string   `json:"content"`
	Images     [][]byte `json:"images,omitempty"`
	Thinking   string   `json:"thinking,omitempty"`
	ToolCalls  []call   `json:"tool_calls,omitempty"`
	ToolName   string   `json:"tool_name,omitempty"`
	ToolCallID string   `json:"tool_call_id,omitempty"`
}

// call is one tool call of a request. Servers older than 0.12.10 give and take no id.
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

// nativeTurn is what Native.Turn holds: what Text and ToolCalls of a turn leave out.
type nativeTurn struct {
	Thinking string `json:"thinking"`
}

// encode makes the body of a streaming request. The protocol has no field for tools that may not be called, so they are
// left out. The only optional field is think: for some models it accepts no effort, only true or false.
func (p protocol) encode(req wire.Request) (any, error) {
	known := p.knownFacts()
	body := chatRequest{Model: p.config.Model, Messages: p.encodeMessages(req), Stream: true, Options: options{
		NumCtx: known.numCtx(p.config.NumCtx), NumPredict: max(0, req.MaxOutputTokens),
	}}
	if req.Greedy {
		body.Options.Temperature = new(float64)
	}
	if len(body.Messages) == 0 { // Ollama takes it as a request to load the model
		return nil, errors.New("the request holds no message")
	}
	if p.config.KeepAlive != 0 {
		body.KeepAlive = p.config.KeepAlive.String()
	}
	if slices.Contains(known.capabilities, "thinking") {
		body.Think = thinkValue(p.config.Think, req.Without != 0)
	}
	if req.Schema != nil {
		body.Format = req.Schema.JSON
	}
	for _, t := range req.Tools {
		if !req.NoCalls {
			body.Tools = append(body.Tools, tool{"function", toolDefinition{t.Name, t.Description, wire.Parameters(t)}})
		}
	}
	return body, nil
}

// thinkValue returns the field's value for a Config.Think: a bool or an effort; nil: the field is left out.
func thinkValue(set string, withoutEffort bool) any {
	switch {
	case set == "":
		return nil
	case set == "on", set == "off", withoutEffort:
		return set != "off"
	}
	return set
}

func (p protocol) encodeMessages(req wire.Request) (all []message) {
	if req.System != "" {
		all = append(all, message{Role: "system", Content: req.System})
	}
	for _, msg := range req.Messages {
		m := message{Role: string(msg.Role), Content: msg.Text, ToolName: msg.ToolName, ToolCallID: msg.ToolCallID}
		switch msg.Role {
		case model.User:
			for _, picture := range msg.Pictures {
				m.Images = append(m.Images, picture.Data)
			}
		case model.ToolRole:
			m.Content = wire.ResultText(msg)
		case model.Assistant:
			var native nativeTurn
			if wire.ReadNative(msg, p.config.Provider, &native) { // a turn may lack its thinking
				m.Thinking = native.Thinking
			}
			for i, c := range msg.ToolCalls {
				m.ToolCalls = append(m.ToolCalls, call{c.ID, function{i, c.Name, wire.ArgumentsObject(c.Arguments)}})
			}
		}
		all = append(all, m)
	}
	return all
}
