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

// promptCache keeps the prompts that runs began with: most runs share them, and reading them takes long.
type promptCache struct {
	mu     sync.Mutex
	byBlob map[string]*prompt.Set
}

const maxCachedPrompts = 8

// load is promptsOf with a cache.
func (p *promptCache) load(ctx context.Context, v *run.View) (*prompt.Set, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := v.Blob(SegmentsText)
	if known := p.byBlob[name]; known != nil {
		return known, nil
	}
	set, err := promptsOf(ctx, v)
	if err != nil {
		return nil, err
	}
	if len(p.byBlob) >= maxCachedPrompts {
		clear(p.byBlob)
	}
	p.byBlob[name] = set
	return set, nil
}

// promptsOf loads the prompts that a run began with.
func promptsOf(ctx context.Context, v *run.View) (*prompt.Set, error) {
	segments, err := segmentsOf(ctx, v)
	if err != nil {
		return nil, err
	}
	return prompt.New(segments)
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

func agentSystem(c prompt.Composed) agent.System {
	system := agent.System{Text: c.Text, Hash: journal.BlobHash([]byte(c.Text)), Tokens: c.Tokens}
	for _, in := range c.Segments {
		system.Segments, system.Texts = append(system.Segments, in.ID), append(system.Texts, in.Text)
	}
	for _, l := range c.LeftOut {
		system.LeftOut = append(system.LeftOut, l.ID+": "+l.Reason)
	}
	return system
}
