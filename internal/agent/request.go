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

// System is a system prompt, and what stands with the question: the system prompt is alike in all questions of a
// session.
type System struct {
	Text     string
	Hash     string   // of Text and of the note with the question
	Tokens   int      // of Text
	Segments []string // ids, in order, of both
	Texts    []string // of the segments, as they stand there
	LeftOut  []string // ids with the reason
	Facts    []string // of this run, that stand in it: a model may say them again
}

// Note is what the control layer says with a question: what holds for this one and not for all of a session.
type Note struct {
	Text     string
	Crowded  bool     // it says what holds for a large conversation
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

	// Recovery is the hint for the model after the first failed call, Crowded the one once IsLarge says of the tokens of
	// the conversation that it has become large.
	Recovery string
	Crowded  string
	IsLarge  func(tokens int) bool

	// Shown says that earlier questions of the session were sent with tools: this one is, too.
	Shown bool

	// Of reads the situation in a payload.
	Of func(p TurnPayload) (TurnPrompt, error)

	mu     sync.Mutex
	latest *conversation // of the last request: the next turn continues it
	asked  TurnPayload   // the payload of latest
}

// TurnPrompt gives what an assistant sends around the transcript of one turn.
type TurnPrompt interface {
	// Before gives the messages before the transcript: earlier exchanges, unless notes replace them, and the user's
	// words with a note of what holds for this question. It is asked of the first turn of a run, and again once notes
	// replace what was before.
	Before(ctx context.Context, noted bool) ([]model.Message, Note, error)
	// System composes the prompt. shown are the tools that are sent, and note is what stands with the question.
	System(shown []tool.Spec, note Note) (System, error)
	// LookedUp is what the calls of a look-up opened, for the model, and how it is to answer from that; empty: they
	// opened nothing.
	LookedUp(steps []Step) (string, error)
	// Facts is the situation for the offline model's rules.
	Facts(offered []tool.Spec, steps []Step) any
}

// conversation is a transcript as messages, with those before it, and as steps for the offline model.
type conversation struct {
	noted    bool
	failed   bool   // a call failed, and the model was told Recovery
	crowded  bool   // it is large, and the model was told Crowded
	shown    bool   // a turn of it, or of its session, was offered tools
	note     Note   // that stands with the question
	opened   bool   // the tree's look-up opened something
	found    string // what the tree looked up before the first turn, as it stands behind the question
	asked    TurnPrompt
	messages []model.Message
	steps    []Step
	refused  []string // tools whose schemas the provider refused
	tokens   int      // of the messages, estimated

	shownNow []string // names of the tools that system and tools are for
	system   System
	tools    sentTools
}

// sentTools are tools as a request has them.
type sentTools struct {
	all    []model.Tool
	hashes []string // "name hash" of each
	tokens int
}

// describe composes what describes the task and its tools. It stays as it is while the same tools are shown.
func (c *conversation) describe(shown []tool.Spec) (err error) {
	names := make([]string, len(shown))
	for i, s := range shown {
		names[i] = s.Name
	}
	if c.system.Hash != "" && slices.Equal(names, c.shownNow) {
		return nil
	}
	c.shownNow, c.tools = names, sentTools{all: SentTools(shown)}
	for _, s := range shown {
		name, tokens := hashAndSize(s)
		c.tools.hashes, c.tools.tokens = append(c.tools.hashes, name), c.tools.tokens+tokens
	}
	c.system, err = c.asked.System(shown, c.note)
	return err
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
	Note    string      // with the question, in the first request of a run
	Found   string      // what the tree had looked up before it

	Recovery string // the hint after a failed call, which the messages may have
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
	var shown []tool.Spec
	if !p.NoTools {
		shown = b.shownSpecs(c)
	}
	if err := c.describe(shown); err != nil {
		return Request{}, err
	}
	r := Request{Prompt: c.system, History: history, Recovery: b.Recovery, Tools: c.tools.hashes,
		Sent: c.tools.tokens + c.system.Tokens,
		Request: model.Request{System: c.system.Text, Purpose: b.Purpose, Bound: model.BoundIn(b.Window),
			NoCalls: p.Last || p.Withdrawn, Greedy: p.NoTools}}
	if p.NoTools && c.opened {
		r.Bound = model.BoundFound
	}
	r.Request.Tools = slices.Clip(c.tools.all)
	if !p.NoTools {
		r.Request.Tools = append(r.Request.Tools, b.Reports...)
	}
	if !r.NoCalls && !p.NoTools {
		r.Offered = OfferedSpecs(p, b.Tools)
	}
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
	if p.isFirst() {
		r.Note, r.Found = c.note.Text, c.found
	}
	r.Facts = asking.Facts(r.Offered, c.steps)
	return r, nil
}

// forget makes the next turn build its conversation from the records.
func (b *Builder[R]) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.latest = nil
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
	cutHere         = "\n(cut here: the model's window is too small for the rest; ask for less at a time)"
)

