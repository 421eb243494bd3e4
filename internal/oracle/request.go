package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"sibyl/internal/model"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// Purpose names the Oracle's requests to the offline model; PurposeNotes those for notes of a long conversation.
const (
	Purpose      = "oracle.turn"
	PurposeNotes = "oracle.notes"
)

// Situation is what the offline model's rules know of a turn, beside the conversation itself.
type Situation struct {
	Question string
	Class    string
	Tools    []tool.Spec // offered in this turn
	Final    bool        // no tool may be called: answer
	Steps    []Step
}

// Step is a call made before, and its receipt. Refused is set instead if it was not performed.
type Step struct {
	Call    model.ToolCall
	Receipt CallReceipt
	Refused string
}

// builder makes requests of records. It belongs to one driven run.
type builder struct {
	view    *run.View
	env     Env
	prompts *prompts
	tools   *tool.Set
}

// built is a request and what the receipt says of its prompt.
type built struct {
	req      model.Request
	composed prompt.Composed
	history  int // tokens of the messages, estimated
}

func (b *builder) build(ctx context.Context, p TurnPayload) (built, error) {
	var question string
	if err := b.view.Given("question", &question); err != nil {
		return built{}, err
	}
	var past []model.Message
	if !hasNotes(p.Transcript) {
		var err error
		if past, err = b.past(ctx, p.TopicShift); err != nil {
			return built{}, err
		}
	}
	specs := offeredSpecs(p, b.tools.Specs())
	messages := append(past, model.Message{Role: model.User, Text: spokenBy(question)})
	sit := Situation{Question: question, Class: string(p.Class), Tools: specs, Final: p.Last || p.Withdrawn}
	for _, e := range p.Transcript {
		turn, steps, err := b.entry(e)
		if err != nil {
			return built{}, err
		}
		messages = append(messages, turn...)
		sit.Steps = append(sit.Steps, steps...)
	}
	if p.LastHint != "" {
		messages = append(messages, model.Message{Role: model.User, Text: control(p.LastHint)})
	}
	told := situation(p, b.env, specs)
	told.HistoryTokens = historyTokens(messages)
	told.Noted = p.Large || hasNotes(p.Transcript)
	composed, err := b.prompts.compose(told)
	if err != nil {
		return built{}, err
	}
	req := model.Request{System: composed.Text, Messages: messages, Purpose: Purpose, Facts: sit}
	for _, s := range specs {
		req.Tools = append(req.Tools, model.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	return built{req: req, composed: composed, history: told.HistoryTokens}, nil
}

// offeredSpecs picks the tools of a turn, in the order of all; none when they are withdrawn.
func offeredSpecs(p TurnPayload, all []tool.Spec) (specs []tool.Spec) {
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

// situation is what the prompt of a turn depends on, beside its history.
func situation(p TurnPayload, env Env, offered []tool.Spec) prompt.Situation {
	return prompt.Situation{QueryType: string(p.Class), Tools: toolLines(offered), Sources: env.sources(), MaxTurns: p.MaxTurns,
		WindowTokens: env.WindowTokens, HadError: p.HadError}
}

func toolLines(specs []tool.Spec) []prompt.ToolLine {
	lines := make([]prompt.ToolLine, len(specs))
	for i, s := range specs {
		lines[i] = prompt.ToolLine{Name: s.Name, Description: s.Description, Source: string(s.Source)}
	}
	return lines
}

func historyTokens(messages []model.Message) (n int) {
	for _, m := range messages {
		n += prompt.Tokens(m.Text) + callTokens(m.ToolCalls)
	}
	return n
}

func callTokens(calls []model.ToolCall) (n int) {
	for _, c := range calls {
		n += prompt.Tokens(c.Name) + prompt.Tokens(c.Arguments)
	}
	return n
}

// control marks a word of the control layer, which stands in the person's role and never in the tool channel.
func control(text string) string { return "[control] " + text }

// controlMark is the mark of a word of the control layer.
var controlMark = regexp.MustCompile(`(?i)\[(control)\]`)

// spokenBy is the person's words, in which a mark that was pasted is none.
func spokenBy(text string) string { return controlMark.ReplaceAllString(text, "($1)") }

// past gives the exchanges of earlier runs of the session, with the signals they ended with. After a topic shift only the
// last one is kept.
func (b *builder) past(ctx context.Context, shifted bool) ([]model.Message, error) {
	ids := b.env.Past
	if shifted && len(ids) > 1 {
		ids = ids[len(ids)-1:]
	}
	var messages []model.Message
	for _, id := range ids {
		_, end, err := b.view.Ended(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("earlier exchange: %w", err)
		}
		var a Answer
		if err := json.Unmarshal(end.Outcome, &a); err != nil {
			return nil, fmt.Errorf("earlier exchange %s: %w", id, err)
		}
		if a.Answer == "" {
			continue
		}
		text := signal.Neutralise(a.Answer) // it may quote what strangers wrote
		if a.Signal != nil {
			text += "\n" + a.Signal.RawXML
		}
		messages = append(messages, model.Message{Role: model.User, Text: spokenBy(a.Question)}, model.Message{Role: model.Assistant, Text: text})
	}
	return messages, nil
}

// entry gives one turn of the transcript as messages, and as steps for the offline model.
func (b *builder) entry(e Entry) ([]model.Message, []Step, error) {
	if e.Notes != 0 {
		return b.notes(e)
	}
	var turn TurnReceipt
	if err := b.receipt(e.Turn, &turn); err != nil {
		return nil, nil, err
	}
	said := turn.Text
	if turn.Signal != nil {
		said += "\n" + turn.Signal.RawXML
	}
	m := model.Message{Role: model.Assistant, Text: said, Native: turn.Native}
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
			rec, err := b.view.Receipt(t.Ref)
			if err != nil {
				return nil, nil, err
			}
			answer.Text, answer.IsError = spoken(rec, &step.Receipt)
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
func (b *builder) notes(e Entry) ([]model.Message, []Step, error) {
	var r NotesReceipt
	if err := b.receipt(e.Notes, &r); err != nil {
		return nil, nil, err
	}
	var steps []Step
	for _, of := range e.Of {
		_, before, err := b.entry(of)
		if err != nil {
			return nil, nil, err
		}
		steps = append(steps, before...)
	}
	hint := "These are your notes of the conversation so far, which was too long to be kept. Go on from them."
	if e.Hint != "" {
		hint += " " + e.Hint
	}
	return []model.Message{{Role: model.Assistant, Text: signal.Neutralise(r.Text)}, {Role: model.User, Text: control(hint)}}, steps, nil
}

// spoken is a tool's receipt as the model hears it: data, with every control tag made inert.
func spoken(rec run.CompletionRecord, into *CallReceipt) (text string, isError bool) {
	if rec.Err != nil {
		return signal.Neutralise("Failed: " + rec.Err.Reason), true
	}
	if err := json.Unmarshal(rec.Result, into); err != nil {
		return "Failed: its result can't be read.", true
	}
	if into.Error != nil {
		return signal.Neutralise("Failed: " + into.Error.Error()), true
	}
	text = into.Result.Text
	if into.Result.Truncated {
		text += "\n[cut here: ask for less at a time]"
	}
	return signal.Neutralise(text), false
}

func (b *builder) receipt(seq int64, into any) error {
	rec, err := b.view.Receipt(seq)
	if err != nil {
		return err
	}
	if rec.Err != nil {
		return fmt.Errorf("record %d: %w", seq, rec.Err)
	}
	return json.Unmarshal(rec.Result, into)
}
