package session

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"sibyl/internal/redact"
	"sibyl/internal/text/search"
)

// Hit is a place that has all the words that were looked for.
type Hit struct {
	Session string    `json:"session_id"`
	Name    string    `json:"name,omitempty"` // of the session
	ID      string    `json:"id,omitempty" doc:"t1 is transcript 1, r2 answer 2; left out for the name of the session."`
	At      time.Time `json:"at"`
	Passage string    `json:"passage"` // the words, with some around them
}

const passageWords = 32 // that are shown

// Search finds words in the transcripts, answers and names of all sessions, the newest places first. Case and accents don't matter; every word must be
// there, but for those that only hold a sentence together. It gives at most so many hits. Sessions and files that can't be read are left out.
func (s *Store) Search(ctx context.Context, query string, most int) ([]Hit, error) {
	q := search.NewQuery(query)
	if q.Empty() {
		return nil, &Invalid{Kind: Empty, What: "what to search for", Problem: "has no word in it"}
	}
	all, _, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	var hits []Hit
	for _, m := range all {
		for hit, text := range s.Texts(ctx, m) {
			if q.AnsweredBy(text) >= q.AnsweredBy(query) { // before it is cut
				hit.Passage = passage(q, wordsOf(text))
				hits = append(hits, hit)
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return b.At.Compare(a.At) })
	return hits[:min(len(hits), max(most, 0))], ctx.Err()
}

// Texts gives what stands in a session, redacted, with where it does, until ctx ends. What can't be read is left out.
func (s *Store) Texts(ctx context.Context, m Session) iter.Seq2[Hit, string] {
	return func(yield func(Hit, string) bool) {
		hit := Hit{Session: m.ID, Name: m.Name, At: m.Began()}
		if m.NamedBy != ByWords && !yield(hit, redact.Text(m.Name)) { // else it is in a transcript
			return
		}
		for _, e := range m.Audio {
			hit.ID, hit.At = e.ID(), e.ReceivedAt
			if text, err := s.TranscriptOf(ctx, m.ID, e); err == nil && !yield(hit, redact.Text(text)) {
				return
			}
		}
		for _, e := range m.Answers {
			hit.ID, hit.At = e.ID(), e.CreatedAt
			if text, err := s.ResponseOf(ctx, m.ID, e); err == nil && !yield(hit, redact.Text(text)) {
				return
			}
		}
	}
}

// wordsOf cuts a text into words. Those that are too long, as in a script without spaces, are cut themselves.
func wordsOf(text string) (words []string) {
	for field := range strings.FieldsSeq(text) {
		for word := range slices.Chunk([]rune(field), longestShown) {
			words = append(words, string(word))
		}
	}
	return words
}

// passage is the part of a text around the first of the words that were looked for.
func passage(q search.Query, words []string) string {
	first := slices.IndexFunc(words, func(word string) bool { return q.AnsweredBy(word) > 0 })
	from := max(0, min(first-passageWords/4, len(words)-passageWords))
	to := min(from+passageWords, len(words))
	text := strings.Join(words[from:to], " ")
	if from > 0 {
		text = "… " + text
	}
	if to < len(words) {
		text += " …"
	}
	return text
}
