package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// The types of items and of their parts that are read.
const (
	functionCall  = "function_call"
	reasoningItem = "reasoning"
)

// completed is the status of a whole answer. The others are incomplete and failed.
const completed = "completed"

// event is one event of the Responses API, or a whole answer, which has an Object in the place of a Type.
type event struct {
	Type     string          `json:"type"`
	Index    int             `json:"output_index"`
	Delta    loose           `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Response response        `json:"response"`
	Error    json.RawMessage `json:"error"`
}

// response is an answer as it is at its end.
type response struct {
	Status     string            `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Error      json.RawMessage   `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *struct {
		InputTokens  int `json:"input_tokens"`
		OutputTokens int `json:"output_tokens"` // those of the reasoning among them
		Details      struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
	} `json:"usage"`
}

// item holds the fields of one item of an answer that are read.
type item struct {
	Type      string    `json:"type"`
	CallID    string    `json:"call_id"`
	Name      wire.Text `json:"name"`
	Arguments loose     `json:"arguments"`
	Encrypted string    `json:"encrypted_content"`
	Content   []struct {
		Type    string    `json:"type"` // output_text or refusal
		Text    wire.Text `json:"text"`
		Refusal wire.Text `json:"refusal"`
	} `json:"content"`
}

// outputItem is an item of an answer. Its item and raw are set once it is complete.
type outputItem struct {
	index   int
	item    item
	raw     json.RawMessage
	hasText bool // text or refusal of it came in pieces
}

// maxOutputs bounds the items of one answer.
const maxOutputs = 1024

// responseTurn is an answer of the Responses API.
type responseTurn struct {
	incoming
	outputs []*outputItem
}

// readResponse reads the whole answer into x.
func (p *protocol) readResponse(x *wire.Call, answer *http.Response) error {
	t := &responseTurn{incoming: incoming{Call: x}}
	err := t.readAnswer(answer, false, t.applyEvent, func(body []byte) error {
		var r response
		if err := t.Decode(body, &r); err != nil {
			return t.BadEventError(body, err)
		}
		if t.Begun = r.Output != nil; !t.Begun {
			if err := t.Complaint(body); err != nil {
				return err
			}
		}
		return t.finishAnswer(&r)
	})
	slices.SortFunc(t.outputs, func(a, b *outputItem) int { return cmp.Compare(a.index, b.index) })
	for i := 0; i < len(t.outputs) && err == nil; i++ {
		if it := &t.outputs[i].item; it.Type == functionCall {
			err = x.AddCall(model.ToolCall{ID: it.CallID, Name: string(it.Name), Arguments: string(it.Arguments)})
		}
	}
	if err != nil {
		return err
	}
	return t.keepNative(p.config.Model)
}

// applyEvent applies one event to the answer. Events that only repeat others are ignored.
func (t *responseTurn) applyEvent(data []byte) error {
	if string(data) == "[DONE]" { // some gateways send it after the end
		return nil
	}
	var e event
	if err := t.Decode(data, &e); err != nil {
		return t.BadEventError(data, err)
	}
	if e.Type == "error" || wire.IsSet(e.Error) {
		return t.StreamError(data)
	}
	if !strings.HasPrefix(e.Type, "response.") {
		return t.Complaint(data)
	}
	t.Begun = true
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta", "response.output_item.done":
		o, err := t.itemAt(e.Index)
		switch {
		case err != nil:
			return err
		case e.Type == "response.output_text.delta":
			return t.addText(o, string(e.Delta))
		case e.Type == "response.refusal.delta":
			return t.addRefusal(o, string(e.Delta))
		}
		return t.finishItem(o, e.Item)
	case "response.function_call_arguments.delta": // they come again with their item, as does the reasoning
		return t.CountCall(string(e.Delta))
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return t.CountThinking(string(e.Delta))
	case "response.completed", "response.incomplete", "response.failed":
		return t.finishAnswer(&e.Response)
	}
	return nil
}

// itemAt returns the item with that index, which it adds if it is new.
func (t *responseTurn) itemAt(at int) (*outputItem, error) {
	for _, o := range slices.Backward(t.outputs) {
		if o.index == at {
			return o, nil
		}
	}
	if len(t.outputs) == maxOutputs {
		return nil, t.Fail(model.Garbled, fmt.Sprintf("the answer has more than %d parts", maxOutputs),
			model.ErrOversized)
	}
	o := &outputItem{index: at}
	t.outputs = append(t.outputs, o)
	return o, nil
}

// addText adds text of a message, with an empty line after the message before.
func (t *responseTurn) addText(o *outputItem, text string) error {
	if text != "" && !o.hasText && t.Text() != "" {
		text = "\n\n" + text
	}
	o.hasText = o.hasText || text != ""
	return t.EmitText(text)
}

func (t *responseTurn) addRefusal(o *outputItem, text string) error {
	o.hasText = o.hasText || text != ""
	t.refusal.WriteString(text)
	return t.CountBytes(len(text))
}

// finishItem reads a complete item. If it comes again, it is ignored.
func (t *responseTurn) finishItem(o *outputItem, raw json.RawMessage) error {
	if o.raw != nil {
		return nil
	}
	if err := t.Decode(raw, &o.item); err != nil {
		return t.BadEventError(raw, err)
	}
	o.raw = raw
	if o.hasText { // it came in pieces
		return t.CountBytes(len(raw))
	}
	for _, part := range o.item.Content {
		if part.Type != "output_text" && part.Type != "refusal" {
			continue
		}
		if err := cmp.Or(t.addText(o, string(part.Text)), t.addRefusal(o, string(part.Refusal))); err != nil {
			return err
		}
	}
	return t.CountBytes(len(raw))
}

// finishAnswer reads the end of the answer, and the items that did not come before.
func (t *responseTurn) finishAnswer(r *response) error {
	t.Done = true
	if r.Usage != nil {
		t.Usage = model.Usage{InputTokens: r.Usage.InputTokens, OutputTokens: r.Usage.OutputTokens,
			CachedTokens: r.Usage.Details.CachedTokens}
	}
	for i, raw := range r.Output {
		o, err := t.itemAt(i)
		if err == nil {
			err = t.finishItem(o, raw)
		}
		if err != nil {
			return err
		}
	}
	if wire.IsSet(r.Error) {
		return t.StreamError([]byte(`{"error":` + string(r.Error) + `}`))
	}
	t.Finish = cmp.Or(r.Incomplete.Reason, r.Status, completed)
	return nil
}

// keepNative keeps the items of an answer with encrypted reasoning in Native. Reasoning items without encrypted content
// can't be sent back: the provider has stored nothing.
func (t *responseTurn) keepNative(modelName string) (err error) {
	kept, reasoned := nativeTurn{Model: modelName}, false
	for _, o := range t.outputs {
		reasoning := o.item.Type == reasoningItem
		if o.raw != nil && (!reasoning || o.item.Encrypted != "") {
			kept.Items = append(kept.Items, o.raw)
			reasoned = reasoned || reasoning
		}
	}
	if reasoned {
		t.Native, err = wire.Marshal(kept)
	}
	return err
}

// CarriesText implements wire.Carrier.
func (item) CarriesText() {}
