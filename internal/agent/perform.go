package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/tool"
)

// Listener reads one reply as it arrives. Write returns the part that the user may see, and Standing how many bytes of
// all that was shown nothing is expected to replace. Close is given all that was shown and the calls, and returns what
// is known at the end.
type Listener[R any] interface {
	Write(text string) (shown string)
	Standing(shown string) int
	Close(shown string, calls []model.ToolCall) CompleteReply[R]
}

// CompleteReply is what a Listener makes of a reply once it is complete.
type CompleteReply[R any] struct {
	Rest   string // of the text, not yet shown
	Report R
	Calls  []model.ToolCall // that are to be performed
	Text   *string          // replaces all that was shown, if that was no part of the text
}

// NewPerformer returns a performer that decodes a job's payload as a P and calls do.
func NewPerformer[P any](
	do func(ctx context.Context, job run.Job, asked P) (any, error),
) func(context.Context, run.Job) (any, error) {
	return func(ctx context.Context, job run.Job) (any, error) {
		asked, err := run.PayloadOf[P](job)
		if err != nil {
			return nil, err
		}
		return do(ctx, job, asked)
	}
}

// Turns performs turns of the model. It emits the text as it arrives, as far as the listener shows it.
func Turns[R Report](b *Builder[R], m model.Model, listen func(Request) Listener[R]) run.Performer {
	return run.Performer{Do: NewPerformer(func(ctx context.Context, job run.Job, p TurnPayload) (any, error) {
		return performTurn(ctx, b, m, listen, job.Emit, TellReading(job), b.Purpose, job.Effect.Kind, p)
	})}
}

// Notes performs notes of the conversation, with a purpose of their own for the offline model. They are not shown as
// they arrive.
func Notes[R Report](b *Builder[R], m model.Model, listen func(Request) Listener[R], purpose string) run.Performer {
	return run.Performer{Do: NewPerformer(func(ctx context.Context, job run.Job, p TurnPayload) (any, error) {
		return performTurn(ctx, b, m, listen, func(run.Piece) {}, TellReading(job), purpose, job.Effect.Kind, p)
	})}
}

func performTurn[R Report](
	ctx context.Context, b *Builder[R], m model.Model, listen func(Request) Listener[R], emit func(run.Piece),
	tell func(model.Reading), purpose, kind string, p TurnPayload,
) (any, error) {
	asked, err := b.Build(ctx, p)
	var known *bt.Fault
	switch {
	case errors.As(err, &known):
		return nil, known
	case err != nil:
		// run recognises a failure to read the journal
		return nil, errors.Join(&bt.Fault{Kind: "request", Reason: err.Error()}, err)
	}
	asked.Purpose = purpose
	if kind == EffectNotes {
		asked.Bound = model.BoundNotes
	}
	stream := &replyStream[R]{emit: emit, listen: func() Listener[R] { return listen(asked) }}
	stream.listener = stream.listen()
	resp, err := model.WithReading(m, tell).Chat(ctx, asked.Request, stream.emitDelta)
	end := stream.close(nameCalls(resp.ToolCalls, asked.Request.Tools))
	text := stream.text.String()
	r := TurnReceipt[R]{Text: text, Calls: end.Calls, Report: end.Report, Finish: resp.Finish, Usage: resp.Usage,
		Reported: resp.Reported, Model: cmp.Or(resp.Model, m.ID()),
		Attempts: resp.Attempts, Dropped: resp.Dropped, Refused: resp.LeftOut, Native: resp.Native, Tries: resp.Tries,
		Prompt: asked.Prompt.Hash, Segments: asked.Prompt.Segments, Note: asked.Note, Found: asked.Found,
		LeftOut:    asked.Prompt.LeftOut,
		ToolHashes: asked.Tools, PromptSize: asked.Prompt.Tokens, SentBytes: asked.bytes(),
		History: asked.History + Tokens(text) + callTokens(end.Calls), Cut: asked.Cut}
	if r.Attempts == 1 { // recorded only if there was more than one
		r.Attempts = 0
	}
	if kind == EffectNotes {
		r.Text = strings.TrimSpace(r.Text)
	}
	if r.Finish == model.FinishFilter && err == nil {
		err = &model.Error{Kind: model.Refused, Model: m.ID(), Message: "the provider's filter stopped the answer"}
	}
	if err == nil {
		return r, nil
	}
	fault := ModelFault(err)
	if kind == EffectTurn && isPassing(err) {
		return r, &run.Suspended{Fault: fault}
	}
	return r, fault
}

// ModelFault is the fault of an effect whose model failed.
func ModelFault(err error) *bt.Fault {
	failed, is := errors.AsType[*model.Error](err)
	return &bt.Fault{Kind: string(model.KindOf(err)), Reason: err.Error(), Unsent: is && failed.Unsent}
}

