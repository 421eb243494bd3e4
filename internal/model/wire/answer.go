package wire

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"sibyl/internal/model"
)

// MaxAnswer bounds an answer without a stream, and one line of a stream, in bytes.
const MaxAnswer = 8 << 20

// MaxReply bounds what is kept of one turn, in bytes: text, thinking and calls. It is more than twice what any model
// writes at once, and bounds what an endless answer can add to a journal.
const MaxReply = 1 << 20

// MaxStream bounds the stream of one answer in bytes: some providers wrap each token into half a kilobyte.
const MaxStream = 128 << 20

// MaxCalls bounds the tool calls of one answer.
const MaxCalls = 256

// answerState is what has come of an answer so far.
type answerState struct {
	Calls   []model.ToolCall
	Usage   model.Usage
	Finish  string          // why the model stopped, in the protocol's word; empty until it comes
	Refusal string          // the provider's words for an answer that it refused
	Native  json.RawMessage // the turn in the provider's own form, if it has to be sent back so
	LeftOut []string        // tools that were not offered, since the endpoint refuses their schemas
	Begun   bool            // a valid part of an answer has come
	Done    bool            // the protocol's end has come

	emit    func(model.Delta) error
	split   splitter
	size    int          // bytes kept of the answer
	stopped model.Finish // why it was ended here; empty: it was not
	bound   int          // tokens after which it is; 0: none
	text    repetition   // what came as its text, as the others of what else came
	thought repetition
	called  repetition
	writes  bool            // something of the answer has come
	read    int             // tokens of the request that were read
	callIDs map[string]bool // of its complete calls

	sent, received int // bytes of the last request, and of all that came back
}

// response returns what has come so far.
func (x *Call) response() model.Response {
	resp := model.Response{
		Model: x.m.id, Text: x.Text(), ToolCalls: x.Calls, Usage: x.plausibleUsage(x.Usage), Finish: x.finish(),
		Attempts: x.attempts, Dropped: x.dropped, LeftOut: x.LeftOut,
	}
	if resp.Usage != x.Usage {
		reported := x.Usage
		resp.Reported = &reported
	}
	thinking := strings.TrimSpace(x.split.thinking.String())
	if x.split.removed && x.m.protocol.TurnHasText {
		x.Native = nil // it would bring back what was removed
	}
	if x.Native != nil || thinking != "" {
		resp.Native = &model.Native{Provider: x.m.config.Provider, Turn: x.Native, Thinking: thinking}
	}
	return resp
}

// finish returns why the model stopped, in the contract's words; "" if the answer broke off. With calls, a usual stop,
// or no reason, is FinishTools.
func (x *Call) finish() model.Finish {
	finish, known := x.m.protocol.Finishes[x.Finish]
	switch {
	case x.stopped != "":
		return x.stopped
	case x.Finish == "" && !x.Done:
		return ""
	case x.Finish == "":
		finish = model.FinishStop
	case !known:
		finish = model.FinishOther
	}
	if finish == model.FinishStop && len(x.Calls) > 0 {
		return model.FinishTools
	}
	return finish
}

// The bounds of plausible usage.
const (
	maxTokens     = 100_000_000 // more than any answer takes or costs
	unsentBytes   = 4 << 10     // a provider's own words around a request
	hiddenBytes   = 128 << 10   // what a model may have thought without showing it
	maxTokenBytes = 128         // of one token of an answer: a long row of blanks
)

// plausibleUsage corrects a reported usage that can't be true, since budgets count with it: a token has at least one
// byte of what was sent and received, and at most maxTokenBytes. If a count is negative or absurd, it returns no usage.
func (x *Call) plausibleUsage(u model.Usage) model.Usage {
	for _, n := range []int{u.InputTokens, u.OutputTokens, u.CachedTokens} {
		if n < 0 || n > maxTokens {
			return model.Usage{}
		}
	}
	if u == (model.Usage{}) {
		return u
	}
	u.InputTokens = min(u.InputTokens, x.sent+unsentBytes)
	u.CachedTokens = min(u.CachedTokens, u.InputTokens)
	u.OutputTokens = min(max(u.OutputTokens, x.size/maxTokenBytes), x.received+hiddenBytes)
	return u
}

func (x *Call) tooLargeError() *model.Error {
	return x.Fail(model.Garbled, "the answer is larger than 8 MB", model.ErrOversized)
}

// Text returns the answer's text so far, without what may still turn out to be thinking.
func (x *Call) Text() string { return x.split.answer.String() }

// EmitText adds a piece of what the model writes, and passes on what is its answer.
func (x *Call) EmitText(text string) error {
	if err := x.CountBytes(len(text)); err != nil {
		return err
	}
	for text != "" { // up to each place at which it is checked, so that cuts of the text decide nothing
		part := text[:x.text.untilCheck(len(text))]
		_, repeats := x.text.add(part)
		answer, anew := x.split.write(part)
		if err := x.emitThinking(x.split.takeThought()); err != nil {
			return err
		}
		if err := x.emitAnswer(answer, anew); err != nil {
			return err
		}
		if !repeats && x.split.answer.Len() == 0 { // of what nobody is shown, less is enough
			repeats = x.text.circles()
		}
		if repeats {
			return x.stopIfEndless(true)
		}
		text = text[len(part):]
	}
	return x.stopIfEndless(false)
}

// CountThinking counts a piece of thinking that comes apart from the text, and passes it on as that.
func (x *Call) CountThinking(text string) error {
	if err := x.countSilent(&x.thought, text); err != nil {
		return err
	}
	return x.emitThinking(text)
}

