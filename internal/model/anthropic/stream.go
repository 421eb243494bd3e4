package anthropic

import (
	"cmp"
	"encoding/json"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// event is what is read of an event of any type.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Block struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta delta           `json:"delta"`
	Usage usage           `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// delta goes on with a block, or says how the message ends.
type delta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	Signature   string `json:"signature"`
	PartialJSON string `json:"partial_json"`
	StopReason  string `json:"stop_reason"`
	StopDetails struct {
		Explanation string `json:"explanation"`
	} `json:"stop_details"`
}

// read takes the whole answer into t.
func (x *exchange) read(resp *http.Response, t *turn) error {
	if wire.IsWebPage(resp) {
		return x.WebPage()
	}
	events := x.Events(resp.Body)
	for events.Next() {
		data, ok := events.DataOrBare()
		if !ok {
			continue
		}
		if err := x.take(data, t); err != nil {
			if events.Cut(err) {
				break
			}
			return err
		}
		if t.done {
			x.Drain(resp.Body)
			return x.conclude(t)
		}
	}
	if !t.begun && events.Foreign() {
		return x.Fail(model.Garbled, "the answer is not an event stream"+x.BaseHint(), nil)
	}
	return events.Failure()
}

// take reads one event into t. Types that are not known are passed over, as the protocol asks.
func (x *exchange) take(data []byte, t *turn) error {
	t.event = event{}
	e := &t.event
	if err := json.Unmarshal(data, e); err != nil && (!json.Valid(data) || known(e.Type)) {
		return x.BadEvent(err)
	}
	if e.Type == "error" || wire.Given(e.Error) {
		return x.Inside(x.complaint(http.StatusOK, data))
	}
	switch e.Type {
	case "message_start":
		t.begun = true
		t.usage.update(e.Message.Usage)
	case "content_block_start":
		return x.begin(e, t)
	case "content_block_delta":
		return x.goOn(e, t)
	case "message_delta":
		t.usage.update(e.Usage)
		t.finish = cmp.Or(e.Delta.StopReason, t.finish)
		t.explanation = cmp.Or(e.Delta.StopDetails.Explanation, t.explanation)
	case "message_stop":
		t.done = true
	}
	return nil
}

// known says whether the form of an event of that type is known. An error is read in any form.
func known(eventType string) bool {
	switch eventType {
	case "message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop":
		return true
	}
	return false
}

// begin adds a block to t.
func (x *exchange) begin(e *event, t *turn) error {
	if len(t.blocks) == maxBlocks {
		return x.Fail(model.Garbled, "the answer has more than 1024 blocks", nil)
	}
	b := &block{index: e.Index, kind: e.Block.Type}
	t.blocks = append(t.blocks, b)
	switch b.kind {
	case kindToolUse:
		b.id, b.name, b.input = e.Block.ID, e.Block.Name, e.Block.Input
	case kindRedacted:
		b.data = e.Block.Data
	}
	if err := x.Keep(len(b.id) + len(b.name) + len(b.input) + len(b.data)); err != nil {
		return err
	}
	return x.extend(b, &delta{Text: e.Block.Text, Thinking: e.Block.Thinking, Signature: e.Block.Signature}, t)
}

// goOn adds to the block that e is for.
func (x *exchange) goOn(e *event, t *turn) error {
	b := t.at(e.Index)
	if b == nil {
		return x.Fail(model.Garbled, "the answer goes on with a block that it never began", nil)
	}
	return x.extend(b, &e.Delta, t)
}

// extend adds of d what belongs into a block of b's kind, and passes text on.
func (x *exchange) extend(b *block, d *delta, t *turn) error {
	switch b.kind {
	case kindToolUse:
		b.arguments.WriteString(d.PartialJSON)
		return x.Keep(len(d.PartialJSON))
	case kindThinking:
		b.text.WriteString(d.Thinking)
		b.signature.WriteString(d.Signature)
		return x.Keep(len(d.Thinking) + len(d.Signature))
	case kindText:
		if err := x.Keep(len(d.Text)); err != nil {
			return err
		}
		return x.speak(b, d.Text, t)
	}
	return nil
}

func (x *exchange) speak(b *block, text string, t *turn) error {
	b.text.WriteString(text)
	t.text.WriteString(text)
	return x.Emit(t.emit, text)
}

// conclude says whether an answer that came to its end is one.
func (x *exchange) conclude(t *turn) error {
	refused := t.finish == string(sdk.StopReasonRefusal) && t.text.Len() == 0
	for _, b := range t.blocks {
		refused = refused && b.kind != kindToolUse
	}
	switch {
	case refused && t.explanation != "":
		return x.Fail(model.Refused, t.explanation, nil)
	case refused:
		return x.Fail(model.Refused, "the provider refused to answer", nil)
	case !t.begun:
		return x.Fail(model.Garbled, "the answer holds no message", nil)
	}
	return x.closeCalls(t)
}
