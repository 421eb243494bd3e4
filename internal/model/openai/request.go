package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// bridge stands where an endpoint wants a turn of the assistant between a tool's message and a user's. To fold what the user says into
// the tool's message would make it data.
const bridge = `{"role":"assistant","content":"I have the results."},`

// encode appends the body of a streaming request by hand, from the forms of the messages that are encoded already. The order of
// the fields is go-openai's.
func (p *protocol) encode(req model.Request, without uint32) (wire.Body, error) {
	q := p.quirks(without)
	system := p.systemForm(`{"role":"system","content":`, req.System, `}`)
	tools, err := p.toolsForm(req.Tools, `{"function":{`, `},"type":"function"}`)
	if err != nil {
		return nil, err
	}
	format, err := formatForm(req, `,"response_format":{"type":"json_schema","json_schema":{`, `}}`)
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, sizeOf(req)+len(format)), `{"model":`...)
	b = append(appendString(b, p.name), `,"messages":[`...)
	toSystem := len(b)
	if len(system) > 0 && len(req.Messages) > 0 {
		b = append(b, ',')
	}
	b, err = p.appendMessages(b, req.Messages, q, p.memo, p.appendMessage)
	if err != nil {
		return nil, err
	}
	b = append(b, `],`...)
	if req.MaxOutputTokens != 0 {
		limit := `"max_tokens":`
		if q&newLimit != 0 != (q&otherLimit != 0) {
			limit = `"max_completion_tokens":`
		}
		b = strconv.AppendInt(append(b, limit...), int64(req.MaxOutputTokens), 10)
		b = append(b, ',')
	}
	b = append(b, `"stream":true`...)
	if q&noFormat == 0 {
		b = append(b, format...)
	}
	toTools := len(b)
	tools, b = chosenTools(b, tools, req.NoCalls, q)
	if q&noStreamOptions == 0 {
		b = append(b, `,"stream_options":{"include_usage":true}`...)
	}
	if effort := q.effort(p.think); effort != "" {
		b = appendString(append(b, `,"reasoning_effort":`...), effort)
	}
	b = append(b, '}')
	return wire.Body{b[:toSystem], system, b[toSystem:toTools], tools, b[toTools:]}, nil
}

// sizeOf is about the length of what each request holds alone.
func sizeOf(req model.Request) int {
	size := 256
	for i := range req.Messages {
		size += messageSize(&req.Messages[i])
	}
	return size
}

// appendMessages appends all messages in the form that one encodes, with commas between.
func (p *protocol) appendMessages(b []byte, messages []model.Message, q quirk, memo string, one func([]byte, *model.Message, quirk) []byte) ([]byte, error) {
	if q != p.known {
		memo += strconv.Itoa(int(q))
	}
	encode := func(b []byte, msg *model.Message) []byte { return one(b, msg, q) }
	for i := range messages {
		msg := &messages[i]
		if msg.Role != model.User && msg.Role != model.Assistant && msg.Role != model.ToolRole {
			return nil, wire.UnknownRole(i, msg.Role)
		}
		if i > 0 {
			b = append(b, ',')
		}
		if q&bridged != 0 && i > 0 && msg.Role == model.User && messages[i-1].Role == model.ToolRole {
			b = append(b, bridge...)
		}
		b = msg.AppendEncoded(b, memo, encode)
	}
	return b, nil
}

// chosenTools is the field of the tools that is sent, and b with what follows it: that none may be called, if so. Where that can't be said, the tools are
// left out.
func chosenTools(b, tools []byte, noCalls bool, q quirk) (sent, behind []byte) {
	switch {
	case len(tools) == 0 || noCalls && q&noToolChoice != 0:
		return nil, b
	case noCalls:
		return tools, append(b, `,"tool_choice":"none"`...)
	}
	return tools, b
}

// messageSize is about the length of a message's form.
func messageSize(m *model.Message) int {
	n := 96 + len(m.Text)*9/8
	for i := range m.ToolCalls {
		n += 128 + len(m.ToolCalls[i].Arguments)*9/8
	}
	return n
}

// systemForm is the system prompt between what stands before and behind it; empty if there is none.
func (p *protocol) systemForm(before, system, behind string) []byte {
	if system == "" {
		return nil
	}
	if last := p.system.Load(); last != nil && last.sent == system {
		return last.form
	}
	form := append(appendString([]byte(before), system), behind...)
	p.system.Store(&last[string]{system, form})
	return form
}

func (p *protocol) appendMessage(b []byte, msg *model.Message, q quirk) []byte {
	switch msg.Role {
	case model.User:
		b = appendString(append(b, `{"role":"user","content":`...), said(msg.Text))
	case model.Assistant:
		b = append(b, `{"role":"assistant"`...)
		if msg.Text != "" || len(msg.ToolCalls) == 0 {
			b = appendString(append(b, `,"content":`...), said(msg.Text))
		}
		native := p.native(msg)
		b = native.appendReasoning(b, q)
		for i, call := range msg.ToolCalls {
			b = append(b, separator(i, `,"tool_calls":[`)...)
			b = appendField(append(b, '{'), `"id":`, q.callID(call.ID))
			b = append(b, `"type":"function","function":{`...)
			b = appendField(b, `"name":`, call.Name)
			b = appendString(append(b, `"arguments":`...), string(wire.Object(call.Arguments)))
			b = append(b, '}')
			if extra := native.extra(i, call.ID, q); extra != nil {
				b = append(append(b, `,"extra_content":`...), extra...)
			}
			b = append(b, '}')
		}
		if len(msg.ToolCalls) > 0 {
			b = append(b, ']')
		}
	case model.ToolRole:
		b = appendString(append(b, `{"role":"tool","content":`...), said(wire.Result(*msg)))
		if msg.ToolCallID != "" {
			b = appendString(append(b, `,"tool_call_id":`...), q.callID(msg.ToolCallID))
		}
	}
	return append(b, '}')
}

// appendString appends a JSON string.
func appendString(b []byte, s string) []byte {
	quoted, _ := json.Marshal(s) // a string
	return append(b, quoted...)
}

// appendField appends a field with a comma behind it, unless it is empty.
func appendField(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return append(appendString(append(b, key...), value), ',')
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

// toolsForm is the field of the tools that are offered, each between what stands before and behind it; empty if there are none.
func (p *protocol) toolsForm(offered []model.Tool, before, behind string) ([]byte, error) {
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
		b = append(append(b, separator(i, `,"tools":[`)...), before...)
		b = appendString(append(b, `"name":`...), t.Name)
		b = appendField(append(b, ','), `"description":`, t.Description)
		b = appendRaw(append(b, `"parameters":`...), schema)
		b = append(b, behind...)
	}
	b = append(b, ']')
	p.tools.Store(&last[[]model.Tool]{slices.Clone(offered), b})
	return b, nil
}

// formatForm is the field of the schema that the answer is to fit, between what stands before and behind it; empty if there is none.
func formatForm(req model.Request, before, behind string) ([]byte, error) {
	schema, strict, err := wire.AnswerSchema(req)
	if schema == nil || err != nil {
		return nil, err
	}
	b := appendString(append([]byte(before), `"name":`...), req.Schema.Name)
	b = appendRaw(append(b, `,"schema":`...), schema)
	b = strconv.AppendBool(append(b, `,"strict":`...), strict)
	return append(b, behind...), nil
}

// appendRaw appends valid JSON as encoding/json does.
func appendRaw(b []byte, raw json.RawMessage) []byte {
	form, err := json.Marshal(raw)
	if err != nil { // it is valid
		return append(b, raw...)
	}
	return append(b, form...)
}
