package anthropic

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	wire "github.com/anthropics/anthropic-sdk-go"

	"sibyl/internal/model"
)

// maxAnswer bounds one answer, and one line of it.
const maxAnswer = 8 << 20

const tooLarge = "the answer is larger than 8 MB"

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
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
		return x.fail(model.Garbled, "the answer is a web page"+x.baseHint(), nil)
	}
	lines := newLines(resp.Body)
	// As every endpoint puts an event's data on one line, and its type in there, a line is an event.
	for x.next(lines) {
		data, ok := eventData(lines.Bytes())
		if !ok {
			continue
		}
		if err := x.take(data, t); err != nil {
			if lines.open && model.KindOf(err) == model.Garbled {
				break // a line without its end is a cut stream, whatever it holds
			}
			return err
		}
		if t.done {
			x.drain(resp.Body)
			return x.conclude(t)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return x.fail(model.Garbled, tooLarge, nil)
	case err != nil:
		return x.broken("the stream was cut", err)
	case !t.begun && lines.junk:
		return x.fail(model.Garbled, "the answer is not an event stream"+x.baseHint(), nil)
	}
	return x.broken("the stream was cut", io.ErrUnexpectedEOF)
}

// next waits for a line. Silence counts from the first line on, and only here: a receiver may take its time in emit.
func (x *exchange) next(lines *lines) bool {
	if x.m.idle <= 0 || !lines.any {
		return lines.Scan()
	}
	if x.idle == nil {
		x.idle = time.AfterFunc(x.m.idle, func() { x.cancel(errSilent) })
	} else {
		x.idle.Reset(x.m.idle)
	}
	defer x.idle.Stop()
	return lines.Scan()
}

// take reads one event into t. Types that are not known are passed over, as the protocol asks.
func (x *exchange) take(data []byte, t *turn) error {
	t.event = event{}
	e := &t.event
	if err := json.Unmarshal(data, e); err != nil && (!json.Valid(data) || known(e.Type)) {
		return x.fail(model.Garbled, "an event of the answer is not the JSON that the protocol promises: "+err.Error(), err)
	}
	if e.Type == "error" || (len(e.Error) > 0 && string(e.Error) != "null") {
		said := parseComplaint(data)
		return x.fail(said.kind(http.StatusOK), "inside the stream: "+said.Message, nil)
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
		return x.fail(model.Garbled, "the answer has more than 1024 blocks", nil)
	}
	b := &block{index: e.Index, kind: e.Block.Type}
	t.blocks = append(t.blocks, b)
	switch b.kind {
	case kindToolUse:
		b.id, b.name, b.input = e.Block.ID, e.Block.Name, e.Block.Input
	case kindRedacted:
		b.data = e.Block.Data
	}
	if err := x.grow(t, len(b.id)+len(b.name)+len(b.input)+len(b.data)); err != nil {
		return err
	}
	return x.extend(b, &delta{Text: e.Block.Text, Thinking: e.Block.Thinking, Signature: e.Block.Signature}, t)
}

// goOn adds to the block that e is for.
func (x *exchange) goOn(e *event, t *turn) error {
	b := t.at(e.Index)
	if b == nil {
		return x.fail(model.Garbled, "the answer goes on with a block that it never began", nil)
	}
	return x.extend(b, &e.Delta, t)
}

// extend adds of d what belongs into a block of b's kind, and passes text on.
func (x *exchange) extend(b *block, d *delta, t *turn) error {
	switch b.kind {
	case kindToolUse:
		b.arguments.WriteString(d.PartialJSON)
		return x.grow(t, len(d.PartialJSON))
	case kindThinking:
		b.text.WriteString(d.Thinking)
		b.signature.WriteString(d.Signature)
		return x.grow(t, len(d.Thinking)+len(d.Signature))
	case kindText:
		if err := x.grow(t, len(d.Text)); err != nil {
			return err
		}
		return x.speak(b, d.Text, t)
	}
	return nil
}

func (x *exchange) speak(b *block, text string, t *turn) error {
	b.text.WriteString(text)
	t.text.WriteString(text)
	if t.emit == nil || text == "" {
		return nil
	}
	if err := t.emit(model.Delta{Text: text}); err != nil {
		return x.fail(model.Cancelled, "the receiver ended the answer: "+err.Error(), err)
	}
	return nil
}

// grow counts what is kept of the answer.
func (x *exchange) grow(t *turn, n int) error {
	if t.size += n; t.size > maxAnswer {
		return x.fail(model.Garbled, tooLarge, nil)
	}
	return nil
}

// conclude says whether an answer that came to its end is one.
func (x *exchange) conclude(t *turn) error {
	refused := t.finish == string(wire.StopReasonRefusal) && t.text.Len() == 0
	for _, b := range t.blocks {
		refused = refused && b.kind != kindToolUse
	}
	switch {
	case refused && t.explanation != "":
		return x.fail(model.Refused, t.explanation, nil)
	case refused:
		return x.fail(model.Refused, "the provider refused to answer", nil)
	case !t.begun:
		return x.fail(model.Garbled, "the answer holds no message", nil)
	}
	return x.closeCalls(t)
}

// drain waits a moment for the end of the body, without which the connection could not be used again.
func (x *exchange) drain(body io.Reader) {
	end := time.AfterFunc(drainTime, func() { x.cancel(nil) })
	defer end.Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(body, maxErrorBody))
}

// eventData returns the data of an event's line. A bare JSON object counts too: some endpoints send an error so.
func eventData(line []byte) ([]byte, bool) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok && !bytes.HasPrefix(line, []byte("{")) {
		return nil, false
	}
	data = bytes.TrimSpace(data)
	return data, len(data) > 0
}

// lines scans a stream line by line.
type lines struct {
	*bufio.Scanner
	any  bool // a line has come
	open bool // the last line had no end
	junk bool // a line was none that an event stream can have
}

// firstBuffer holds a usual event whole.
const firstBuffer = 4 << 10

func newLines(r io.Reader) *lines {
	l := &lines{Scanner: bufio.NewScanner(r)}
	l.Buffer(make([]byte, 0, firstBuffer), maxAnswer)
	l.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		advance, line, err := bufio.ScanLines(data, atEOF)
		l.any = l.any || advance > 0
		l.open = atEOF && advance == len(data) && len(line) > 0 && data[len(data)-1] != '\n'
		l.junk = l.junk || (len(line) > 0 && !isField(line))
		return advance, line, err
	})
	return l
}

// isField says whether line is a comment or one of the fields that the event stream format knows.
func isField(line []byte) bool {
	name, _, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "", "data", "event", "id", "retry":
		return true
	}
	return false
}
