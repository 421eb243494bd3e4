package oracle

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/journal"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	builtin "sibyl/prompts"
)

// sends makes the request of a turn, or of notes, anew, of the texts that v holds and the tools as the run was given
// them: its system prompt by segments, and the tools that it offers. Other effects send nothing that their receipts
// tell of.
func sends(ctx context.Context, v *run.View, c *run.CompletionRecord) (recorded, composed run.Sent, err error) {
	r, isTurn := c.Value.(agent.TurnReceipt[Heard])
	p, ok := c.Asked.(agent.TurnPayload)
	if !isTurn || !ok || r.Prompt == "" { // another kind of effect, or it failed before its prompt was composed
		return recorded, composed, nil
	}
	recorded = run.Sent{Hash: r.Prompt, Tokens: r.PromptSize}
	for _, id := range r.Segments {
		recorded.Parts = append(recorded.Parts, run.Part{Kind: "segment", Name: id})
	}
	recorded.Parts = append(recorded.Parts, toolParts(r.ToolHashes)...)
	asked, a, err := rebuilt(ctx, v, p)
	if err != nil {
		return recorded, composed, err
	}
	composed = run.Sent{Hash: asked.Prompt.Hash, Tokens: asked.Prompt.Tokens}
	segments := a.prompts.Segments()
	for _, id := range asked.Prompt.Segments {
		at := slices.IndexFunc(segments, func(known prompt.Segment) bool { return known.ID == id })
		composed.Parts = append(composed.Parts, run.Part{Kind: "segment", Name: id, Tokens: segments[at].TokenEstimate,
			Hash: journal.BlobHash([]byte(segments[at].Content))})
	}
	composed.Parts = append(composed.Parts, toolParts(asked.Tools)...)
	return recorded, composed, nil
}

// toolParts are tools as parts of a request, of names with hashes.
func toolParts(hashes []string) (parts []run.Part) {
	for _, h := range hashes {
		name, hash, _ := strings.Cut(h, " ")
		parts = append(parts, run.Part{Kind: "tool", Name: name, Hash: hash})
	}
	return parts
}

// ChangedPrompts gives, for a replay, the run's own prompt segments with the files of a folder in their place: what the
// folder does not hold stays as the run had it. The folder is laid out as the one of the setting prompts.
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
		segments, err := segmentsOf(ctx, v)
		if err != nil {
			return nil, err
		}
		for _, s := range theirs.Segments() {
			if _, err := fs.Stat(folder, s.File); err != nil {
				continue // it is the built-in one
			}
			at := slices.IndexFunc(segments, func(own prompt.Segment) bool { return own.ID == s.ID })
			if at < 0 {
				return nil, fmt.Errorf("%w: %s replaces nothing: the run started without the segment %s",
					run.ErrUnfit, s.File, s.ID)
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
