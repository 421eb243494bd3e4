package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/journal"
)

// faultyStore is “NUMBER FILE”: the call of the journal that fails, negative for one that takes effect and then fails,
// and the file that is made when it does.
const faultyStore = "SIBYL_TEST_FAULTY_STORE"

// failing is a journal of which one call fails, as one on another machine may.
type failing struct {
	journal.Store
	at    int64
	file  string
	calls atomic.Int64
}

// newFailing reads what the environment says; the store itself if it says nothing.
func newFailing(s journal.Store) journal.Store {
	number, file, found := strings.Cut(os.Getenv(faultyStore), " ")
	if !found {
		return s
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		panic(err)
	}
	return &failing{Store: s, at: n, file: file}
}

// around has a call fail if it is the one: before its effect the journal is unreachable, after it nobody can tell.
func (f *failing) around(do func() error) error {
	n := f.calls.Add(1)
	if n != max(f.at, -f.at) {
		return do()
	}
	if err := os.WriteFile(f.file, nil, 0o600); err != nil {
		panic(err)
	}
	if f.at > 0 {
		return fmt.Errorf("the journal of this test: %w", journal.ErrUnreachable)
	}
	if err := do(); err != nil {
		return err
	}
	return fmt.Errorf("the journal of this test: %w", journal.ErrUnsure)
}

func (f *failing) Begin(ctx context.Context, b journal.Beginning) error {
	return f.around(func() error { return f.Store.Begin(ctx, b) })
}

func (f *failing) Append(
	ctx context.Context, owner journal.Owner, run string, recs []journal.Record, end *journal.End,
) error {
	return f.around(func() error { return f.Store.Append(ctx, owner, run, recs, end) })
}

func (f *failing) Acquire(ctx context.Context, owner journal.Owner, run, holder string, now, until time.Time) error {
	return f.around(func() error { return f.Store.Acquire(ctx, owner, run, holder, now, until) })
}

func (f *failing) Release(ctx context.Context, owner journal.Owner, run, holder string, rest time.Time) error {
	return f.around(func() error { return f.Store.Release(ctx, owner, run, holder, rest) })
}

func (f *failing) Run(ctx context.Context, owner journal.Owner, id string) (r journal.Run, err error) {
	err = f.reads(func() error { r, err = f.Store.Run(ctx, owner, id); return err })
	return r, err
}

func (f *failing) Records(
	ctx context.Context, owner journal.Owner, run string, from int64,
) (all []journal.Record, err error) {
	err = f.reads(func() error { all, err = f.Store.Records(ctx, owner, run, from); return err })
	return all, err
}

func (f *failing) Blob(ctx context.Context, owner journal.Owner, hash string) (content []byte, err error) {
	err = f.reads(func() error { content, err = f.Store.Blob(ctx, owner, hash); return err })
	return content, err
}

func (f *failing) Session(ctx context.Context, owner journal.Owner, id string) (s journal.Session, err error) {
	err = f.reads(func() error { s, err = f.Store.Session(ctx, owner, id); return err })
	return s, err
}

func (f *failing) Pending(
	ctx context.Context, owner journal.Owner, session string, now time.Time,
) (all []journal.Pending, err error) {
	err = f.reads(func() error { all, err = f.Store.Pending(ctx, owner, session, now); return err })
	return all, err
}

func (f *failing) Runs(ctx context.Context, owner journal.Owner, filter journal.Filter) (all []journal.Run, err error) {
	err = f.reads(func() error { all, err = f.Store.Runs(ctx, owner, filter); return err })
	return all, err
}

// reads is around for a call without an effect: it fails in one way.
func (f *failing) reads(do func() error) error {
	err := f.around(do)
	if errors.Is(err, journal.ErrUnsure) {
		return fmt.Errorf("the journal of this test: %w", journal.ErrUnreachable)
	}
	return err
}

// TestWhateverCallOfTheJournalFailsNothingIsLost has one call of the journal after the other fail in a run of each
// assistant, before it takes effect or after; in the long form every call. It is told or got over, and nothing is lost
// or doubled.
func TestWhateverCallOfTheJournalFailsNothingIsLost(t *testing.T) {
	needs.All(t, "many processes")
	t.Parallel()
	for name, d := range ordeals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			points := 0
			for n := 1; ; n += needs.Stride(8) {
				hit := false
				for _, at := range []int{n, -n} {
					file := filepath.Join(t.TempDir(), "hit")
					s := d.begin(t)
					o := s.begin(t, fmt.Sprintf("%s=%d %s", faultyStore, at, file), d.args(s)...)()
					if _, err := os.Stat(file); err != nil {
						break // there are not so many calls
					}
					hit = true
					points++
					s.told(t, o, d.ways)
					d.goesOn(t, s, o)
					s.tidy(t, o)
					assert.Require(t, !t.Failed(), "call %d had failed, and it exited %d:\n%s%s", at, o.code, o.out, o.err)
				}
				if !hit {
					break
				}
			}
			t.Logf("%d calls failed", points)
			assert.That(t, points >= 2, "too few to prove anything")
		})
	}
}