// isPassing says whether a failure of the model passes with time, or once it is paid, so the turn may succeed later.
func isPassing(err error) bool {
	failed, is := errors.AsType[*model.Error](err)
	return is && (failed.Retryable() || failed.Kind == model.Payment)
}

// replyStream emits a reply as it arrives, and starts over if an attempt is retracted.
type replyStream[R any] struct {
	emit     func(run.Piece)
	listen   func() Listener[R]
	listener Listener[R]
	text     strings.Builder
}

// PauseFor is a model's wait in the form for watchers.
func PauseFor(w model.Wait) *run.Wait {
	return &run.Wait{Until: w.Until, Why: w.Model + ": " + w.Kind.Words(), Model: w.Model, Kind: string(w.Kind)}
}

// TellReading tells watchers of a job how far a model is with reading what it was sent, for model.WithReading.
func TellReading(job run.Job) func(model.Reading) {
	var since time.Time
	return func(r model.Reading) {
		switch {
		case r.Tokens == 0:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		}
		job.Emit(run.Piece{Reading: &run.Reading{Tokens: r.Tokens, Read: r.Read, Since: since}})
	}
}

func (h *replyStream[R]) emitDelta(d model.Delta) error {
	if d.Retract {
		h.listener = h.listen()
		h.text.Reset()
		h.emit(run.Piece{Retract: true})
	}
	if w := d.Wait; w != nil {
		h.emit(run.Piece{Wait: PauseFor(*w)})
	}
	if d.Thinking != "" {
		h.emit(run.Piece{Thinking: d.Thinking})
	}
	h.show(h.listener.Write(d.Text))
	return nil
}

// close ends the reply. Afterwards, text is the final one.
func (h *replyStream[R]) close(calls []model.ToolCall) CompleteReply[R] {
	end := h.listener.Close(h.text.String(), calls)
	if end.Text != nil {
		h.text.Reset()
		h.emit(run.Piece{Retract: true})
		h.show(*end.Text)
	} else {
		h.show(end.Rest)
	}
	return end
}

func (h *replyStream[R]) show(text string) {
	if text != "" {
		h.text.WriteString(text)
		h.emit(run.Piece{Text: text, Stands: h.listener.Standing(h.text.String())})
	}
}

// Caller performs calls of tools. Of returns the tool's name, the arguments, and the call, of which Args, Key and Owner
// are filled in later.
type Caller struct {
	View    *run.View
	Tools   *tool.Set
	Connect func(ctx context.Context) (*tool.Set, error) // gives the tools when they are needed, if Tools is nil
	Of      func(v *run.View, job run.Job) (name, args string, call tool.Call, err error)
	Timeout time.Duration // of one call
	DryRun  bool          // tools that write answer “recorded, not performed”
	// Spoken gives the user's own words in the session; nil: queries are not checked.
	Spoken func(ctx context.Context) (string, error)
}

// Performer performs the calls.
func (c *Caller) Performer() run.Performer {
	return run.Performer{Do: c.performCall, Found: c.findWrite}
}

// ProposedCall finds the call that a job of RunTools or RunAllowed requests, among those that the model proposed.
func ProposedCall[R any](v *run.View, job run.Job) (name, args string, call tool.Call, err error) {
	p, err := run.PayloadOf[CallPayload](job)
	if err != nil {
		return "", "", call, err
	}
	var calls []model.ToolCall
	if p.Turn == 0 {
		calls, err = allowedCallsOf(v)
	} else {
		var turn TurnReceipt[R]
		turn, err = run.ResultAt[TurnReceipt[R]](v, p.Turn)
		calls = turn.Calls
	}
	if err != nil {
		return "", "", call, err
	}
	if p.Call >= len(calls) || calls[p.Call].Name != p.Name {
		return "", "", call, fmt.Errorf("record %d has no call %d of %s", p.Turn, p.Call, p.Name)
	}
	return p.Name, calls[p.Call].Arguments, call, nil
}

// prepare finds the tool and the arguments of a call. The receipt has an error if the tool is missing.
func (c *Caller) prepare(ctx context.Context, job run.Job) (tool.Tool, tool.Call, CallReceipt, error) {
	name, args, call, err := c.Of(c.View, job)
	if err != nil {
		return nil, tool.Call{}, CallReceipt{}, err
	}
	call.Args, call.Key, call.Owner = json.RawMessage(args), job.Key, string(c.View.Owner)
	r := CallReceipt{Tool: name, Arguments: args, Labels: LabelledAs(Own, false)}
	tools := c.Tools
	if tools == nil {
		if tools, err = c.Connect(ctx); err != nil {
			return nil, tool.Call{}, CallReceipt{}, err
		}
	}
	t, ok := tools.Get(name)
	switch {
	case !ok:
		r.Error = tool.Errorf(tool.Unavailable, "", "%s is not there in this process", name)
	case c.DryRun && t.Spec().Effect == tool.Once:
		t = dryRunTool{t}
	}
	if ok {
		s := t.Spec()
		r.Labels = labelsOf(s.Source, s.Foreign)
	}
	return t, call, r, nil
}

