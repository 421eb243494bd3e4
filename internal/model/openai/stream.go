package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	fastjson "github.com/segmentio/encoding/json"

	"sibyl/internal/model"
)

// maxAnswer bounds one answer, and one line of it.
const maxAnswer = 8 << 20

const tooLarge = "the answer is larger than 8 MB"

// part is what is read of one event: a chunk of a stream, a whole answer (Message in the place of Delta) or an error.
type part struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// choice is one of several answers to a request. Only the first, number 0, is asked for.
type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	Message      *delta `json:"message"`
	FinishReason string `json:"finish_reason"`
}

// reset makes p ready for the next event and keeps its memory. The decoder does not clear what it reuses.
func (p *part) reset() {
	choices := p.Choices[:cap(p.Choices)]
	clear(choices)
	*p = part{Choices: choices[:0]}
}

type delta struct {
	Content   string     `json:"content"`
	Refusal   string     `json:"refusal"`
	ToolCalls []callPart `json:"tool_calls"`
}

type callPart struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// arguments is a JSON string's value, or other JSON as it stands: some endpoints send the object itself.
type arguments string

func (a *arguments) UnmarshalJSON(raw []byte) error {
	*a = arguments(plain(raw))
	return nil
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Details          struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// read takes the whole answer into t.
func (x *exchange) read(resp *http.Response, t *turn) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		body, err := x.readAll(resp.Body)
		if err != nil {
			return err
		}
		if err := x.take(body, t); err != nil {
			return err
		}
		return x.conclude(t)
	case "text/html":
		return x.fail(model.Garbled, "the answer is a web page"+x.baseHint(), nil)
	}
	return x.readStream(resp.Body, t)
}

// readStream reads server-sent events. As every endpoint puts an event's data on one line, a line is an event.
func (x *exchange) readStream(body io.Reader, t *turn) error {
	lines := newLines(body)
	for x.next(lines) {
		data, ok := eventData(lines.Bytes())
		switch {
		case !ok:
			continue
		case string(data) == "[DONE]":
			t.done = true
			x.drain(body)
			return x.conclude(t)
		}
		if err := x.take(data, t); err != nil {
			if lines.open && model.KindOf(err) == model.Garbled {
				break // a line without its end is a cut stream, whatever it holds
			}
			return err
		}
	}
	switch err := lines.Err(); {
	case t.finish != "" && x.caller.Err() == nil:
		// Only usage and [DONE] can be missing.
		return x.conclude(t)
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

// decode reads an event. The fast decoder takes half the CPU of encoding/json, but it follows nesting to any depth, and
// a large event could exhaust the stack with it.
func decode(event []byte, p *part) error {
	if len(event) <= maxFast {
		return fastjson.Unmarshal(event, p)
	}
	return json.Unmarshal(event, p)
}

// maxFast is more than any usual event, and less than could nest too deep.
const maxFast = 64 << 10

// take reads one event into t.
func (x *exchange) take(data []byte, t *turn) error {
	p := &t.part
	p.reset()
	if err := decode(data, p); err != nil {
		return x.fail(model.Garbled, "an event of the answer is not the JSON that the protocol promises: "+err.Error(), err)
	}
	if len(p.Error) > 0 && string(p.Error) != "null" {
		said := parseComplaint(data)
		return x.fail(said.kind(http.StatusOK), "inside the stream: "+said.Message, nil)
	}
	if p.Usage != nil {
		t.usage = model.Usage{
			InputTokens: p.Usage.PromptTokens, OutputTokens: p.Usage.CompletionTokens,
			CachedTokens: p.Usage.Details.CachedTokens,
		}
	}
	for i := range p.Choices {
		if p.Choices[i].Index == 0 {
			return x.choose(&p.Choices[i], t)
		}
	}
	return nil
}

func (x *exchange) choose(c *choice, t *turn) error {
	t.begun = true
	if c.FinishReason != "" {
		t.finish = c.FinishReason
	}
	if c.Message != nil {
		t.done = true
		return x.apply(c.Message, t)
	}
	return x.apply(&c.Delta, t)
}

// apply adds d to t and passes its text on.
func (x *exchange) apply(d *delta, t *turn) error {
	t.size += len(d.Content) + len(d.Refusal)
	for i := range d.ToolCalls {
		c := &d.ToolCalls[i]
		t.size += len(c.ID) + len(c.Function.Name) + len(c.Function.Arguments)
		t.addCall(c)
	}
	if t.size > maxAnswer {
		return x.fail(model.Garbled, tooLarge, nil)
	}
	if len(t.calls) > maxCalls {
		return x.fail(model.Garbled, "the answer calls more than 256 tools", nil)
	}
	t.refusal.WriteString(d.Refusal)
	if d.Content == "" {
		return nil
	}
	t.text.WriteString(d.Content)
	if t.emit == nil {
		return nil
	}
	if err := t.emit(model.Delta{Text: d.Content}); err != nil {
		return x.fail(model.Cancelled, "the receiver ended the answer: "+err.Error(), err)
	}
	return nil
}

// conclude says whether an answer that came to its end is one.
func (x *exchange) conclude(t *turn) error {
	switch {
	case t.refusal.Len() > 0:
		t.finish = finishFilter
		return x.fail(model.Refused, t.refusal.String(), nil)
	case t.finish == finishFilter && t.text.Len() == 0 && len(t.calls) == 0:
		return x.fail(model.Refused, "the provider's content filter left nothing of the answer", nil)
	case !t.begun:
		return x.fail(model.Garbled, "the answer holds no choice", nil)
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
