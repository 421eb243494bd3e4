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

// promptTexts keeps the prompts that runs began with, and what was composed of them: most runs share both, and a run that waits
// for its model then holds no text of its own.
type promptTexts struct {
	mu     sync.Mutex
	byBlob map[string]*prompts
}

// prompts is one set of segments with its compositions.
type prompts struct {
	set      *prompt.Set
	mu       sync.Mutex
	composed map[string]agent.System // by situation
}

const (
	keptPrompts  = 8
	keptComposed = 64
)

func newPromptTexts() *promptTexts { return &promptTexts{byBlob: map[string]*prompts{}} }

// of gives the prompts that a run began with.
func (p *promptTexts) of(ctx context.Context, v *run.View) (*prompts, error) {
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
	r, err := prompt.New(segments)
	if err != nil {
		return nil, err
	}
	if len(p.byBlob) >= keptPrompts {
		clear(p.byBlob)
	}
	known := &prompts{set: r, composed: map[string]agent.System{}}
	p.byBlob[name] = known
	return known, nil
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

// compose is prompt.Set.Compose, remembered by all that it depends on.
func (p *prompts) compose(s prompt.Situation) (agent.System, error) {
	same := s
	same.HistoryTokens, same.WindowTokens, same.Noted = 0, 0, false
	key, err := json.Marshal(struct {
		prompt.Situation
		Large bool
	}{same, s.Large()})
	if err != nil {
		return agent.System{}, fmt.Errorf("situation of the prompt: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.composed[string(key)]; ok {
		return known, nil
	}
	c, err := p.set.Compose(s)
	if err != nil {
		return agent.System{}, err
	}
	system := agent.System{Text: c.Text, Hash: journal.BlobHash([]byte(c.Text)), Tokens: c.Tokens}
	for _, in := range c.Segments {
		system.Segments, system.Texts = append(system.Segments, in.ID), append(system.Texts, in.Text)
	}
	for _, l := range c.LeftOut {
		system.LeftOut = append(system.LeftOut, l.ID+": "+l.Reason)
	}
	if len(p.composed) >= keptComposed {
		clear(p.composed)
	}
	p.composed[string(key)] = system
	return system, nil
}
