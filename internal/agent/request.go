package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// Report is what an assistant finds in a reply beside its words. Said is what stands for it when the reply is shown to a model again.
type Report interface{ Said() string }

// System is a system prompt.
type System struct {
	Text     string
	Hash     string // of Text
	Tokens   int
	Segments []string // ids, in order
	LeftOut  []string // ids with the reason
}

// Step is a call made before, and its receipt. Refused is set instead if it was not performed.
type Step struct {
	Call    model.ToolCall
	Receipt CallReceipt
	Refused string
}

// Builder makes requests of records. It belongs to one driven run, and is safe for concurrent use.
type Builder[R Report] struct {
	View    *run.View
	Tools   []tool.Spec
	Purpose string // of a turn, for the offline model

	// Of reads what a turn was asked with.
	Of func(p TurnPayload) (Asking, error)

	mu     sync.Mutex
	known  map[int64]conversation // by the record of a turn: what its request showed of the transcript
	hashes map[string]string      // of tools, by name
}

// Asking is what an assistant puts around the transcript of one turn.
type Asking interface {
	// Before gives what stands before the transcript: earlier exchanges, unless notes stand for them, and the person's words.
	Before(ctx context.Context, noted bool) ([]model.Message, error)
	// System composes the prompt. history is the conversation's size in tokens, estimated.
	System(offered []tool.Spec, history int, noted bool) (System, error)
	// Facts is the situation for the offline model's rules.
	Facts(offered []tool.Spec, steps []Step) any
}

// conversation is a transcript as messages, and as steps for the offline model.
type conversation struct {
	noted    bool
	messages []model.Message
	steps    []Step
}

// Request is a request and what the receipt says of it.
type Request struct {
	model.Request
	Prompt  System
	Tools   []string // "name hash" of each tool that is offered
	History int      // tokens of the messages, estimated
}

