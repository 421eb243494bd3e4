package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// Report is what an assistant finds in a reply besides its text. When the reply is sent to a model again, Said gives
// its text, Called the calls with which the model reported, and Among inserts these between the reply's other calls.
type Report interface {
	Said() string
	Called() []model.ToolCall
	Among(calls []model.ToolCall) []model.ToolCall
}

// System is a system prompt.
type System struct {
	Text     string
	Hash     string // of Text
	Tokens   int
	Segments []string // ids, in order
	Texts    []string // of the segments, as they stand in Text
	LeftOut  []string // ids with the reason
}

// Step is an earlier call and its receipt. Refused is set instead if it was not performed.
type Step struct {
	Call    model.ToolCall
	Receipt CallReceipt
	Refused string
}

// isFailed says whether the call gave an error.
func (s Step) isFailed() bool { return s.Refused == "" && s.Receipt.Result == nil }

// Builder makes requests from records. It is safe for concurrent use.
type Builder[R Report] struct {
	View    *run.View
	Tools   []tool.Spec
	Purpose string       // of a turn, for the offline model
	Window  int          // of the model, in tokens; 0: not known
	Reports []model.Tool // tools that only report

	// Recovery is the hint for the model after the first failed call.
	Recovery string

	// Of reads the situation in a payload.
	Of func(p TurnPayload) (TurnPrompt, error)

	mu     sync.Mutex
	latest *conversation // of the last request: the next turn continues it
	asked  TurnPayload   // the payload of latest
}

// TurnPrompt gives what an assistant sends around the transcript of one turn.
type TurnPrompt interface {
	// Before gives the messages before the transcript: earlier exchanges, unless notes replace them, and the user's
	// words.
	Before(ctx context.Context, noted bool) ([]model.Message, error)
	// System composes the prompt. history is the conversation's size in tokens, estimated.
	System(offered []tool.Spec, history int, noted bool) (System, error)
	// Facts is the situation for the offline model's rules.
	Facts(offered []tool.Spec, steps []Step) any
}

// conversation is a transcript as messages, with those before it, and as steps for the offline model.
type conversation struct {
	noted    bool
	failed   bool // a call failed, and the model was told Recovery
	messages []model.Message
	steps    []Step
	tokens   int // of the messages, estimated
}

func (c *conversation) add(m model.Message) {
	c.messages, c.tokens = append(c.messages, m), c.tokens+tokensOf(m)
}

// PictureTokens estimates the tokens of a picture. Models take from 250 to 2,000.
const PictureTokens = 1000

func tokensOf(m model.Message) int {
	return Tokens(m.Text) + callTokens(m.ToolCalls) + PictureTokens*len(m.Pictures)
}

// Request is a request, and what its receipt records.
type Request struct {
	model.Request
	Prompt  System
	Tools   []string    // "name hash" of each tool that is offered
	Offered []tool.Spec // that may be called
	History int         // tokens of the messages, estimated
	Sent    int         // tokens of the whole request, estimated
	Cut     bool        // results of tools were cut, so that all fits into the window
}

// bytes is the size of the texts of a request.
func (r *Request) bytes() int {
	n := len(r.System)
	for _, m := range r.Messages {
		n += len(m.Text)
		for _, c := range m.ToolCalls {
			n += len(c.Name) + len(c.Arguments)
		}
	}
	for _, t := range r.Request.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}

// Build makes the request of a turn.
func (b *Builder[R]) Build(ctx context.Context, p TurnPayload) (Request, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	asking, err := b.Of(p)
	if err != nil {
		return Request{}, err
	}
	c, err := b.converse(ctx, p, asking)
	if err != nil {
		return Request{}, err
	}
	b.latest, b.asked = c, p
	messages, history := slices.Clip(c.messages), c.tokens
	if p.LastHint != "" {
		hint := Control(p.LastHint)
		messages, history = append(messages, model.Message{Role: model.User, Text: hint}), history+Tokens(hint)
	}
	shown := OfferedSpecs(p, b.Tools)
	system, err := asking.System(shown, history, c.noted)
	if err != nil {
		return Request{}, err
	}
	r := Request{Prompt: system, History: history, Request: model.Request{System: system.Text, Purpose: b.Purpose,
		Bound: model.BoundIn(b.Window), NoCalls: p.Last || p.Withdrawn}}
	for _, s := range shown {
		r.Request.Tools = append(r.Request.Tools, model.Tool{Name: s.Name, Description: s.Description,
			Schema: s.Schema})
		name, tokens := hashAndSize(s)
		r.Tools, r.Sent = append(r.Tools, name), r.Sent+tokens
	}
	r.Request.Tools = append(r.Request.Tools, b.Reports...)
	if !r.NoCalls {
		r.Offered = shown
	}
	r.Sent += system.Tokens
	if most := b.room(p); most > 0 {
		messages, r.History = cutToFit(messages, history, most-r.Sent)
		r.Cut = r.History < history
	}
	r.Messages, r.Sent = messages, r.Sent+r.History
	if p.Fit > 0 && !r.Cut && !c.noted {
		return Request{}, &bt.Fault{Kind: string(model.ContextLength),
			Reason: fmt.Sprintf("a request of about %d tokens does not fit into the model's window, and nothing in "+
				"it can be cut", r.Sent)}
	}
	r.Facts = asking.Facts(r.Offered, c.steps)
	return r, nil
}

