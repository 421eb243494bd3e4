package gemini

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

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

// readStream takes the whole answer into t. Only an error that stands outside of any event spans several lines.
func (x *exchange) readStream(body io.Reader, t *turn) error {
	events := x.Events(body)
	var bare []byte
	for events.Next() {
		data, isEvent := events.Data()
		switch {
		case isEvent:
		case len(bare) > 0 || startsJSON(events.Bytes()):
			if len(bare) > wire.MaxFailure {
				return x.noEvent()
			}
			bare = append(bare, events.Bytes()...)
			continue
		default:
			continue
		}
		if err := x.take(data, t); err != nil {
			if events.Cut(err) {
				break
			}
			return err
		}
	}
	return x.ended(events, bare, t)
}

// ended says how a stream ended that has no more lines. bare is what stood in it outside of any event.
func (x *exchange) ended(events *wire.Events, bare []byte, t *turn) error {
	switch {
	case json.Valid(bare) && !x.Withdrawn():
		return x.bareError(bare)
	case t.over() && len(bare) == 0 && !x.Withdrawn():
		// Only usage can be missing.
		return x.conclude(t)
	case !t.begun && (events.Foreign() || (t.strange && events.Over())):
		return x.Fail(model.Garbled, "the answer is not a stream of the Gemini API"+x.BaseHint(), nil)
	}
	return events.Failure()
}

// take reads one event into t.
func (x *exchange) take(data []byte, t *turn) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return x.BadEvent(err)
	}
	if wire.Given(e.Error) {
		return x.Inside(x.complaint(http.StatusOK, data))
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

// bareError is the error for JSON that stands outside of any event: the API reports so that it broke off.
func (x *exchange) bareError(body []byte) *model.Error {
	var e event
	var list []event
	if json.Unmarshal(body, &e) == nil && len(e.Error) > 0 ||
		json.Unmarshal(body, &list) == nil && len(list) > 0 && len(list[0].Error) > 0 {
		return x.Inside(x.complaint(http.StatusOK, body))
	}
	return x.noEvent()
}

func (x *exchange) noEvent() *model.Error {
	return x.Fail(model.Garbled, "the stream holds something that is no event"+x.BaseHint(), nil)
}

func startsJSON(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && (line[0] == '{' || line[0] == '[')
}
