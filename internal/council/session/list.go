package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sibyl/internal/files"
	"sibyl/internal/text/search"
)

// Skipped is a folder that List leaves out, with the reason.
type Skipped struct {
	ID     string `json:"session_id"`
	Reason string `json:"reason"`
	// Err is the error from reading the session, such as a *Damaged; nil: the folder is not a session.
	Err error `json:"-"`
}

// Repairable reports whether the session is Damaged, so that Repair can rebuild it.
func (s Skipped) Repairable() bool {
	_, damaged := errors.AsType[*Damaged](s.Err)
	return damaged
}

// Newer reports whether id is of a later session than other, judging by the ids alone.
func Newer(id, other string) bool { return newestFirst(id, other) < 0 }

// newestFirst compares two ids for sorting, the later one first.
func newestFirst(a, b string) int {
	at, n, _ := ParseID(a)
	bt, m, _ := ParseID(b)
	return cmp.Or(bt.Compare(at), cmp.Compare(m, n), strings.Compare(a, b))
}

// List reads all sessions, newest first. Folders that can't be read or are not sessions are listed in skipped.
func (s *Store) List(ctx context.Context) (all []Session, skipped []Skipped, err error) {
	root, err := s.open(false)
	if err != nil || root == nil {
		return nil, nil, err
	}
	infos, err := files.List(root, ".")
	if err != nil {
		return nil, nil, fmt.Errorf("list the sessions: %w", err)
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return newestFirst(a.Name(), b.Name()) })
	for _, info := range infos {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		name := info.Name()
		_, _, isID := ParseID(name)
		switch {
		case strings.HasPrefix(name, "."):
		case info.Mode()&fs.ModeSymlink != 0:
			skipped = append(skipped, Skipped{shortened(name), "it is a symbolic link, and links are not followed", nil})
		case info.IsDir() && !isID:
			skipped = append(skipped, Skipped{ID: shortened(name),
				Reason: "its name is not that of a session; it would look like 2025-12-20_10-30-00"})
		case info.IsDir():
			m, _, err := s.load(root, name)
			if err == nil {
				all = append(all, m)
			} else if _, gone := root.Lstat(name); !errors.Is(gone, fs.ErrNotExist) { // else it was deleted just now
				skipped = append(skipped, Skipped{name, err.Error(), err})
			}
		}
	}
	return all, skipped, nil
}

// Find finds sessions, newest first: the one with this id; else those whose id begins with query; else those whose name
// contains it, ignoring case and accents. Finding none is not an error; an empty query is an *Invalid. If query begins
// the id of a session that can't be read, and of at most one other, the error is why it can't be read.
func (s *Store) Find(ctx context.Context, query string) ([]Session, error) {
	query = strings.TrimSpace(query)
	if query == "" {
		return nil, &Invalid{Kind: Empty, What: "what to look for", Problem: "is empty"}
	}
	m, err := s.Get(ctx, query)
	if err == nil {
		return []Session{m}, nil
	}
	if !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	all, skipped, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(slices.Clone(all), func(m Session) bool { return !strings.HasPrefix(m.ID, query) })
	unreadable := slices.IndexFunc(skipped, func(o Skipped) bool { return o.Err != nil && strings.HasPrefix(o.ID, query) })
	switch {
	case len(found) < 2 && unreadable >= 0:
		return nil, skipped[unreadable].Err
	case len(found) == 0:
		found = slices.DeleteFunc(all, func(m Session) bool { return !nameContains(m.Name, query) })
	}
	return found, nil
}

// nameContains reports whether a name contains part, ignoring case, accents and word separators. A part without words,
// such as an emoji, must match exactly.
func nameContains(name, part string) bool {
	if words := search.Words(part); len(words) > 0 {
		name, part = strings.Join(search.Words(name), " "), strings.Join(words, " ")
	}
	return strings.Contains(name, part)
}