// answerShare is the part of a window that is left for the answer, and for errors of the estimate.
const answerShare = 0.25

// room is how many tokens a request may have; 0: any number.
func (b *Builder[R]) room(p TurnPayload) int {
	if p.Fit > 0 {
		return p.Fit
	}
	return int(float64(b.Window) * (1 - answerShare))
}

// minResultTokens is how many tokens of a tool's result are kept at least when results are cut; cutHere replaces the
// rest.
const (
	minResultTokens = 200
	cutHere         = "\n[cut here: the model's window is too small for the rest; ask for less at a time]"
)

// cutToFit cuts results of tools, the oldest first, until the messages fit into room, and returns their tokens.
func cutToFit(messages []model.Message, tokens, room int) ([]model.Message, int) {
	if tokens <= room {
		return messages, tokens
	}
	messages = slices.Clone(messages)
	for i := range messages {
		m := &messages[i]
		size := Tokens(m.Text)
		if tokens <= room {
			break
		}
		if m.Role != model.ToolRole || size <= minResultTokens+Tokens(cutHere) {
			continue
		}
		keep := max(minResultTokens, size-(tokens-room)-Tokens(cutHere))
		m.Text = string([]rune(m.Text)[:keep*CharsPerToken]) + cutHere
		tokens -= size - Tokens(m.Text)
	}
	return messages, tokens
}

// hashAndSize returns "name hash" for the description of a tool, and its estimated tokens.
func hashAndSize(s tool.Spec) (name string, tokens int) {
	schema := &bytes.Buffer{}
	if json.Compact(schema, s.Schema) != nil {
		schema.Write(s.Schema)
	}
	return s.Name + " " + Digest(s.Description, "\x00", schema.String()), Tokens(s.Name) + Tokens(s.Description) +
		Tokens(schema.String())
}

