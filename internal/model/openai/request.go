package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"sibyl/internal/jsonappend"
	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// encode appends the body of a streaming request by hand, from the forms of the messages that are encoded already. The order of
// the fields is go-openai's.
func (p *protocol) encode(req model.Request, without uint32) ([]byte, error) {
	system := p.systemForm(req.System)
	tools, err := p.toolsForm(req.Tools)
	if err != nil {
		return nil, err
	}
	format, err := formatForm(req)
	if err != nil {
		return nil, err
	}
	size := 256 + len(system) + len(tools) + len(format)
	for i := range req.Messages {
		size += messageSize(&req.Messages[i])
	}
	b := append(make([]byte, 0, size), `{"model":`...)
	b = append(jsonappend.String(b, p.name), `,"messages":[`...)
	b = append(b, system...)
	for i := range req.Messages {
		msg := &req.Messages[i]
		if msg.Role != model.User && msg.Role != model.Assistant && msg.Role != model.ToolRole {
			return nil, wire.UnknownRole(i, msg.Role)
		}
		if b[len(b)-1] != '[' {
			b = append(b, ',')
		}
		b = msg.AppendEncoded(b, "openai", appendMessage)
	}
	b = append(b, `],`...)
	if req.MaxOutputTokens != 0 {
		b = strconv.AppendInt(append(b, p.limit...), int64(req.MaxOutputTokens), 10)
		b = append(b, ',')
	}
	b = append(b, `"stream":true`...)
	if without&responseFormat == 0 {
		b = append(b, format...)
	}
	b = append(b, tools...)
	if without&streamOptions == 0 {
		b = append(b, `,"stream_options":{"include_usage":true}`...)
	}
	return append(b, '}'), nil
}

// messageSize is about the length of a message's form.
func messageSize(m *model.Message) int {
	n := 96 + len(m.Text)*9/8
	for i := range m.ToolCalls {
		n += 128 + len(m.ToolCalls[i].Arguments)*9/8
	}
	return n
}

// systemForm is the system prompt as a message; empty if there is none.
func (p *protocol) systemForm(system string) []byte {
	if system == "" {
		return nil
	}
	if last := p.system.Load(); last != nil && last.sent == system {
		return last.form
	}
	form := append(jsonappend.String([]byte(`{"role":"system","content":`), system), '}')
	p.system.Store(&last[string]{system, form})
	return form
}

func appendMessage(b []byte, msg *model.Message) []byte {
	switch msg.Role {
	case model.User:
		b = jsonappend.String(append(b, `{"role":"user","content":`...), said(msg.Text))
	case model.Assistant:
		b = append(b, `{"role":"assistant"`...)
		if msg.Text != "" || len(msg.ToolCalls) == 0 {
			b = jsonappend.String(append(b, `,"content":`...), said(msg.Text))
		}
		for i, call := range msg.ToolCalls {
			b = append(b, separator(i, `,"tool_calls":[`)...)
			b = appendField(append(b, '{'), `"id":`, call.ID)
			b = append(b, `"type":"function","function":{`...)
			b = appendField(b, `"name":`, call.Name)
			b = jsonappend.String(append(b, `"arguments":`...), string(wire.Object(call.Arguments)))
			b = append(b, `}}`...)
		}
		if len(msg.ToolCalls) > 0 {
			b = append(b, ']')
		}
	case model.ToolRole:
		b = jsonappend.String(append(b, `{"role":"tool","content":`...), said(wire.Result(*msg)))
		if msg.ToolCallID != "" {
			b = jsonappend.String(append(b, `,"tool_call_id":`...), msg.ToolCallID)
		}
	}
	return append(b, '}')
}

// appendField appends a field with a comma behind it, unless it is empty.
func appendField(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return append(jsonappend.String(append(b, key...), value), ',')
}

// separator stands before entry i of a list: what opens it, or a comma.
func separator(i int, open string) string {
	if i == 0 {
		return open
	}
	return ","
}

// said stands in for an empty text: the protocol wants content in every message.
func said(text string) string { return cmp.Or(text, wire.Empty) }

// toolsForm is the field of the tools that are offered; empty if there are none.
func (p *protocol) toolsForm(offered []model.Tool) ([]byte, error) {
	if len(offered) == 0 {
		return nil, nil
	}
	same := func(a, b model.Tool) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
	}
	if last := p.tools.Load(); last != nil && slices.EqualFunc(last.sent, offered, same) {
		return last.form, nil
	}
	var b []byte
	for i, t := range offered {
		schema, err := wire.ToolSchema(t)
		if err != nil {
			return nil, err
		}
		b = append(append(b, separator(i, `,"tools":[`)...), `{"function":{`...)
		b = jsonappend.String(append(b, `"name":`...), t.Name)
		b = appendField(append(b, ','), `"description":`, t.Description)
		b = appendRaw(append(b, `"parameters":`...), schema)
		b = append(b, `},"type":"function"}`...)
	}
	b = append(b, ']')
	p.tools.Store(&last[[]model.Tool]{slices.Clone(offered), b})
	return b, nil
}

// formatForm is the field of the schema that the answer is to fit; empty if there is none.
func formatForm(req model.Request) ([]byte, error) {
	schema, strict, err := wire.AnswerSchema(req)
	if schema == nil || err != nil {
		return nil, err
	}
	b := jsonappend.String([]byte(`,"response_format":{"type":"json_schema","json_schema":{"name":`), req.Schema.Name)
	b = appendRaw(append(b, `,"schema":`...), schema)
	b = strconv.AppendBool(append(b, `,"strict":`...), strict)
	return append(b, `}}`...), nil
}

// appendRaw appends valid JSON as encoding/json does.
func appendRaw(b []byte, raw json.RawMessage) []byte {
	form, err := json.Marshal(raw)
	if err != nil { // it is valid
		return append(b, raw...)
	}
	return append(b, form...)
}
