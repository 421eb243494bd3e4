package ollama

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/ollama/ollama/api"

	"sibyl/internal/model"
)

// maxAnswer bounds one answer, and one line of it.
const maxAnswer = 8 << 20

const tooLarge = "the answer is larger than 8 MB"

// part is what is read of one line: a chunk of an answer, its end, or an error.
type part struct {
	Message    *message        `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	RemoteHost string          `json:"remote_host"`
	Error      json.RawMessage `json:"error"`
	api.Metrics
}

// read takes the whole answer into t.
func (x *exchange) read(resp *http.Response, t *turn) error {
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
		return x.fail(model.Garbled, "the answer is a web page"+x.baseHint(), nil)
	}
	lines := newLines(resp.Body)
	for x.next(lines) {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := x.take(line, t); err != nil {
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
	}
	return x.broken("the stream was cut", io.ErrUnexpectedEOF)
}

// next waits for a line. Silence counts from the first line on, as a model may have to be loaded before it, and only
// here: a receiver may take its time in emit.
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

// take reads one line into t.
func (x *exchange) take(line []byte, t *turn) error {
	var p part
	if err := json.Unmarshal(line, &p); err != nil {
		return x.fail(model.Garbled, "a line of the answer is not the JSON that the protocol promises: "+err.Error()+x.baseHint(), err)
	}
	if len(p.Error) > 0 && string(p.Error) != "null" {
		said := complain(p.Error)
		return x.fail(kindOf(0, said), "inside the stream: "+said+x.advice(said), nil)
	}
	if p.Message == nil && !p.Done {
		return x.fail(model.Garbled, "a line of the answer holds neither a message nor its end"+x.baseHint(), nil)
	}
	if p.RemoteHost != "" && x.m.Local() {
		return x.fail(model.Invalid, "this is no local model: the server passed the conversation on to "+p.RemoteHost+
			"; choose another, or do not call this server local", nil)
	}
	if p.Done {
		t.done, t.finish = true, p.DoneReason
		t.usage = model.Usage{InputTokens: p.PromptEvalCount, OutputTokens: p.EvalCount}
	}
	if p.Message == nil {
		return nil
	}
	return x.apply(p.Message, t)
}

// apply adds msg to t and passes its text on.
func (x *exchange) apply(msg *message, t *turn) error {
	t.size += len(msg.Content) + len(msg.Thinking)
	for _, c := range msg.ToolCalls {
		t.size += len(c.ID) + len(c.Function.Name) + len(c.Function.Arguments)
	}
	switch {
	case t.size > maxAnswer:
		return x.fail(model.Garbled, tooLarge, nil)
	case len(t.calls)+len(msg.ToolCalls) > maxCalls:
		return x.fail(model.Garbled, "the answer calls more than 256 tools", nil)
	}
	for _, c := range msg.ToolCalls {
		if c.Function.Name == "" {
			return x.fail(model.Garbled, "the answer calls a tool without naming it", nil)
		}
		t.addCall(c)
	}
	t.thinking.WriteString(msg.Thinking)
	if msg.Content == "" {
		return nil
	}
	t.text.WriteString(msg.Content)
	if t.emit == nil {
		return nil
	}
	if err := t.emit(model.Delta{Text: msg.Content}); err != nil {
		return x.fail(model.Cancelled, "the receiver ended the answer: "+err.Error(), err)
	}
	return nil
}

// conclude says whether an answer that came to its end is one.
func (x *exchange) conclude(t *turn) error {
	if t.finish == finishFilter && t.text.Len() == 0 && len(t.calls) == 0 {
		return x.fail(model.Refused, "the provider's content filter left nothing of the answer", nil)
	}
	return nil
}

// drain waits a moment for the end of the body, without which the connection could not be used again.
func (x *exchange) drain(body io.Reader) {
	end := time.AfterFunc(drainTime, func() { x.cancel(nil) })
	defer end.Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(body, maxErrorBody))
}

// lines scans a stream line by line.
type lines struct {
	*bufio.Scanner
	any  bool // a line has come
	open bool // the last line had no end
}

// firstBuffer holds a usual line whole.
const firstBuffer = 4 << 10

func newLines(r io.Reader) *lines {
	l := &lines{Scanner: bufio.NewScanner(r)}
	l.Buffer(make([]byte, 0, firstBuffer), maxAnswer)
	l.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		advance, line, err := bufio.ScanLines(data, atEOF)
		l.any = l.any || advance > 0
		l.open = atEOF && advance == len(data) && len(line) > 0 && data[len(data)-1] != '\n'
		return advance, line, err
	})
	return l
}