// converse is the conversation that a turn continues.
func (b *Builder[R]) converse(ctx context.Context, p TurnPayload, asking TurnPrompt) (c *conversation, err error) {
	if p.After != 0 {
		c, err = b.conversationAt(ctx, p.After)
	} else {
		c = &conversation{noted: HasNotes(p.Add)}
		c.messages, err = asking.Before(ctx, c.noted)
		for _, m := range c.messages {
			c.tokens += tokensOf(m)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, e := range p.Add {
		steps := len(c.steps)
		if err := b.addEntry(ctx, c, e); err != nil {
			return nil, err
		}
		if !c.failed && b.Recovery != "" && slices.ContainsFunc(c.steps[steps:], Step.isFailed) {
			c.failed = true
			c.add(model.Message{Role: model.User, Text: Control(b.Recovery)})
		}
	}
	return c, nil
}

// conversationAt is the conversation that the turn in a record continued.
func (b *Builder[R]) conversationAt(ctx context.Context, record int64) (*conversation, error) {
	asked, err := payloadAt(b.View, record)
	if err != nil {
		return nil, err
	}
	if b.latest != nil && b.asked.After == asked.After && reflect.DeepEqual(b.asked.Add, asked.Add) {
		same := *b.latest
		same.messages, same.steps = slices.Clip(same.messages), slices.Clip(same.steps)
		return &same, nil
	}
	asking, err := b.Of(asked)
	if err != nil {
		return nil, err
	}
	return b.converse(ctx, asked, asking)
}

func payloadAt(v *run.View, record int64) (TurnPayload, error) {
	c, err := v.Receipt(record)
	if err != nil {
		return TurnPayload{}, err
	}
	p, ok := c.Asked.(TurnPayload)
	if !ok {
		return p, fmt.Errorf("record %d is no turn of the model: %w", record, journal.ErrCorrupt)
	}
	return p, nil
}

// OfferedSpecs are the tools that a turn shows, in the order in which they are offered. Withdrawn tools are shown too,
// so that the provider's cache of the last request stays valid.
func OfferedSpecs(p TurnPayload, all []tool.Spec) (specs []tool.Spec) {
	for _, name := range p.Offered {
		at := slices.IndexFunc(all, func(s tool.Spec) bool { return s.Name == name })
		if at < 0 {
			continue
		}
		s := all[at]
		s.Description = signal.Neutralise(s.Description) // a stranger's server may have written it
		specs = append(specs, s)
	}
	return specs
}

// Control marks a message of the control layer. It is sent in the user's role, never in the tool channel.
func Control(text string) string { return "[control] " + text }

// IsControl says whether a text in the user's role is a message of the control layer.
func IsControl(text string) bool { return strings.HasPrefix(text, Control("")) }

// controlMark matches the mark of a message of the control layer.
var controlMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\[(control)\]`) })

// WithoutMarks makes marks of the control layer inert in the user's words.
func WithoutMarks(text string) string { return controlMark().ReplaceAllString(text, "($1)") }

// addEntry adds one turn of the transcript.
func (b *Builder[R]) addEntry(ctx context.Context, c *conversation, e Entry) error {
	if e.Notes != 0 {
		return b.addNotes(ctx, c, e)
	}
	turn, err := b.turnOf(e)
	if err != nil {
		return err
	}
	m := model.Message{Role: model.Assistant, Text: turn.Text, ToolCalls: turn.Report.Among(turn.Calls[:len(e.Tools)]),
		Native: turn.Native}
	reports := turn.Report.Called()
	if said := turn.Report.Said(); said != "" {
		m.Text += "\n" + said
	}
	if len(e.Tools) < len(turn.Calls) {
		m.Native = nil // some calls were not performed, and the provider's own form would have calls without results
	}
	if m.Text != "" || len(m.ToolCalls) > 0 {
		c.add(m)
	}
	for _, r := range reports {
		c.add(model.Message{Role: model.ToolRole, ToolCallID: r.ID, ToolName: r.Name, Text: "Noted."})
	}
	for i, t := range e.Tools {
		call := turn.Calls[i]
		step := Step{Call: call, Refused: t.Refused}
		answer := model.Message{Role: model.ToolRole, ToolCallID: call.ID, ToolName: call.Name}
		if t.Refused != "" {
			answer.Text, answer.IsError = "Not performed: "+t.Refused+"."+b.whatIsOffered(e, t, call), true
		} else {
			receipt, err := b.View.Receipt(t.Ref)
			if err != nil {
				return err
			}
			answer.Text, answer.IsError = readReceipt(receipt, &step.Receipt)
		}
		c.add(answer)
		c.steps = append(c.steps, step)
	}
	if e.Hint != "" {
		c.add(model.Message{Role: model.User, Text: Control(e.Hint)})
	}
	return nil
}

// whatIsOffered tells the model what it may call, and how, after a call of what is not offered.
func (b *Builder[R]) whatIsOffered(e Entry, t ToolEntry, call model.ToolCall) string {
	if t.Refused != notOffered.With().Text || e.isOfAllowedCalls() {
		return ""
	}
	asked, err := payloadAt(b.View, e.Turn)
	if err != nil || len(asked.Offered) == 0 {
		return ""
	}
	told := " Offered are: " + strings.Join(asked.Offered, ", ") + "."
	if strings.HasPrefix(call.ID, writtenID) {
		told += " Call a tool by the tool interface, or one that only reads by a JSON object with its name and arguments, " +
			"alone at the end of the reply."
	}
	return told
}

// turnOf is the turn of an entry. If the entry has approved calls, it is a turn without text that makes those calls.
func (b *Builder[R]) turnOf(e Entry) (turn TurnReceipt[R], err error) {
	if !e.isOfAllowedCalls() {
		return run.ResultAt[TurnReceipt[R]](b.View, e.Turn)
	}
	turn.Calls, err = allowedCallsOf(b.View)
	if err == nil && len(turn.Calls) < len(e.Tools) {
		err = fmt.Errorf("a yes to %d calls has %d results: %w", len(turn.Calls), len(e.Tools), journal.ErrCorrupt)
	}
	return turn, err
}

// addNotes adds notes in place of the turns that they replace. The offline model still gets the steps of those.
func (b *Builder[R]) addNotes(ctx context.Context, c *conversation, e Entry) error {
	r, err := run.ResultAt[TurnReceipt[R]](b.View, e.Notes)
	if err != nil {
		return err
	}
	of, err := b.conversationAt(ctx, e.Notes)
	if err != nil {
		return err
	}
	hint := "These are your notes of the conversation so far, which was too long to be kept. Go on from them."
	if e.Hint != "" {
		hint += " " + e.Hint
	}
	c.add(model.Message{Role: model.Assistant, Text: signal.Neutralise(r.Text)})
	c.add(model.Message{Role: model.User, Text: Control(hint)})
	c.steps = append(c.steps, of.steps...)
	return nil
}

// readReceipt is a tool's receipt for the model, with every control tag made inert. The receipt itself goes to into.
func readReceipt(c *run.CompletionRecord, into *CallReceipt) (text string, isError bool) {
	if c.Err != nil {
		return signal.Neutralise("Failed: " + c.Err.Reason), true
	}
	receipt, ok := c.Value.(CallReceipt)
	if !ok {
		return "Failed: its result can't be read.", true
	}
	*into = receipt
	if into.Error != nil {
		return signal.Neutralise("Failed: " + into.Error.Error()), true
	}
	text = into.Result.Text
	if into.Result.Truncated {
		text += "\n[cut here: ask for less at a time]"
	}
	return signal.Neutralise(text), false
}
