package api_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

var errDown = errors.New("the disk is gone")

// faulty is a store that fails while it is told to.
type faulty struct {
	journal.Store
	counting func() // is called when runs were listed; nil: nothing is

	mu  sync.Mutex
	err error
}

func (f *faulty) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *faulty) failing() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *faulty) Begin(ctx context.Context, b journal.Beginning) error {
	if err := f.failing(); err != nil {
		return err
	}
	return f.Store.Begin(ctx, b)
}

func (f *faulty) Append(
	ctx context.Context, o journal.Owner, id string, recs []journal.Record, end *journal.End,
) error {
	if err := f.failing(); err != nil {
		return err
	}
	return f.Store.Append(ctx, o, id, recs, end)
}

func (f *faulty) Release(ctx context.Context, o journal.Owner, id, holder string, rest time.Time) error {
	if err := f.failing(); err != nil {
		return err
	}
	return f.Store.Release(ctx, o, id, holder, rest)
}

func (f *faulty) Runs(ctx context.Context, o journal.Owner, filter journal.Filter) ([]journal.Run, error) {
	if err := f.failing(); err != nil {
		return nil, err
	}
	all, err := f.Store.Runs(ctx, o, filter)
	if f.counting != nil {
		f.counting()
	}
	return all, err
}

func (f *faulty) RenameSession(ctx context.Context, o journal.Owner, id, title string) error {
	if err := f.failing(); err != nil {
		return err
	}
	return f.Store.RenameSession(ctx, o, id, title)
}

// strict is a store that takes ids as a database does: text that it could not keep is an error, and this one tells the
// test.
type strict struct {
	journal.Store
	t testing.TB
}

func (s strict) plain(texts ...string) {
	for _, text := range texts {
		assert.That(s.t, journal.Plain(text) && len(text) <= 64, "the store is asked for %.100q", text)
	}
}

func (s strict) Session(ctx context.Context, o journal.Owner, id string) (journal.Session, error) {
	s.plain(id)
	return s.Store.Session(ctx, o, id)
}

func (s strict) Sessions(ctx context.Context, o journal.Owner, f journal.SessionFilter) ([]journal.Session, error) {
	s.plain(f.Assistant, f.After.ID)
	return s.Store.Sessions(ctx, o, f)
}

func (s strict) Run(ctx context.Context, o journal.Owner, id string) (journal.Run, error) {
	s.plain(id)
	return s.Store.Run(ctx, o, id)
}

func (s strict) Runs(ctx context.Context, o journal.Owner, f journal.Filter) ([]journal.Run, error) {
	s.plain(f.Session, f.Assistant, f.After.ID)
	return s.Store.Runs(ctx, o, f)
}
