package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// Deps is what the Oracle needs of the outside, as its run's Env says.
type Deps struct {
	Model func(ctx context.Context, env Env) (model.Model, error)
	Tools func(ctx context.Context, env Env) (*tool.Set, func(), error)

	// Classifier scores what a reply calls for (FR-019 to FR-022); nil where none is configured. Text is the reply and
	// its circumstances; the labels are the verdicts.
	Classifier func(ctx context.Context, text string) ([]Score, error)

	ToolTimeout time.Duration // one call; 0: 30 s
}

// Env is what a run of the Oracle was started on. It is journaled, and holds no secret.
type Env struct {
	CodeRoot     string   `json:"code_root,omitempty"`
	Vault        string   `json:"vault,omitempty"`
	Model        string   `json:"model"`
	WindowTokens int      `json:"window_tokens,omitempty"`
	Past         []string `json:"past,omitempty"` // earlier runs of the session, oldest first
	Web          bool     `json:"web,omitempty"`

	Fallback []string `json:"fallback,omitempty"`  // models that answer where Model does not, in order
	ShadowOf string   `json:"shadow_of,omitempty"` // the run that this one is compared with: it writes nothing
}

// sources says what is connected.
func (e Env) sources() []string {
	var s []string
	if e.CodeRoot != "" {
		s = append(s, "code")
	}
	if e.Vault != "" {
		s = append(s, "vault")
	}
	if e.Web {
		s = append(s, "web")
	}
	return s
}

// SegmentsText is the name under which a run keeps its prompt segments.
const SegmentsText = "prompt segments"

// Name is the assistant's name in the journal.
const Name = "oracle"

// New makes the assistant.
func New(deps Deps) (*run.Assistant, error) {
	reg, opt, err := Registry()
	if err != nil {
		return nil, err
	}
	if deps.ToolTimeout == 0 {
		deps.ToolTimeout = 30 * time.Second
	}
	known := newPromptTexts()
	return &run.Assistant{Name: Name, Registry: reg, Options: opt, Outcome: outcome,
		Open: func(ctx context.Context, v *run.View) (map[string]run.Performer, func(), error) {
			return open(ctx, deps, known, v)
		},
		Sends: func(ctx context.Context, v *run.View, c run.CompletionRecord) (recorded, composed run.Sent, err error) {
			return sends(ctx, known, v, c)
		}}, nil
}

