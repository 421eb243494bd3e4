package ollama

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// chunk is one line: a piece of an answer, its end, or an error.
type chunk struct {
	Message      *piece          `json:"message"`
	Done         bool            `json:"done"`
	DoneReason   string          `json:"done_reason"`
	RemoteHost   string          `json:"remote_host"`
	Error        json.RawMessage `json:"error"`
	InputTokens  int             `json:"prompt_eval_count"`
	OutputTokens int             `json:"eval_count"`
}

// piece is a piece of the answer's message.
type piece struct {
	Content   wire.Text `json:"content"`
	Thinking  string    `json:"thinking"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      wire.Text       `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// turn is an answer while it comes in.
type turn struct {
	*wire.Call
	protocol
	thinking strings.Builder
}

// readTurn reads the whole answer into x. If it breaks off, its thinking is kept all the same.
func (p protocol) readTurn(x *wire.Call, answer *http.Response) error {
	t := &turn{Call: x, protocol: p}
	err := x.ReadLines(answer.Body, t.applyLine)
	if t.thinking.Len() > 0 {
		x.Native, _ = json.Marshal(nativeTurn{t.thinking.String()}) // a string always encodes
	}
	return err
}

// applyLine applies one line to the answer.
func (t *turn) applyLine(line []byte) error {
	var p chunk
	if err := t.Decode(line, &p); err != nil {
		return t.Fail(model.Garbled, "a line of the answer is not the JSON that the protocol promises: "+err.Error()+
			t.BaseHint(), err)
	}
	if wire.IsSet(p.Error) {
		return t.StreamError(line)
	}
	if p.Message == nil && !p.Done {
		if err := t.Complaint(line); err != nil {
			return err
		}
		return t.NoAnswerError("a line of the answer holds neither a message nor its end" + t.BaseHint())
	}
	if p.RemoteHost != "" && t.config.Local && !isCloud(t.config.Model) {
		return t.Fail(model.Invalid, "this is no local model: the server passed the conversation on to "+p.RemoteHost+
			"; choose another, or do not call this server local", nil)
	}
	if p.Done {
		t.Done, t.Finish = true, p.DoneReason
		t.Usage = model.Usage{InputTokens: p.InputTokens, OutputTokens: p.OutputTokens}
	}
	if p.Message == nil {
		return nil
	}
	return t.addMessage(p.Message)
}

// addMessage adds text, thinking and calls of msg to the answer.
func (t *turn) addMessage(msg *piece) error {
	if err := t.CountThinking(msg.Thinking); err != nil {
		return err
	}
	for _, c := range msg.ToolCalls { // the protocol always sends them whole
		if err := cmp.Or(t.CountBytes(len(c.ID)), t.CountCall(string(c.Function.Name)),
			t.CountCall(string(c.Function.Arguments))); err != nil {
			return err
		}
		if c.ID == "" && c.Function.Name == "" && !wire.IsSet(c.Function.Arguments) {
			continue // an empty entry
		}
		call := model.ToolCall{ID: c.ID, Name: string(c.Function.Name), Arguments: argumentsText(c.Function.Arguments)}
		if err := t.AddCall(call); err != nil {
			return err
		}
	}
	t.thinking.WriteString(msg.Thinking)
	return t.EmitText(string(msg.Content))
}

// argumentsText returns the arguments as JSON text. A server may send them as a string: then it returns that string.
func argumentsText(raw json.RawMessage) string {
	var written string
	if len(raw) > 0 && json.Unmarshal(raw, &written) != nil {
		return unescapeHTML(raw)
	}
	return written // empty for null and for missing arguments
}

// unescapeHTML replaces the escapes of <, > and & in JSON, which Ollama writes: they are hard to read.
func unescapeHTML(raw []byte) string {
	return strings.NewReplacer(
		`\\`, `\\`, // an escaped backslash begins no other escape
		`\u003c`, "<", `\u003C`, "<", `\u003e`, ">", `\u003E`, ">", `\u0026`, "&",
	).Replace(string(raw))
}

// CarriesText implements wire.Carrier.
func (piece) CarriesText() {}
