package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"sibyl/internal/agent"
	"sibyl/internal/journal"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
)

// promptTexts keeps the prompts that runs began with: most runs share them, and a run that waits for its model then holds no text of its own.
type promptTexts struct {
	mu     sync.Mutex
	byBlob map[string]*prompt.Set
}

const keptPrompts = 8

func newPromptTexts() *promptTexts { return &promptTexts{byBlob: map[string]*prompt.Set{}} }

// of gives the prompts that a run began with.
func (p *promptTexts) of(ctx context.Context, v *run.View) (*prompt.Set, error) {
	name := v.Blob(SegmentsText)
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.byBlob[name]; known != nil {
		return known, nil
	}
	segments, err := segmentsOf(ctx, v)
	if err != nil {
		return nil, err
	}
	set, err := prompt.New(segments)
	if err != nil {
		return nil, err
	}
	if len(p.byBlob) >= keptPrompts {
		clear(p.byBlob)
	}
	p.byBlob[name] = set
	return set, nil
}

// segmentsOf reads the prompt segments that a run began with.
func segmentsOf(ctx context.Context, v *run.View) (segments []prompt.Segment, err error) {
	text, err := v.Text(ctx, SegmentsText)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &segments); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", SegmentsText, journal.ErrCorrupt, err)
	}
	return segments, nil
}

// composed is a system prompt as requests have it.
func composed(c prompt.Composed) agent.System {
	system := agent.System{Text: c.Text, Hash: journal.BlobHash([]byte(c.Text)), Tokens: c.Tokens}
	for _, in := range c.Segments {
		system.Segments, system.Texts = append(system.Segments, in.ID), append(system.Texts, in.Text)
	}
	for _, l := range c.LeftOut {
		system.LeftOut = append(system.LeftOut, l.ID+": "+l.Reason)
	}
	return system
}
