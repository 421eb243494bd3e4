package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"sibyl/internal/files"
)

// Response is an answer to save. SaveResponse sets Sequence and File, and CreatedAt if it is zero.
type Response struct {
	LlmEntry
	Slug string // names the oracle in the file name: "cetico"
	Text string
}

// longestSlug is the maximum length of a slug in a file name, in bytes.
const longestSlug = 80

// slugOf makes a slug safe for a file name; "oraculo" if nothing of it is left.
func slugOf(slug string) string {
	slug = strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '-', r == '_':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, slug), "-_")
	slug = strings.TrimRight(slug[:min(len(slug), longestSlug)], "-_")
	if slug == "" {
		return "oraculo"
	}
	return slug
}

func (r *Response) check() error {
	c := r.Context
	counts := c.Transcripts >= 0 && c.Responses >= 0 && (c.TokensEstimate == nil || *c.TokensEstimate >= 0)
	switch {
	case Blank(r.Text):
		return &Invalid{Kind: Empty, What: "the answer", Problem: "is empty"}
	case len(r.Text) > maxStored:
		return tooLarge("the answer", maxStored)
	case strings.TrimSpace(r.OracleName) == "":
		return &Invalid{Kind: Form, What: "the oracle's name", Problem: "is missing"}
	case r.Kind == "" && utf8.RuneCountInString(r.OracleID) != oracleIDLength:
		return &Invalid{Kind: Form, What: "the oracle's id", Problem: fmt.Sprintf("must have %d characters",
			oracleIDLength)}
	case !counts:
		return &Invalid{Kind: Form, What: "the context snapshot", Problem: "counts less than nothing"}
	}
	return nil
}

// SaveResponse writes an answer as {seq}_{slug}.txt and adds an entry, once for each Operation: a second call changes
// nothing and returns that entry; with Operation "" each call saves. If the context covers all that was said, the
// session may become Ready.
func (s *Store) SaveResponse(ctx context.Context, id string, r Response) (saved LlmEntry, err error) {
	r.Text = s.cleanText(r.Text)
	if err := r.check(); err != nil {
		return saved, err
	}
	_, err = s.change(ctx, id, "keeping an answer", func(h *lockedSession) (bool, error) {
		if i := h.answerIndex(r.Operation); i >= 0 {
			saved = h.Answers[i]
			return false, nil
		}
		e := r.LlmEntry
		if e.CreatedAt.IsZero() {
			e.CreatedAt = s.now()
		}
		e.CreatedAt = e.CreatedAt.UTC()
		if e.File, e.Sequence, err = h.writeResponse(slugOf(r.Slug), r.Text); err != nil {
			return false, err
		}
		if known := h.Response(e.Sequence); known != nil {
			e.Kept = known.Kept
			*known = e
		} else {
			h.Answers = append(h.Answers, e)
		}
		if s.coversAll(ctx, h, e.Context) {
			h.markAnswered()
		}
		saved = e
		return true, nil
	})
	return saved, err
}

// coversAll reports whether a context contains every transcript that has words; false also if one can't be read.
func (s *Store) coversAll(ctx context.Context, h *lockedSession, c ContextSnapshot) bool {
	return !slices.ContainsFunc(h.entriesOutside(c), func(e AudioEntry) bool {
		heard, err := s.TranscriptOf(ctx, h.ID, e)
		return err != nil || !Blank(heard)
	})
}

// entriesOutside lists the transcribed entries that a context does not contain.
func (s *Session) entriesOutside(c ContextSnapshot) (all []AudioEntry) {
	for _, e := range s.Audio {
		if e.Status == Success && !slices.Contains(c.Entries, e.ID()) {
			all = append(all, e)
		}
	}
	return all
}

// answerIndex gives the index of the answer of an operation; -1 if there is none, or operation is "".
func (s *Session) answerIndex(operation string) int {
	if operation == "" {
		return -1
	}
	return slices.IndexFunc(s.Answers, func(e LlmEntry) bool { return e.Operation == operation })
}

// writeResponse writes an answer's file, or finds the one that a crash left, even if Repair made an entry of it.
func (h *lockedSession) writeResponse(slug, text string) (name string, sequence int, err error) {
	for _, e := range h.Answers {
		if _, rest, _ := splitSequence(e.File); rest != slug+".txt" || e.OracleID+e.Kind+e.Operation != "" {
			continue
		}
		if kept, err := readText(h.root, h.fileName(responseFolder, e.File)); err == nil && kept == text {
			return e.File, e.Sequence, nil
		}
	}
	name, sequence, err = h.findOrNumber(responseFolder, files.Hash([]byte(text)), int64(len(text)),
		func(sequence int, rest string) bool {
			return rest == slug+".txt" && h.Response(sequence) == nil
		})
	if err == nil && name == "" {
		name = fmt.Sprintf("%03d_%s.txt", sequence, slug)
		err = h.writeText(responseFolder, name, text)
	}
	return name, sequence, err
}

// RestoreResponse writes the file of an answer anew, if it is missing. The entry stays as it is.
func (s *Store) RestoreResponse(ctx context.Context, id string, sequence int, text string) (restored bool, err error) {
	text = s.cleanText(text)
	_, err = s.change(ctx, id, "restoring an answer", func(h *lockedSession) (bool, error) {
		e := h.Response(sequence)
		if e == nil {
			return false, fmt.Errorf("session %s has no answer %d: %w", id, sequence, ErrNotFound)
		}
		if err := checkFile(e.File); err != nil {
			return false, err
		}
		if _, err := h.root.Lstat(h.fileName(responseFolder, e.File)); !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		restored = true
		return false, h.writeText(responseFolder, e.File, text)
	})
	return restored && err == nil, err
}

// FindResponse finds the answer that an operation saved; false if there is none.
func (s *Store) FindResponse(ctx context.Context, id, operation string) (LlmEntry, bool, error) {
	m, err := s.Get(ctx, id)
	if err != nil {
		return LlmEntry{}, false, err
	}
	if i := m.answerIndex(operation); i >= 0 {
		return m.Answers[i], true, nil
	}
	return LlmEntry{}, false, nil
}

// ResponseText reads the text of an answer. ErrNotFound if there is no such answer; fs.ErrNotExist if its file is gone.
func (s *Store) ResponseText(ctx context.Context, id string, sequence int) (string, error) {
	m, err := s.Get(ctx, id)
	if err != nil {
		return "", err
	}
	e := m.Response(sequence)
	if e == nil {
		return "", fmt.Errorf("session %s has no answer %d: %w", id, sequence, ErrNotFound)
	}
	return s.ResponseOf(ctx, id, *e)
}

// ResponseOf is ResponseText for an answer whose session is already loaded; it does not read metadata.json again.
func (s *Store) ResponseOf(ctx context.Context, id string, e LlmEntry) (string, error) {
	return s.readTextOf(ctx, id, responseFolder, e.File)
}