// performCall calls a tool. A refusal by the tool is a result for the model, not a fault of the run.
func (c *Caller) performCall(ctx context.Context, job run.Job) (any, error) {
	t, call, r, err := c.prepare(ctx, job)
	if err != nil || r.Error != nil {
		return r, err
	}
	if r.Error = whyNotJSON(call.Args); r.Error != nil {
		return r, nil
	}
	why, err := c.whyQueryHeld(ctx, job, t.Spec(), call)
	if r.Held, r.Coded = why.Text, why.Coded; r.Held != "" || err != nil {
		r.Error = tool.Errorf(tool.Denied, "search with words of the person or of the web", "%s", r.Held)
		return r, err
	}
	asked, err := run.PayloadOf[CallPayload](job)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	if asked.Rule == RulePreview {
		r = previewCall(limited, t, call, r, asked.Hold)
		return r, ctx.Err()
	}
	result, err := t.Call(limited, call)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c.receiptOf(r, result, err, limited.Err()), nil
}

// whyNotJSON says what is wrong with arguments that are not JSON; nil for those that are. What ends too soon was cut
// off, whatever reason to stop its server gives.
func whyNotJSON(args json.RawMessage) *tool.Error {
	if json.Valid(args) {
		return nil
	}
	var first json.RawMessage
	err := json.NewDecoder(bytes.NewReader(args)).Decode(&first)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return tool.Errorf(tool.InvalidArgs, "if it was too long for one reply, ask for less or make several smaller "+
			"calls; else write it again, whole", "the call was cut off: its arguments end after %d bytes, within the JSON",
			len(args))
	case err == nil:
		err = errors.New("more follows behind its end")
	}
	return tool.Errorf(tool.InvalidArgs, "write one JSON object", "the arguments are not JSON: %w", err)
}

// whyQueryHeld says why a query that the tree admitted by RuleQuery is not sent; empty if it may be.
func (c *Caller) whyQueryHeld(ctx context.Context, job run.Job, s tool.Spec, call tool.Call) (bt.Why, error) {
	if c.Spoken == nil || s.Out.To != tool.ToEngine {
		return bt.Why{}, nil
	}
	p, err := run.PayloadOf[CallPayload](job)
	if err != nil || p.Rule != RuleQuery {
		return bt.Why{}, err
	}
	query, _ := sentText(s.Out, string(call.Args))
	spoken, err := c.Spoken(ctx)
	if err != nil {
		return bt.Why{}, err
	}
	return Sources{Spoken: spoken, Web: webTexts(c.View)}.WhyHeld(query), nil
}

// previewCall makes the receipt of a call that is not made before the person approves it: what it would change, or why
// its tool would refuse it.
func previewCall(ctx context.Context, t tool.Tool, call tool.Call, r CallReceipt, hold bt.Why) CallReceipt {
	if p, ok := t.(tool.Previewer); ok {
		var err error
		if r.Change, err = p.Preview(ctx, call); err != nil {
			r.Error = tool.AsError(err)
			return r
		}
	}
	r.Held, r.Coded = hold.Text, hold.Coded
	r.Error = tool.Errorf(tool.Denied, "", "%s", hold.Text)
	return r
}

// dryRunTool replaces a tool that writes, in a run that only shows what it would do.
type dryRunTool struct{ tool.Tool }

func (dryRunTool) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Text: "recorded, not performed", Items: 1}, nil
}

func (dryRunTool) Found(context.Context, tool.Call) (tool.Result, bool, error) {
	return tool.Result{}, false, nil
}

func (c *Caller) receiptOf(r CallReceipt, result tool.Result, err, timedOut error) CallReceipt {
	var known *tool.Error
	switch {
	case err == nil:
		result = result.Bounded()
		r.Result = &result
	case errors.As(err, &known):
		r.Error = known
	case timedOut != nil:
		r.Error = tool.Errorf(tool.Timeout, "ask for less", "no result within %s", c.Timeout)
	default:
		r.Error = tool.Errorf(tool.Failed, "", "%w", err)
	}
	return r
}

// findWrite looks up whether a write took effect before a crash.
func (c *Caller) findWrite(ctx context.Context, job run.Job) (any, bool, error) {
	t, call, r, err := c.prepare(ctx, job)
	if err != nil {
		return nil, false, err
	}
	if r.Error != nil {
		return nil, false, r.Error
	}
	finder, ok := t.(tool.Finder)
	if !ok {
		return nil, false, fmt.Errorf("%s keeps no record of what it did", r.Tool)
	}
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	result, found, err := finder.Found(limited, call)
	if err != nil || !found {
		return nil, false, err
	}
	return c.receiptOf(r, result, nil, nil), true, nil
}
