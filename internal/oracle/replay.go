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

// sends returns what a turn, or a request for notes, sent according to its receipt, and what the request would be if it
// was rebuilt from the texts of v and the run's tools. Both are listed as prompt segments and offered tools. For other
// effects it returns nothing.
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
	asked, a, err := rebuildRequest(ctx, v, p)
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

// toolParts are tools as parts of a request. Each text has a name and a hash.
func toolParts(hashes []string) (parts []run.Part) {
	for _, h := range hashes {
		name, hash, _ := strings.Cut(h, " ")
		parts = append(parts, run.Part{Kind: "tool", Name: name, Hash: hash})
	}
	return parts
}

// ChangedPrompts gives, for a replay, the run's own prompt segments, replaced by the files that a folder has. The
// folder has the layout of the one in the setting prompts.
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
