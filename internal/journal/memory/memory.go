// Package memory keeps a journal in this process: for tests, and for runs that nobody wants to keep.
//
// It keeps every guarantee of package journal except durability: what it holds is gone after Close. Nothing it is given
// or returns shares memory with it.
package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"sibyl/internal/journal"
)

var errClosed = errors.New("the journal is closed")

// Store is a journal.Store in memory. New makes one.
type Store struct {
	mu       sync.RWMutex
	closed   bool
	sessions map[string]journal.Session // Runs is 0: it is counted when asked for
	runs     map[string]*run
	blobs    map[owned][]byte             // by hash
	claims   map[owned]string             // by key: the id of the run that holds it
	pending  map[string][]journal.Pending // by session, the oldest first
	graves   map[string]journal.Tombstone
}

// owned is a name among those of one owner.
type owned struct {
	owner journal.Owner
	name  string
}

type run struct {
	journal.Run
	records []journal.Record
	blobs   []owned
}

var _ journal.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{
		sessions: make(map[string]journal.Session),
		runs:     make(map[string]*run),
		blobs:    make(map[owned][]byte),
		claims:   make(map[owned]string),
		pending:  make(map[string][]journal.Pending),
		graves:   make(map[string]journal.Tombstone),
	}
}

// Close drops everything. Every later call but Close fails.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.sessions, s.runs, s.blobs, s.claims, s.pending, s.graves = nil, nil, nil, nil, nil, nil
	return nil
}

// change runs do while nobody else reads or writes. What do returns an error for, it must not have begun to change.
func (s *Store) change(ctx context.Context, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	return do()
}

// look gives what find does while nobody writes.
func look[T any](ctx context.Context, s *Store, find func() (T, error)) (none T, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return none, err
	}
	return find()
}

func (s *Store) usable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed {
		return errClosed
	}
	return nil
}

func (s *Store) session(owner journal.Owner, id string) (journal.Session, error) {
	if found, ok := s.sessions[id]; ok && found.Owner == owner {
		return found, nil
	}
	if left, ok := s.graves[id]; ok && left.Owner == owner {
		return journal.Session{}, &journal.RemovedError{Tombstone: left}
	}
	return journal.Session{}, fmt.Errorf("session %q: %w", id, journal.ErrNotFound)
}

func (s *Store) run(owner journal.Owner, id string) (*run, error) {
	found, ok := s.runs[id]
	if !ok || found.Owner != owner {
		return nil, fmt.Errorf("run %q: %w", id, journal.ErrNotFound)
	}
	return found, nil
}

// runsOf returns the runs of a session, in no order.
func (s *Store) runsOf(session string) []*run {
	var found []*run
	for _, r := range s.runs {
		if r.Session == session {
			found = append(found, r)
		}
	}
	return found
}

func (s *Store) counted(session journal.Session) journal.Session {
	session.Runs = len(s.runsOf(session.ID))
	return session
}

// touch moves UpdatedAt of a session forward to at.
func (s *Store) touch(id string, at time.Time) {
	session := s.sessions[id]
	if at.After(session.UpdatedAt) {
		session.UpdatedAt = at
		s.sessions[id] = session
	}
}

func (s *Store) Session(ctx context.Context, owner journal.Owner, id string) (journal.Session, error) {
	return look(ctx, s, func() (journal.Session, error) {
		found, err := s.session(owner, id)
		return s.counted(found), err
	})
}

func (s *Store) Sessions(ctx context.Context, owner journal.Owner, f journal.SessionFilter) ([]journal.Session, error) {
	return look(ctx, s, func() ([]journal.Session, error) {
		list := latest(s.sessions, f.After, f.Limit, func(session journal.Session) bool {
			return session.Owner == owner && (f.Assistant == "" || session.Assistant == f.Assistant) &&
				(f.Place == "" || session.Place == f.Place) && strings.Contains(lower(session.Title), lower(f.Title))
		})
		for i := range list {
			list[i] = s.counted(list[i])
		}
		return list, nil
	})
}

// lower makes the letters from A to Z small, as databases do.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// latest returns the entries that are wanted and follow a cursor, the latest first.
func latest[E interface{ Cursor() journal.Cursor }](all map[string]E, after journal.Cursor, limit int, wanted func(E) bool) (list []E) {
	for _, e := range all {
		if wanted(e) && e.Cursor().Follows(after) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b E) int { return b.Cursor().Compare(a.Cursor()) })
	return list[:min(len(list), journal.Limit(limit))]
}

func (s *Store) RenameSession(ctx context.Context, owner journal.Owner, id, title string) error {
	if err := journal.CheckTitle(title); err != nil {
		return err
	}
	return s.change(ctx, func() error {
		session, err := s.session(owner, id)
		if err != nil {
			return err
		}
		session.Title = title
		s.sessions[id] = session
		return nil
	})
}