func (x *Call) emitThinking(text string) error {
	if text == "" {
		return nil
	}
	return x.emitDelta(model.Delta{Thinking: text})
}

// CountCall counts a piece of a call: its name or its arguments.
func (x *Call) CountCall(text string) error {
	return x.countSilent(&x.called, text)
}

// countSilent counts what is no text of the answer.
func (x *Call) countSilent(to *repetition, text string) error {
	if err := x.CountBytes(len(text)); err != nil || text == "" {
		return err
	}
	if !x.writes {
		x.writes = true
		if err := x.emitDelta(model.Delta{Reading: &model.Reading{}}); err != nil {
			return err
		}
	}
	_, repeats := to.add(text)
	return x.stopIfEndless(repeats)
}

// NoteReading passes on how many of so many tokens the server has read before it writes. What is read is progress for
// the clock, but no beginning of an answer.
func (x *Call) NoteReading(tokens, read int) error {
	if read = min(read, tokens); tokens <= 0 || read <= x.read {
		return nil
	}
	x.read = read
	x.clock.noteReading()
	return x.emitDelta(model.Delta{Reading: &model.Reading{Tokens: tokens, Read: read}})
}

// bytesOfToken is an estimate that is rather too high, so that no answer is ended too early.
const bytesOfToken = 5

// maxThinking bounds the thinking for an answer with a bound, in tokens: more than any model needs.
const maxThinking = 64 << 10

// errStopped ends the reading of an answer that is ended here.
var errStopped = errors.New("the answer was ended")

// stopIfEndless ends an answer that repeats itself, or has reached its bound.
func (x *Call) stopIfEndless(repeats bool) error {
	answered := x.split.answer.Len()
	thought := len(x.thought.said) + len(x.text.said) - answered
	switch {
	case repeats:
		x.stopped = model.FinishRepeated
	case x.bound > 0 && (answered+len(x.called.said) > x.bound*bytesOfToken || thought > maxThinking*bytesOfToken):
		x.stopped = model.FinishLength
	default:
		return nil
	}
	return x.Fail(model.Cancelled, errStopped.Error(), errStopped)
}

// keepWhole keeps of an answer that was ended here what is whole: no calls, and of a text that repeats itself what came
// before. If that says nothing, the error is Repeated.
func (x *Call) keepWhole() error {
	x.Calls, x.Native = nil, nil
	if x.stopped != model.FinishRepeated {
		return x.endText()
	}
	if x.text.found {
		x.split = splitter{}
		x.split.write(x.text.before())
		x.split.close()
		if err := x.emitAnswer(x.Text(), true); err != nil {
			return err
		}
	} else if err := x.endText(); err != nil {
		return err
	}
	if strings.ContainsFunc(x.Text(), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return nil
	}
	shown := x.Text() != ""
	x.split = splitter{}
	x.stopped = ""
	if shown {
		if err := x.emitAnswer("", true); err != nil {
			return err
		}
	}
	return x.Fail(model.Repeated, "it wrote the same again and again, and nothing before that; try another model", nil)
}

// endText passes on the rest of the answer.
func (x *Call) endText() error {
	return x.emitAnswer(x.split.close())
}

func (x *Call) emitAnswer(text string, anew bool) error {
	if x.emit == nil || text == "" && !anew {
		return nil
	}
	x.writes = true
	if anew {
		if err := x.emitDelta(model.Delta{Retract: true}); err != nil {
			return err
		}
	}
	if text == "" {
		return nil
	}
	return x.emitDelta(model.Delta{Text: text})
}

func (x *Call) emitDelta(d model.Delta) error {
	if x.emit == nil {
		return nil
	}
	if err := x.emit(d); err != nil {
		x.emit = nil
		return x.Fail(model.Cancelled, "the receiver ended the answer: "+err.Error(), err)
	}
	return nil
}

// CountBytes counts n more bytes of what the model writes: text, thinking or a part of a call. Only these are progress
// for the clock. More than MaxReply bytes are Garbled.
func (x *Call) CountBytes(n int) error {
	if n > 0 {
		x.clock.noteProgress()
	}
	if x.size += n; x.size > MaxReply {
		return x.Fail(model.Garbled, "what the model writes is larger than 1 MB", model.ErrOversized)
	}
	return nil
}

// AddCall adds a complete call. If its id is missing or not unique in the answer, it gets one; empty arguments become
// {}. A call without a tool's name is Garbled.
func (x *Call) AddCall(call model.ToolCall) error {
	switch {
	case len(x.Calls) == MaxCalls:
		return x.TooManyCallsError()
	case call.Name == "":
		return x.Fail(model.Garbled, "the answer calls a tool without naming it", nil)
	}
	if call.ID == "" || x.callIDs[call.ID] {
		call.ID = x.m.protocol.CallIDPrefix + rand.Text()
	}
	if x.callIDs == nil {
		x.callIDs = map[string]bool{}
	}
	x.callIDs[call.ID] = true
	if strings.TrimSpace(call.Arguments) == "" {
		call.Arguments = "{}"
	}
	x.Calls = append(x.Calls, call)
	return nil
}

// TooManyCallsError returns the error for an answer with more than MaxCalls calls.
func (x *Call) TooManyCallsError() *model.Error {
	return x.Fail(model.Garbled, fmt.Sprintf("the answer calls more than %d tools", MaxCalls), model.ErrOversized)
}