// cutByTool ends a result of which the tool has left out the rest.
const cutByTool = "\n(cut here: ask for less at a time)"

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
		c, err = b.beginConversation(ctx, p, asking)
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
		if !c.crowded && b.Crowded != "" && b.IsLarge(c.tokens) {
			c.crowded = true
			c.add(model.Message{Role: model.User, Text: Control(b.Crowded)})
		}
	}
	c.shown = c.shown || len(p.Offered) > 0
	return c, nil
}

// beginConversation begins with the question, as the first turn of the run asked it: what was once sent stays.
func (b *Builder[R]) beginConversation(
	ctx context.Context, p TurnPayload, asking TurnPrompt,
) (c *conversation, err error) {
	c = &conversation{noted: HasNotes(p.Add), shown: b.Shown, asked: asking}
	isTurn := func(e Entry) bool { return e.Turn != 0 && !e.LookUp }
	if first := slices.IndexFunc(p.Add, isTurn); first >= 0 && !c.noted {
		asked, err := payloadAt(b.View, p.Add[first].Turn)
		if err != nil {
			return nil, err
		}
		if c.asked, err = b.Of(asked); err != nil {
			return nil, err
		}
	}
	c.messages, c.note, err = c.asked.Before(ctx, c.noted)
	c.crowded = c.note.Crowded
	for _, m := range c.messages {
		c.tokens += tokensOf(m)
	}
	return c, err
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
		same.refused = slices.Clip(same.refused)
		return &same, nil
	}
	asking, err := b.Of(asked)
	if err != nil {
		return nil, err
	}
	return b.converse(ctx, asked, asking)
}

// wasOffered says whether the turn in a record was offered tools.
func wasOffered(v *run.View, record int64) (bool, error) {
	asked, err := payloadAt(v, record)
	return len(asked.Offered) > 0, err
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

// OfferedSpecs are the tools that a turn may call, in the order in which they are offered.
func OfferedSpecs(p TurnPayload, all []tool.Spec) (specs []tool.Spec) {
	for _, name := range p.Offered {
		if at := slices.IndexFunc(all, func(s tool.Spec) bool { return s.Name == name }); at >= 0 {
			specs = append(specs, sentSpec(all[at]))
		}
	}
	return specs
}

// shownSpecs are the tools that a turn is sent: once a question of the session was offered any, all of them, in one
// order, so that what the provider has read of the last request stays valid. Which of them may be called is said with
// the question, and the tree refuses calls of others.
func (b *Builder[R]) shownSpecs(c *conversation) (specs []tool.Spec) {
	if !c.shown {
		return nil
	}
	for _, s := range b.Tools {
		if !slices.Contains(c.refused, s.Name) {
			specs = append(specs, sentSpec(s))
		}
	}
	return specs
}

// checkedLater matches what a schema says besides names, types and descriptions. A tool checks it, too, and says what
// would be right: it need not be read with every question.
var checkedLater = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`,"(default|minimum|minLength|maxLength)":\d+|,"additionalProperties":false`)
})

// SentTools are tools as a request has them: those of this program with shorter schemas.
func SentTools(specs []tool.Spec) (all []model.Tool) {
	for _, s := range specs {
		schema := s.Schema
		if s.Source != tool.Server {
			schema = checkedLater().ReplaceAll(schema, nil)
		}
		all = append(all, model.Tool{Name: s.Name, Description: sentSpec(s).Description, Schema: schema})
	}
	return all
}

// sentSpec is a tool as a model is told of it: a stranger's server may have written its description.
func sentSpec(s tool.Spec) tool.Spec {
	s.Description = signal.Neutralise(s.Description)
	return s
}

// Control marks a message of the control layer. It is sent in the user's role, never in the tool channel.
func Control(text string) string { return "[control] " + text }

// wordsMark stands between the note of the control layer and the person's words, in one message: templates exist that
// take no two messages of the user in a row.
const wordsMark = "\n\nThe user says:\n\n"

// WithNote is a message of the user with a note of the control layer before their words.
func WithNote(note, words string) string {
	if note == "" {
		return words
	}
	return note + wordsMark + words
}

// SplitNote gives the note and the words of a message that WithNote made; of another message there is no note.
func SplitNote(text string) (note, words string) {
	if note, words, has := strings.Cut(text, wordsMark); has {
		return note, words
	}
	return "", text
}

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
	if err == nil && !c.shown && !e.isOfAllowedCalls() {
		c.shown, err = wasOffered(b.View, e.Turn)
	}
	if err != nil {
		return err
	}
	if e.LookUp {
		return b.addLookUp(c, e, turn)
	}
	m := model.Message{Role: model.Assistant, Text: turn.Text, ToolCalls: turn.Report.Among(turn.Calls[:len(e.Tools)]),
		Native: turn.Native}
	c.refused = append(c.refused, turn.Refused...)
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
	c.steps, c.refused = append(c.steps, of.steps...), append(c.refused, of.refused...)
	c.shown = c.shown || of.shown
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
		text += cutByTool
	}
	return signal.Neutralise(text), false
}
