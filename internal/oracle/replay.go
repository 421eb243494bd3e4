package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"sibyl/internal/journal"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/tool"
	builtin "sibyl/prompts"
)

// sends composes the system prompt of a turn, or of notes, anew, of the texts that v holds and the tools as the run was given them.
// Other effects send nothing that their receipts tell of.
func sends(ctx context.Context, known *promptTexts, v *run.View, c run.CompletionRecord) (recorded, composed run.Sent, err error) {
	recorded, p, err := prompted(c)
	if err != nil || recorded.Hash == "" {
		return recorded, composed, err
	}
	b, err := recordedBuilder(ctx, known, v)
	if err != nil {
		return recorded, composed, err
	}
	asked, err := b.build(ctx, p)
	if err != nil {
		return recorded, composed, err
	}
	composed = run.Sent{Hash: journal.BlobHash([]byte(asked.composed.Text)), Tokens: asked.composed.Tokens}
	segments := b.prompts.registry.Segments()
	for _, s := range asked.composed.Segments {
		at := slices.IndexFunc(segments, func(known prompt.Segment) bool { return known.ID == s.ID })
		composed.Parts = append(composed.Parts, run.Part{Name: s.ID, Tokens: s.Tokens, Hash: journal.BlobHash([]byte(segments[at].Content))})
		if c.Kind == EffectNotes { // its receipt names no segments, and none is to look as if it were added
			recorded.Parts = append(recorded.Parts, run.Part{Name: s.ID})
		}
	}
	return recorded, composed, nil
}

// prompted is the prompt that an effect was performed with, as its receipt has it, and what the prompt was composed for. The hash is
// empty if there is none: it is another kind of effect, or it failed before its prompt was composed.
func prompted(c run.CompletionRecord) (sent run.Sent, p TurnPayload, err error) {
	if len(c.Result) == 0 {
		return sent, p, nil
	}
	switch c.Kind {
	case EffectTurn:
		var r TurnReceipt
		if err := errors.Join(json.Unmarshal(c.Result, &r), json.Unmarshal(c.Payload, &p)); err != nil {
			return sent, p, fmt.Errorf("records of the turn: %w", err)
		}
		sent = run.Sent{Hash: r.Prompt, Tokens: r.PromptSize}
		for _, id := range r.Segments {
			sent.Parts = append(sent.Parts, run.Part{Name: id})
		}
	case EffectNotes:
		var r NotesReceipt
		var of NotesPayload
		if err := errors.Join(json.Unmarshal(c.Result, &r), json.Unmarshal(c.Payload, &of)); err != nil {
			return sent, p, fmt.Errorf("records of the notes: %w", err)
		}
		sent, p = run.Sent{Hash: r.Prompt, Tokens: r.PromptSize}, of.Turn
	}
	return sent, p, nil
}

// recordedBuilder makes requests without anything of the outside: the tools are what the run was told of them.
func recordedBuilder(ctx context.Context, known *promptTexts, v *run.View) (*builder, error) {
	var env Env
	if err := json.Unmarshal(v.Start.Env, &env); err != nil {
		return nil, fmt.Errorf("environment of the run: %w", err)
	}
	var facts []ToolFact
	if err := v.Given("tools", &facts); err != nil {
		return nil, err
	}
	tools := make([]tool.Tool, len(facts))
	for i, f := range facts {
		tools[i] = recordedTool(f)
	}
	registry, err := tool.NewSet(tools...)
	if err != nil {
		return nil, err
	}
	texts, err := known.of(ctx, v)
	if err != nil {
		return nil, err
	}
	return &builder{view: v, env: env, prompts: texts, tools: registry}, nil
}

// recordedTool is a tool as a run was told of it. It can't be called.
type recordedTool ToolFact

func (t recordedTool) Spec() tool.Spec {
	s := tool.Spec{Name: t.Name, Description: t.Description, Source: t.Source, Effect: tool.Repeatable, Foreign: t.Foreign, Search: t.Search}
	if t.Once {
		s.Effect = tool.Once
	}
	return s
}

func (recordedTool) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{}, errors.New("a recorded tool is not called")
}

// ChangedPrompts gives, for a replay, the run's own prompt segments with the files of a folder in their place: what the folder does
// not hold stays as the run had it. The folder is laid out as the one of the setting prompts.
func ChangedPrompts(folder fs.FS) func(ctx context.Context, v *run.View) ([]run.Text, error) {
	return func(ctx context.Context, v *run.View) ([]run.Text, error) {
		laid, err := builtin.Overlay(folder)
		if err != nil {
			return nil, err
		}
		theirs, err := prompt.Load(laid)
		if err != nil {
			return nil, err
		}
		text, err := v.Text(ctx, SegmentsText)
		if err != nil {
			return nil, err
		}
		var segments []prompt.Segment
		if err := json.Unmarshal(text, &segments); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", SegmentsText, journal.ErrCorrupt, err)
		}
		for _, s := range theirs.Segments() {
			if _, err := fs.Stat(folder, s.File); err != nil {
				continue // it is the built-in one
			}
			at := slices.IndexFunc(segments, func(own prompt.Segment) bool { return own.ID == s.ID })
			if at < 0 {
				return nil, fmt.Errorf("%w: %s replaces no prompt of the run, which began without the segment %s", run.ErrUnfit, s.File, s.ID)
			}
			segments[at].Content = s.Content
		}
		changed, err := prompt.New(segments)
		if err != nil {
			return nil, err
		}
		return []run.Text{{Name: SegmentsText, Content: changed.Encoded()}}, nil
	}
}

// TurnsTaken counts the turns of the model that had come in when a step took in record number at.
func TurnsTaken(recs []journal.Record, at int64) int {
	n := 0
	for _, r := range recs {
		var c struct {
			Kind string `json:"kind"`
		}
		if r.Seq <= at && r.Kind == run.KindCompletion && json.Unmarshal(r.Data, &c) == nil && c.Kind == EffectTurn {
			n++
		}
	}
	return n
}
