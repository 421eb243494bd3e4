package run_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/run"
)

// tapped is a store of whose calls a test hears: on makes a call by do, or answers in its place. recs are those of an
// Append.
type tapped struct {
	journal.Store
	on func(ctx context.Context, call string, recs []journal.Record, do func() error) error
}

func (s tapped) Begin(ctx context.Context, b journal.Beginning) error {
	return s.on(ctx, "Begin", nil, func() error { return s.Store.Begin(ctx, b) })
}

func (s tapped) Append(ctx context.Context, o journal.Owner, id string, recs []journal.Record, end *journal.End) error {
	return s.on(ctx, "Append", recs, func() error { return s.Store.Append(ctx, o, id, recs, end) })
}

func (s tapped) Run(ctx context.Context, o journal.Owner, id string) (r journal.Run, err error) {
	err = s.on(ctx, "Run", nil, func() (err error) { r, err = s.Store.Run(ctx, o, id); return err })
	return r, err
}

func (s tapped) Records(
	ctx context.Context, o journal.Owner, id string, from int64,
) (recs []journal.Record, err error) {
	err = s.on(ctx, "Records", nil, func() (err error) { recs, err = s.Store.Records(ctx, o, id, from); return err })
	return recs, err
}

func (s tapped) Snapshots(ctx context.Context, runs []journal.Key) (all []journal.RunSnapshot, err error) {
	err = s.on(ctx, "Snapshots", nil, func() (err error) { all, err = s.Store.Snapshots(ctx, runs); return err })
	return all, err
}

func (s tapped) Renew(ctx context.Context, holder string, runs []journal.Key, until time.Time) error {
	return s.on(ctx, "Renew", nil, func() error { return s.Store.Renew(ctx, holder, runs, until) })
}

func (s tapped) Acquire(ctx context.Context, o journal.Owner, id, holder string, now, until time.Time) error {
	return s.on(ctx, "Acquire", nil, func() error { return s.Store.Acquire(ctx, o, id, holder, now, until) })
}

func (s tapped) Release(ctx context.Context, o journal.Owner, id, holder string, rest time.Time) error {
	return s.on(ctx, "Release", nil, func() error { return s.Store.Release(ctx, o, id, holder, rest) })
}

// before is a store that does something before some calls, whose error is theirs.
func before(store journal.Store, first func(ctx context.Context) error, calls ...string) journal.Store {
	return tapped{store, func(ctx context.Context, call string, _ []journal.Record, do func() error) error {
		if slices.Contains(calls, call) {
			if err := first(ctx); err != nil {
				return err
			}
		}
		return do()
	}}
}

// beforeKind is a store that does something before a record of a kind is appended, whose error is that of the Append.
func beforeKind(store journal.Store, kind string, first func(record journal.Record) error) journal.Store {
	return tapped{store, func(_ context.Context, _ string, recs []journal.Record, do func() error) error {
		if len(recs) > 0 && recs[len(recs)-1].Kind == kind {
			if err := first(recs[0]); err != nil {
				return err
			}
		}
		return do()
	}}
}

// endless is a store that takes no end.
func endless(store journal.Store, err error) journal.Store {
	return beforeKind(store, run.KindEnd, func(journal.Record) error { return err })
}

// busy is a store in which somebody else is always first.
func busy(store journal.Store) journal.Store {
	return before(store, func(context.Context) error { return journal.ErrConflict }, "Append")
}

// hanging is a store that does not answer where a run begins, or is taken up.
func hanging(store journal.Store) journal.Store {
	return before(store, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, "Begin", "Acquire")
}

// perishing is the store of a process that dies while it reads a run.
func perishing(store journal.Store) journal.Store {
	return before(store, func(context.Context) error { return journaltest.ErrDead }, "Records", "Release")
}

// failing is a store of which some calls fail while it is set to.
type failing struct {
	journal.Store
	mu    sync.Mutex
	off   bool
	after string // a kind: once a record of it is taken, it is set to fail
}

func breaks(store journal.Store, err error, calls ...string) *failing {
	f := &failing{}
	f.Store = tapped{store, func(_ context.Context, call string, recs []journal.Record, do func() error) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if slices.Contains(calls, call) && f.off {
			return err
		}
		failed := do()
		if failed == nil && len(recs) > 0 && recs[0].Kind == f.after {
			f.off, f.after = true, ""
		}
		return failed
	}}
	return f
}

func (f *failing) set(off bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.off = off
}

func (f *failing) setAfter(kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after = kind
}

// full is a store that takes no records while it is set.
func full(store journal.Store) *failing { return breaks(store, journal.ErrFull, "Append") }

var errUnreachable = fmt.Errorf("no answer: %w", journal.ErrUnreachable)

// remote is a store that can't be reached while it is set.
func remote(store journal.Store) *failing {
	return breaks(store, errUnreachable, "Append", "Run", "Snapshots", "Renew", "Acquire")
}