func open(ctx context.Context, deps Deps, known *promptTexts, v *run.View) (map[string]run.Performer, func(), error) {
	var env Env
	if err := json.Unmarshal(v.Start.Env, &env); err != nil {
		return nil, nil, fmt.Errorf("environment of the run: %w", err)
	}
	prompts, err := known.of(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	m, err := deps.Model(ctx, env)
	if err != nil {
		return nil, nil, err
	}
	tools, closeTools, err := deps.Tools(ctx, env)
	if err != nil {
		return nil, nil, err
	}
	b := &builder{view: v, env: env, prompts: prompts, tools: tools}
	caller := &caller{builder: b, timeout: deps.ToolTimeout}
	return map[string]run.Performer{
		EffectTurn:     {Do: func(ctx context.Context, job run.Job) (any, error) { return turn(ctx, b, m, job) }},
		EffectCall:     {Do: caller.do, Found: caller.found},
		EffectNotes:    {Do: func(ctx context.Context, job run.Job) (any, error) { return notes(ctx, b, m, job) }},
		EffectClassify: {Do: func(ctx context.Context, job run.Job) (any, error) { return score(ctx, b, deps.Classifier, job) }},
	}, closeTools, nil
}

// turn asks the model, passing on its text as it arrives, without any signal in it.
func turn(ctx context.Context, b *builder, m model.Model, job run.Job) (any, error) {
	var p TurnPayload
	if err := json.Unmarshal(job.Effect.Payload, &p); err != nil {
		return nil, err
	}
	asked, err := b.build(ctx, p)
	if err != nil {
		return nil, &bt.Fault{Kind: "request", Reason: err.Error()}
	}
	r := TurnReceipt{Prompt: journal.BlobHash([]byte(asked.composed.Text)), PromptSize: asked.composed.Tokens, History: asked.history}
	for _, s := range asked.composed.Segments {
		r.Segments = append(r.Segments, s.ID)
	}
	for _, l := range asked.composed.LeftOut {
		r.LeftOut = append(r.LeftOut, l.ID+": "+l.Reason)
	}
	heard := &ear{emit: job.Emit}
	resp, err := m.Chat(ctx, asked.req, heard.delta)
	heard.close()
	r.Text, r.Calls, r.Finish, r.Usage, r.Attempts, r.Native = string(heard.text), resp.ToolCalls, resp.Finish, resp.Usage, resp.Attempts, resp.Native
	r.Model, r.Tries = cmp.Or(resp.Model, m.ID()), resp.Tries
	r.History += prompt.Tokens(r.Text) + callTokens(r.Calls)
	r.Signal, r.Extra, r.Problems, r.Malformed = heard.result.Signal, heard.result.Extra, heard.result.Problems, heard.result.Malformed()
	if r.Finish == model.FinishFilter && err == nil {
		err = &model.Error{Kind: model.Refused, Model: m.ID(), Message: "the provider's filter stopped the answer"}
	}
	if err != nil {
		return r, &bt.Fault{Kind: string(model.KindOf(err)), Reason: err.Error()}
	}
	return r, nil
}

// notes asks the model for notes of the conversation. Nobody is shown them as they arrive.
func notes(ctx context.Context, b *builder, m model.Model, job run.Job) (any, error) {
	var p NotesPayload
	if err := json.Unmarshal(job.Effect.Payload, &p); err != nil {
		return nil, err
	}
	asked, err := b.build(ctx, p.Turn)
	if err != nil {
		return nil, &bt.Fault{Kind: "request", Reason: err.Error()}
	}
	asked.req.Purpose = PurposeNotes
	heard := &ear{emit: func(run.Piece) {}}
	resp, err := m.Chat(ctx, asked.req, heard.delta)
	heard.close()
	r := NotesReceipt{Text: strings.TrimSpace(string(heard.text)), Usage: resp.Usage, Model: cmp.Or(resp.Model, m.ID()), Attempts: resp.Attempts,
		Prompt: journal.BlobHash([]byte(asked.composed.Text)), Extra: heard.result.Extra, Problems: heard.result.Problems,
		PromptSize: asked.composed.Tokens, History: asked.history + prompt.Tokens(string(heard.text))}
	if heard.result.Signal != nil {
		r.Extra = append([]signal.Signal{*heard.result.Signal}, r.Extra...)
	}
	if err != nil {
		return r, &bt.Fault{Kind: string(model.KindOf(err)), Reason: err.Error()}
	}
	return r, nil
}

// score asks the classifier what a reply calls for.
func score(ctx context.Context, b *builder, classifier func(context.Context, string) ([]Score, error), job run.Job) (any, error) {
	var p ClassifyPayload
	if err := json.Unmarshal(job.Effect.Payload, &p); err != nil {
		return nil, err
	}
	if classifier == nil {
		return nil, &bt.Fault{Kind: "classifier", Reason: "no classifier is configured in this process"}
	}
	var t TurnReceipt
	if err := b.receipt(p.Turn, &t); err != nil {
		return nil, err
	}
	scores, err := classifier(ctx, circumstances(p.Cause, t))
	if err != nil {
		return nil, &bt.Fault{Kind: "classifier", Reason: err.Error()}
	}
	return ClassifyReceipt{Scores: scores}, nil
}

// circumstances is what the classifier reads of a reply: its words, what it says of itself, and what it calls.
func circumstances(c Cause, t TurnReceipt) string {
	b := &strings.Builder{}
	b.WriteString(strings.TrimSpace(t.Text))
	if t.Signal != nil {
		for _, name := range []string{"reason", "blocker", "missing"} {
			if text := t.Signal.Text(name); text != "" {
				b.WriteString("\n" + text)
			}
		}
	}
	for _, call := range t.Calls {
		b.WriteString("\ncalls " + call.Name)
	}
	if b.Len() == 0 {
		return string(c)
	}
	return b.String()
}

// ear takes signals out of the stream.
type ear struct {
	emit   func(run.Piece)
	x      signal.Extractor
	text   []byte
	result signal.Result
}

func (e *ear) delta(d model.Delta) error {
	if d.Retract {
		e.x, e.text = signal.Extractor{}, nil
		e.emit(run.Piece{Retract: true})
	}
	e.say(e.x.Write(d.Text))
	return nil
}

func (e *ear) say(text string) {
	if text != "" {
		e.text = append(e.text, text...)
		e.emit(run.Piece{Text: text})
	}
}

func (e *ear) close() {
	rest, r := e.x.Close()
	e.say(rest)
	e.result = r
}

// caller performs calls of tools.
type caller struct {
	*builder
	timeout time.Duration
}

// prepare finds the tool and the arguments that a call names.
func (c *caller) prepare(job run.Job) (tool.Tool, tool.Call, CallReceipt, error) {
	var p CallPayload
	if err := json.Unmarshal(job.Effect.Payload, &p); err != nil {
		return nil, tool.Call{}, CallReceipt{}, err
	}
	var turn TurnReceipt
	if err := c.receipt(p.Turn, &turn); err != nil {
		return nil, tool.Call{}, CallReceipt{}, err
	}
	if p.Call >= len(turn.Calls) || turn.Calls[p.Call].Name != p.Name {
		return nil, tool.Call{}, CallReceipt{}, fmt.Errorf("record %d has no call %d of %s", p.Turn, p.Call, p.Name)
	}
	args := turn.Calls[p.Call].Arguments
	t, ok := c.tools.Get(p.Name)
	r := CallReceipt{Tool: p.Name, Arguments: args}
	switch {
	case !ok:
		r.Error = tool.Errorf(tool.Unavailable, "", "%s is not there in this process", p.Name)
	case c.env.ShadowOf != "" && t.Spec().Effect == tool.Once:
		t = unwritten{t}
	}
	return t, tool.Call{Args: json.RawMessage(args), Key: job.Key, Owner: string(c.view.Owner)}, r, nil
}

// do calls a tool. What the tool refuses is a fact for the model, not a fault of the run.
func (c *caller) do(ctx context.Context, job run.Job) (any, error) {
	t, call, r, err := c.prepare(job)
	if err != nil || r.Error != nil {
		return r, err
	}
	if !json.Valid(call.Args) {
		r.Error = tool.Errorf(tool.InvalidArgs, "write one JSON object", "the arguments are not JSON")
		return r, nil
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	result, err := t.Call(limited, call)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c.receiptOf(r, result, err, limited.Err()), nil
}

// unwritten stands for a tool that writes, in a run that only shows what it would do.
type unwritten struct{ tool.Tool }

// Call implements tool.Tool.
func (unwritten) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Text: "recorded, not performed", Items: 1}, nil
}

// Found implements tool.Finder.
func (unwritten) Found(context.Context, tool.Call) (tool.Result, bool, error) {
	return tool.Result{}, false, nil
}

func (c *caller) receiptOf(r CallReceipt, result tool.Result, err, timedOut error) CallReceipt {
	var known *tool.Error
	switch {
	case err == nil:
		r.Result = &result
	case errors.As(err, &known):
		r.Error = known
	case timedOut != nil:
		r.Error = tool.Errorf(tool.Timeout, "ask for less", "no result within %s", c.timeout)
	default:
		r.Error = tool.Errorf(tool.Failed, "", "%w", err)
	}
	return r
}

// found looks up whether a write took effect before a crash.
func (c *caller) found(ctx context.Context, job run.Job) (any, bool, error) {
	t, call, r, err := c.prepare(job)
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
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	result, was, err := finder.Found(limited, call)
	if err != nil || !was {
		return nil, false, err
	}
	return c.receiptOf(r, result, nil, nil), true, nil
}
