package ollama

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/ollama/ollama/api"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

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
	if wire.IsWebPage(resp) {
		return x.WebPage()
	}
	lines := x.Lines(resp.Body)
	for lines.Next() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := x.take(line, t); err != nil {
			if lines.Cut(err) {
				break
			}
			return err
		}
		if t.done {
			x.Drain(resp.Body)
			return x.conclude(t)
		}
	}
	return lines.Failure()
}

// take reads one line into t.
func (x *exchange) take(line []byte, t *turn) error {
	var p part
	if err := json.Unmarshal(line, &p); err != nil {
		return x.Fail(model.Garbled, "a line of the answer is not the JSON that the protocol promises: "+err.Error()+x.BaseHint(), err)
	}
	if wire.Given(p.Error) {
		return x.Inside(x.judge(0, complain(p.Error)))
	}
	if p.Message == nil && !p.Done {
		return x.Fail(model.Garbled, "a line of the answer holds neither a message nor its end"+x.BaseHint(), nil)
	}
	if p.RemoteHost != "" && x.m.Local() {
		return x.Fail(model.Invalid, "this is no local model: the server passed the conversation on to "+p.RemoteHost+
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
	size := len(msg.Content) + len(msg.Thinking)
	for _, c := range msg.ToolCalls {
		size += len(c.ID) + len(c.Function.Name) + len(c.Function.Arguments)
	}
	if err := x.Keep(size); err != nil {
		return err
	}
	if err := x.KeepCalls(len(t.calls) + len(msg.ToolCalls)); err != nil {
		return err
	}
	for _, c := range msg.ToolCalls { // the protocol always sends them whole
		call, err := x.Complete(model.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: argumentsText(c.Function.Arguments)})
		if err != nil {
			return err
		}
		t.calls = append(t.calls, call)
	}
	t.thinking.WriteString(msg.Thinking)
	t.text.WriteString(msg.Content)
	return x.Emit(t.emit, msg.Content)
}

// conclude says whether an answer that came to its end is one.
func (x *exchange) conclude(t *turn) error {
	if t.finish == finishFilter && t.text.Len() == 0 && len(t.calls) == 0 {
		return x.Fail(model.Refused, "the provider's content filter left nothing of the answer", nil)
	}
	return nil
}