// Build makes the request of a turn.
func (b *Builder[R]) Build(ctx context.Context, p TurnPayload) (Request, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	said, err := b.transcript(p)
	if err != nil {
		return Request{}, err
	}
	asking, err := b.Of(p)
	if err != nil {
		return Request{}, err
	}
	before, err := asking.Before(ctx, said.noted)
	if err != nil {
		return Request{}, err
	}
	messages := slices.Concat(before, said.messages)
	if p.LastHint != "" {
		messages = append(messages, model.Message{Role: model.User, Text: control(p.LastHint)})
	}
	offered := OfferedSpecs(p, b.Tools)
	history := historyTokens(messages)
	system, err := asking.System(offered, history, said.noted)
	if err != nil {
		return Request{}, err
	}
	r := Request{Prompt: system, History: history,
		Request: model.Request{System: system.Text, Messages: messages, Purpose: b.Purpose, Facts: asking.Facts(offered, said.steps)}}
	for _, s := range offered {
		r.Request.Tools = append(r.Request.Tools, model.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
		r.Tools = append(r.Tools, s.Name+" "+b.hash(s))
	}
	return r, nil
}

// hash names all that a model is told of a tool.
func (b *Builder[R]) hash(s tool.Spec) string {
	if h := b.hashes[s.Name]; h != "" {
		return h
	}
	if b.hashes == nil {
		b.hashes = map[string]string{}
	}
	schema := &bytes.Buffer{}
	if json.Compact(schema, s.Schema) != nil {
		schema.Write(s.Schema)
	}
	h := digest(s.Description + "\x00" + schema.String())
	b.hashes[s.Name] = h
	return h
}

// transcript renders what a turn is shown of the turns before it. What an earlier turn was shown is rendered once.
func (b *Builder[R]) transcript(p TurnPayload) (conversation, error) {
	var c conversation
	if p.After != 0 {
		var ok bool
		if c, ok = b.known[p.After]; !ok {
			asked, err := payloadAt(b.View, p.After)
			if err != nil {
				return c, err
			}
			if c, err = b.transcript(asked); err != nil {
				return c, err
			}
			if b.known == nil {
				b.known = map[int64]conversation{}
			}
			clear(b.known) // only the latest is asked for again
			b.known[p.After] = c
		}
	}
	c.messages, c.steps = slices.Clip(c.messages), slices.Clip(c.steps)
	c.noted = c.noted || HasNotes(p.Add)
	for _, e := range p.Add {
		turn, steps, err := b.entry(e)
		if err != nil {
			return c, err
		}
		for i := range turn {
			turn[i].Memo = &model.Memo{} // every later turn sends it again
		}
		c.messages, c.steps = append(c.messages, turn...), append(c.steps, steps...)
	}
	return c, nil
}

// payloadAt is what the turn of a record was asked with.
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

// OfferedSpecs picks the tools of a turn, in the order of all; none when they are withdrawn.
func OfferedSpecs(p TurnPayload, all []tool.Spec) (specs []tool.Spec) {
	if p.Last || p.Withdrawn {
		return nil
	}
	for _, s := range all {
		if slices.Contains(p.Offered, s.Name) {
			s.Description = signal.Neutralise(s.Description) // a stranger's server may have written it
			specs = append(specs, s)
		}
	}
	return specs
}

func historyTokens(messages []model.Message) (n int) {
	for _, m := range messages {
		n += Tokens(m.Text) + callTokens(m.ToolCalls)
	}
	return n
}

// control marks a word of the control layer, which stands in the person's role and never in the tool channel.
func control(text string) string { return "[control] " + text }

// controlMark is the mark of a word of the control layer.
var controlMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\[(control)\]`) })

// SpokenBy is the person's words, in which a mark that was pasted is none.
func SpokenBy(text string) string { return controlMark().ReplaceAllString(text, "($1)") }

// entry gives one turn of the transcript as messages, and as steps for the offline model.
func (b *Builder[R]) entry(e Entry) ([]model.Message, []Step, error) {
	if e.Notes != 0 {
		return b.notes(e)
	}
	turn, err := run.ResultAt[TurnReceipt[R]](b.View, e.Turn)
	if err != nil {
		return nil, nil, err
	}
	text := turn.Text
	if said := turn.Report.Said(); said != "" {
		text += "\n" + said
	}
	m := model.Message{Role: model.Assistant, Text: text, Native: turn.Native}
	var steps []Step
	var results []model.Message
	for i, t := range e.Tools {
		call := turn.Calls[i]
		m.ToolCalls = append(m.ToolCalls, call)
		step := Step{Call: call, Refused: t.Refused}
		answer := model.Message{Role: model.ToolRole, ToolCallID: call.ID, ToolName: call.Name}
		if t.Refused != "" {
			answer.Text, answer.IsError = "Not performed: "+t.Refused+".", true
		} else {
			receipt, err := b.View.Receipt(t.Ref)
			if err != nil {
				return nil, nil, err
			}
			answer.Text, answer.IsError = spoken(receipt, &step.Receipt)
		}
		results = append(results, answer)
		steps = append(steps, step)
	}
	if len(e.Tools) == 0 {
		m.Native = nil // its calls were not run, so the provider's own form would dangle
	}
	messages := append([]model.Message{m}, results...)
	if m.Text == "" && len(m.ToolCalls) == 0 {
		messages = nil
	}
	if e.Hint != "" {
		messages = append(messages, model.Message{Role: model.User, Text: control(e.Hint)})
	}
	return messages, steps, nil
}

// notes gives notes in place of the turns they were taken of, which the offline model's rules still know.
func (b *Builder[R]) notes(e Entry) ([]model.Message, []Step, error) {
	r, err := run.ResultAt[TurnReceipt[R]](b.View, e.Notes)
	if err != nil {
		return nil, nil, err
	}
	asked, err := payloadAt(b.View, e.Notes)
	if err != nil {
		return nil, nil, err
	}
	of, err := b.transcript(asked)
	if err != nil {
		return nil, nil, err
	}
	hint := "These are your notes of the conversation so far, which was too long to be kept. Go on from them."
	if e.Hint != "" {
		hint += " " + e.Hint
	}
	return []model.Message{{Role: model.Assistant, Text: signal.Neutralise(r.Text)}, {Role: model.User, Text: control(hint)}}, of.steps, nil
}

// spoken is a tool's receipt as the model reads it: data, with every control tag made inert.
func spoken(c *run.CompletionRecord, into *CallReceipt) (text string, isError bool) {
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
