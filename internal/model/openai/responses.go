package openai

import (
	"encoding/json"
	"strconv"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// encodeResponse appends the body of a streaming request to the Responses API, as encode does that of one for chat completions. The
// provider is to keep nothing: what it thought comes encrypted, and goes back.
func (p *protocol) encodeResponse(req model.Request, without uint32) (wire.Body, error) {
	q := p.quirks(without)
	system := p.systemForm(`,"instructions":`, req.System, ``)
	tools, err := p.toolsForm(req.Tools, `{"type":"function",`, `,"strict":false}`) // which is true where nothing is said
	if err != nil {
		return nil, err
	}
	format, err := formatForm(req, `,"text":{"format":{"type":"json_schema",`, `}}`)
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, sizeOf(req)+len(format)), `{"model":`...)
	b = appendString(b, p.name)
	toSystem := len(b)
	b = append(b, `,"input":[`...)
	b, err = p.appendMessages(b, req.Messages, q, "responses of "+p.memo, p.appendItems)
	if err != nil {
		return nil, err
	}
	b = append(b, `],"stream":true,"store":false`...)
	if q&noEncrypted == 0 {
		b = append(b, `,"include":["reasoning.encrypted_content"]`...)
	}
	if req.MaxOutputTokens != 0 {
		b = strconv.AppendInt(append(b, `,"max_output_tokens":`...), int64(req.MaxOutputTokens), 10)
	}
	if q&noFormat == 0 {
		b = append(b, format...)
	}
	toTools := len(b)
	tools, b = chosenTools(b, tools, req.NoCalls, q)
	b = append(appendThinking(b, q.effort(p.think), q), '}')
	return wire.Body{b[:toSystem], system, b[toSystem:toTools], tools, b[toTools:]}, nil
}

// appendThinking appends how much to think, and that a summary is to come of it: without one, a model that thinks for long is silent.
func appendThinking(b []byte, effort string, q quirk) []byte {
	summary := ""
	if q&(noSummary|noEncrypted) == 0 {
		summary = "auto"
	}
	if effort == "" && summary == "" {
		return b
	}
	b = append(b, `,"reasoning":{`...)
	b = appendField(b, `"effort":`, effort)
	b = appendField(b, `"summary":`, summary)
	b[len(b)-1] = '}' // in the place of a comma
	return b
}

// appendItems appends the items of a message: those that the model gave itself as they came.
func (p *protocol) appendItems(b []byte, msg *model.Message, _ quirk) []byte {
	switch msg.Role {
	case model.User:
		return append(appendString(append(b, `{"role":"user","content":`...), said(msg.Text)), '}')
	case model.ToolRole:
		b = appendString(append(b, `{"type":"function_call_output","call_id":`...), msg.ToolCallID)
		return append(appendString(append(b, `,"output":`...), said(wire.Result(*msg))), '}')
	}
	native := p.native(msg)
	if calledBy(native.Items, msg.ToolCalls) {
		for i, item := range native.Items {
			b = append(append(b, separator(i, ``)...), item...)
		}
		return b
	}
	if msg.Text != "" || len(msg.ToolCalls) == 0 {
		b = append(appendString(append(b, `{"role":"assistant","content":`...), said(msg.Text)), '}')
	}
	for i, call := range msg.ToolCalls {
		if i > 0 || msg.Text != "" {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"type":"function_call","call_id":`...), call.ID)
		b = appendString(append(b, `,"name":`...), call.Name)
		b = appendString(append(b, `,"arguments":`...), string(wire.Object(call.Arguments)))
		b = append(b, '}')
	}
	return b
}

// calledBy says whether items hold these very calls: one without a result, or a result without a call, would be rejected.
func calledBy(items []json.RawMessage, calls []model.ToolCall) bool {
	if len(items) == 0 {
		return false
	}
	for _, raw := range items {
		var it item
		if json.Unmarshal(raw, &it) != nil || it.Type == "" {
			return false
		}
		if it.Type != functionCall {
			continue
		}
		if len(calls) == 0 || calls[0].ID != it.CallID {
			return false
		}
		calls = calls[1:]
	}
	return len(calls) == 0
}
