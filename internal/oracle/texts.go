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

// mostPromptSets is how many sets of prompts are kept. Runs begin with the same one, until a file of it changes.
const mostPromptSets = 8

// promptSets keeps the sets of prompts that runs began with, by the hash of their segments.
type promptSets struct {
	mu   sync.Mutex
	kept map[string]*prompt.Set
}

// of returns the prompts that a run began with.
func (s *promptSets) of(ctx context.Context, v *run.View) (*prompt.Set, error) {
	hash := v.Blob(SegmentsText)
	s.mu.Lock()
	set := s.kept[hash]
	s.mu.Unlock()
	if set != nil {
		return set, nil
	}
	set, err := promptsOf(ctx, v)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept) >= mostPromptSets {
		clear(s.kept)
	}
	s.kept[hash] = set
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

func agentSystem(c prompt.Composed, note agent.Note) agent.System {
	system := agent.System{Text: c.Text, Hash: journal.BlobHash([]byte(c.Text + "\x00" + note.Text)),
		Tokens: agent.Tokens(c.Text), LeftOut: note.LeftOut}
	for _, in := range c.Segments {
		if !in.Noted {
			system.Segments, system.Texts = append(system.Segments, in.ID), append(system.Texts, in.Text)
		}
	}
	system.Segments, system.Texts = append(system.Segments, note.Segments...), append(system.Texts, note.Texts...)
	return system
}

// noteOf is what stands with the question.
func noteOf(c prompt.Composed) agent.Note {
	note := agent.Note{Text: c.Note}
	for _, in := range c.Segments {
		if in.Noted {
			note.Segments, note.Texts = append(note.Segments, in.ID), append(note.Texts, in.Text)
		}
	}
	for _, l := range c.LeftOut {
		note.LeftOut = append(note.LeftOut, l.ID+": "+l.Reason)
	}
	return note
}
