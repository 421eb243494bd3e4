package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// nativeTurn is what Native.Turn holds besides the text and the calls of a turn, and the model that wrote it: it is
// sent back only to that model.
type nativeTurn struct {
	Model  string                     `json:"model"`
	Fields map[string]json.RawMessage `json:"fields,omitempty"` // reasoning in the message, by the name of its field
	Calls  map[string]json.RawMessage `json:"calls,omitempty"`  // extra_content of calls, by their ids
	Items  []json.RawMessage          `json:"items,omitempty"`  // the whole turn, from the Responses API
}

// The fields of a message that hold reasoning.
const (
	reasoningContent = "reasoning_content" // DeepSeek, Moonshot, llama.cpp, SGLang
	reasoning        = "reasoning"         // vLLM, Groq, OpenRouter
	reasoningDetails = "reasoning_details" // OpenRouter
)

// skipSignature replaces the thought signature of a call that was not made by Gemini's models, as Google documents it.
const skipSignature = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// nativeOf returns the native turn in msg, if this very model wrote it; otherwise an empty one.
func (p *protocol) nativeOf(msg model.Message) nativeTurn {
	var turn nativeTurn
	if !wire.ReadNative(msg, p.config.Provider, &turn) || turn.Model != p.config.Model {
		return nativeTurn{}
	}
	return turn
}

// restoreReasoning puts the reasoning back into the fields of a message in which it came.
func (n *nativeTurn) restoreReasoning(m *chatMessage, q quirk) {
	if q&(noReasoning|wantsReasoning) == noReasoning {
		return
	}
	m.ReasoningContent, m.Reasoning, m.ReasoningDetails = n.Fields[reasoningContent], n.Fields[reasoning],
		n.Fields[reasoningDetails]
	if m.ReasoningContent == nil && q&wantsReasoning != 0 {
		m.ReasoningContent = json.RawMessage(`" "`) // an empty one counts as missing
	}
}

// extraContent returns the extra_content of call i; nil if it has none.
func (n *nativeTurn) extraContent(i int, id string, q quirk) json.RawMessage {
	if extra := n.Calls[id]; extra != nil || i > 0 || q&needsSignature == 0 {
		return extra
	}
	return json.RawMessage(skipSignature)
}

// reasoningBuffer collects the reasoning of an answer.
type reasoningBuffer struct {
	reasoningContent, reasoningText strings.Builder // of the fields reasoning_content and reasoning
	details                         []*detail
}

// detail is one entry of reasoning_details, which comes in parts: its fields, and its text so far.
type detail struct {
	fields    detailPart
	textField string // of the field with the text
	text      strings.Builder
}

type detailPart map[string]json.RawMessage

// detailParts are parts of entries; none if an endpoint has another form for them.
type detailParts []detailPart

func (d *detailParts) UnmarshalJSON(raw []byte) error {
	_ = json.Unmarshal(raw, (*[]detailPart)(d)) // reasoning in an unknown form is no fault of the answer
	return nil
}

// detailSize is the least memory that an entry takes, in bytes.
const detailSize = 1 << 10

// addPart adds a part to the entry that it belongs to, and returns how many bytes are kept for it.
func (t *reasoningBuffer) addPart(part detailPart) (size int) {
	if len(part) == 0 {
		return 0
	}
	d := t.detailFor(part)
	if d == nil {
		size = detailSize
		d = &detail{fields: detailPart{}}
		t.details = append(t.details, d)
	}
	for name, value := range part {
		size += len(name) + len(value)
		switch _, has := d.fields[name]; {
		case has && !wire.IsSet(value):
		case wire.IsSet(value) && (name == "text" || name == "summary" || name == "data"):
			d.textField = name
			d.text.WriteString(wire.PlainText(value))
		default:
			d.fields[name] = value
		}
	}
	return size
}

// detailFor returns the entry that a part belongs to: the one of its type with its index, or with its id if it has no
// index. A text without either belongs to the last entry, if that is of its type.
func (t *reasoningBuffer) detailFor(part detailPart) *detail {
	for i, d := range slices.Backward(t.details) {
		same := func(name string) bool { return string(d.fields[name]) == string(part[name]) }
		switch last := i == len(t.details)-1; {
		case !same("type") || !same("index"):
		case part["index"] != nil, same("id") && (part["id"] != nil || last && part["text"] != nil):
			return d
		}
	}
	return nil
}

func jsonString(text string) json.RawMessage {
	raw, _ := wire.Marshal(text) // a string
	return raw
}

// keepNative keeps the reasoning and the calls' extra content of a whole answer in Native.
func (t *turn) keepNative(modelName string) (err error) {
	kept := nativeTurn{Model: modelName, Fields: map[string]json.RawMessage{}, Calls: map[string]json.RawMessage{}}
	if t.reasoning.reasoningContent.Len() > 0 {
		kept.Fields[reasoningContent] = jsonString(t.reasoning.reasoningContent.String())
	}
	if t.reasoning.reasoningText.Len() > 0 {
		kept.Fields[reasoning] = jsonString(t.reasoning.reasoningText.String())
	}
	var details []detailPart
	for _, d := range t.reasoning.details {
		if d.textField != "" {
			d.fields[d.textField] = jsonString(d.text.String())
		}
		details = append(details, d.fields)
	}
	if details != nil {
		if kept.Fields[reasoningDetails], err = wire.Marshal(details); err != nil {
			return err
		}
	}
	for i, c := range t.partialCalls {
		if wire.IsSet(c.extra) {
			kept.Calls[t.Calls[i].ID] = c.extra
		}
	}
	if len(kept.Fields)+len(kept.Calls) > 0 {
		t.Native, err = wire.Marshal(kept)
	}
	return err
}
