package session

import (
	"context"
	"iter"
	"time"

	"sibyl/internal/redact"
)

// Place is where something was said or answered in a session.
type Place struct {
	ID string // t1 is transcript 1, r2 answer 2
	At time.Time
}

// Texts iterates over the transcripts and then the answers of a session, redacted. It skips those that can't be read.
func (s *Store) Texts(ctx context.Context, m Session) iter.Seq2[Place, string] {
	return func(yield func(Place, string) bool) {
		for _, e := range m.Audio {
			text, err := s.TranscriptOf(ctx, m.ID, e)
			if err == nil && !yield(Place{e.ID(), e.ReceivedAt}, redact.Text(text)) {
				return
			}
		}
		for _, e := range m.Answers {
			text, err := s.ResponseOf(ctx, m.ID, e)
			if err == nil && !yield(Place{e.ID(), e.CreatedAt}, redact.Text(text)) {
				return
			}
		}
	}
}
