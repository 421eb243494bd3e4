package gemini

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"sibyl/internal/model"
)

// maxAnswer bounds one answer, and one line of it.
const maxAnswer = 8 << 20

const tooLarge = "the answer is larger than 8 MB"

// event is what is read of one event of the stream: a GenerateContentResponse or an error.
type event struct {
	Candidates     []candidate     `json:"candidates"`
	PromptFeedback *promptFeedback `json:"promptFeedback"`
	Usage          *usage          `json:"usageMetadata"`
	Error          json.RawMessage `json:"error"`
}

// candidate is one of several answers to a request. Only the first, number 0, is asked for.
type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	FinishReason  string `json:"finishReason"`
	FinishMessage string `json:"finishMessage"`
}

type promptFeedback struct {
	BlockReason        string `json:"blockReason"`
	BlockReasonMessage string `json:"blockReasonMessage"`
}

// usage counts up in the course of a stream. The prompt's count includes what was cached.
type usage struct {
	Prompt     int `json:"promptTokenCount"`
	ToolPrompt int `json:"toolUsePromptTokenCount"`
	Cached     int `json:"cachedContentTokenCount"`
	Candidates int `json:"candidatesTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount"`
}

// readStream reads server-sent events. As the API puts an event's data on one line, a line is an event; only an error
// that stands outside of any event spans several.
func (x *exchange) readStream(body io.Reader, t *turn) error {
	lines := newLines(body)
	var bare []byte
	for x.next(lines) {
		data, isEvent := eventData(lines.Bytes())
		switch {
		case isEvent:
		case len(bare) > 0 || startsJSON(lines.Bytes()):
			if len(bare) > maxErrorBody {
				return x.fail(model.Garbled, "the stream holds something that is no event"+x.baseHint(), nil)
			}
			bare = append(bare, lines.Bytes()...)
			continue
		default:
			continue
		}
		if err := x.take(data, t); err != nil {
			if lines.open && model.KindOf(err) == model.Garbled {
				break // a line without its end is a cut stream, whatever it holds
			}
			return err
		}
	}
	return x.ended(lines, bare, t)
}

// ended says how a stream ended that has no more lines. bare is what stood in it outside of any event.
func (x *exchange) ended(lines *lines, bare []byte, t *turn) error {
	switch err := lines.Err(); {
	case json.Valid(bare) && x.caller.Err() == nil:
		return x.bareError(bare)
	case t.over() && len(bare) == 0 && x.caller.Err() == nil:
		// Only usage can be missing.
		return x.conclude(t)
	case errors.Is(err, bufio.ErrTooLong):
		return x.fail(model.Garbled, tooLarge, nil)
	case err != nil:
		return x.broken("the stream was cut", err)
	case !t.begun && (lines.junk || t.strange):
		return x.fail(model.Garbled, "the answer is not a stream of the Gemini API"+x.baseHint(), nil)
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

// take reads one event into t.
func (x *exchange) take(data []byte, t *turn) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return x.fail(model.Garbled, "an event of the answer is not the JSON that the protocol promises: "+err.Error(), err)
	}
	if len(e.Error) > 0 && string(e.Error) != "null" {
		return x.streamError(data)
	}
	if e.Candidates == nil && e.PromptFeedback == nil && e.Usage == nil {
		t.strange = true
		return nil
	}
	t.begun = true
	if e.Usage != nil {
		t.usage = model.Usage{
			InputTokens:  e.Usage.Prompt + e.Usage.ToolPrompt,
			OutputTokens: e.Usage.Candidates + e.Usage.Thoughts,
			CachedTokens: e.Usage.Cached,
		}
	}
	if e.PromptFeedback != nil {
		t.blocked, t.blockedBecause = e.PromptFeedback.BlockReason, e.PromptFeedback.BlockReasonMessage
	}
	for i := range e.Candidates {
		if e.Candidates[i].Index == 0 {
			return x.choose(&e.Candidates[i], t)
		}
	}
	return nil
}

func (x *exchange) choose(c *candidate, t *turn) error {
	if c.FinishReason != "" {
		t.finish, t.finishMessage = c.FinishReason, c.FinishMessage
	}
	for _, raw := range c.Content.Parts {
		if err := x.add(raw, t); err != nil {
			return err
		}
	}
	return nil
}

// streamError is the error for one that came after the response had begun.
func (x *exchange) streamError(body []byte) *model.Error {
	said := parseComplaint(body)
	e := x.fail(said.kind(http.StatusOK), "inside the stream: "+said.message, nil)
	e.RetryAfter = said.retryAfter
	return e
}

// bareError is the error for JSON that stands outside of any event: the API reports so that it broke off.
func (x *exchange) bareError(body []byte) *model.Error {
	var e event
	var list []event
	if json.Unmarshal(body, &e) == nil && len(e.Error) > 0 ||
		json.Unmarshal(body, &list) == nil && len(list) > 0 && len(list[0].Error) > 0 {
		return x.streamError(body)
	}
	return x.fail(model.Garbled, "the stream holds something that is no event"+x.baseHint(), nil)
}

// eventData returns the data of an event's line.
func eventData(line []byte) ([]byte, bool) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	data = bytes.TrimSpace(data)
	return data, ok && len(data) > 0
}

func startsJSON(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && (line[0] == '{' || line[0] == '[')
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
