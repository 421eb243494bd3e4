package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// nativeTurn is what Native.Turn holds beside the text and the calls of a turn, and the model that wrote it, for which alone it holds.
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

// skipSignature stands in for the thought signature of a call that Gemini's models did not make, as Google's documentation of them says.
const skipSignature = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// native is what msg holds of this very model's own; nothing, if another gave it.
func (p *protocol) native(msg *model.Message) nativeTurn {
	var turn nativeTurn
	if msg.Native == nil || msg.Native.Provider != p.provider || json.Unmarshal(msg.Native.Turn, &turn) != nil || turn.Model != p.name {
		return nativeTurn{}
	}
	return turn
}

// reason puts reasoning back into a message, in the fields that it came in.
func (n *nativeTurn) reason(m *chatMessage, q quirk) {
	if q&(noReasoning|wantsReasoning) == noReasoning {
		return
	}
	m.ReasoningContent, m.Reasoning, m.ReasoningDetails = n.Fields[reasoningContent], n.Fields[reasoning], n.Fields[reasoningDetails]
	if m.ReasoningContent == nil && q&wantsReasoning != 0 {
		m.ReasoningContent = json.RawMessage(`" "`) // an empty one counts as missing
	}
}

// extra is the extra_content of call i; nil if it has none.
func (n *nativeTurn) extra(i int, id string, q quirk) json.RawMessage {
	if extra := n.Calls[id]; extra != nil || i > 0 || q&signed == 0 {
		return extra
	}
	return json.RawMessage(skipSignature)
}

// thought is the reasoning of an answer that is coming in.
type thought struct {
	content, text strings.Builder // of the fields reasoning_content and reasoning
	details       []*detail
}

// detail is one entry of reasoning_details, which comes in parts: its fields, and its texts, which are added up.
type detail struct {
	fields map[string]json.RawMessage
	texts  map[string]*strings.Builder
}

// detailSize is what an entry takes in memory at least, in bytes.
const detailSize = 1 << 10

// detailParts are parts of entries; none, where an endpoint has a form of its own for them.
type detailParts []map[string]json.RawMessage

func (d *detailParts) UnmarshalJSON(raw []byte) error {
	_ = json.Unmarshal(raw, (*[]map[string]json.RawMessage)(d)) // reasoning is no answer, whose form would matter
	return nil
}

// addDetails adds parts to the entries that they belong to.
func (t *turn) addDetails(parts detailParts) error {
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		d, size := t.thought.detailFor(part), 0
		if d == nil {
			size = detailSize
			d = &detail{map[string]json.RawMessage{}, map[string]*strings.Builder{}}
			t.thought.details = append(t.thought.details, d)
		}
		for name, value := range part {
			size += len(name) + len(value)
			d.add(name, value)
		}
		if err := t.Keep(size); err != nil {
			return err
		}
	}
	return nil
}

// detailFor returns the entry that part goes on with: the one of its type with its index, or with its id if it has no index; a part
// with neither goes on with the last entry if that is of its type and text.
func (t *thought) detailFor(part map[string]json.RawMessage) *detail {
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

// add adds a piece of text, or puts a value in the place of the one before.
func (d *detail) add(name string, value json.RawMessage) {
	switch {
	case !wire.Given(value):
		if _, has := d.fields[name]; !has {
			d.fields[name] = value
		}
	case name == "text" || name == "summary" || name == "data":
		if d.texts[name] == nil {
			d.texts[name] = &strings.Builder{}
		}
		d.texts[name].WriteString(wire.Plain(value))
	default:
		d.fields[name] = value
	}
}

func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // a string
	return raw
}

// keepNative keeps the reasoning and the extras of a whole answer.
func (t *turn) keepNative() error {
	kept := nativeTurn{Model: t.name, Fields: map[string]json.RawMessage{}, Calls: map[string]json.RawMessage{}}
	for name, text := range map[string]*strings.Builder{reasoningContent: &t.thought.content, reasoning: &t.thought.text} {
		if text.Len() > 0 {
			kept.Fields[name] = quoted(text.String())
		}
	}
	if len(t.thought.details) > 0 {
		list := make([]map[string]json.RawMessage, 0, len(t.thought.details))
		for _, d := range t.thought.details {
			for name, text := range d.texts {
				d.fields[name] = quoted(text.String())
			}
			list = append(list, d.fields)
		}
		raw, err := wire.Marshal(list)
		if err != nil {
			return err
		}
		kept.Fields[reasoningDetails] = raw
	}
	for i, c := range t.calls {
		if wire.Given(c.extra) {
			kept.Calls[t.Calls[i].ID] = c.extra
		}
	}
	if len(kept.Fields)+len(kept.Calls) == 0 {
		return nil
	}
	var err error
	t.Native, err = wire.Marshal(kept)
	return err
}
