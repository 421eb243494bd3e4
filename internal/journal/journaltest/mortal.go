// Package journaltest has stores for tests of other rooms: one of a process that dies, and one with sessions that wait
// for their first run. The guarantees of a journal are tested in package store.
package journaltest

import (
	"context"
	"errors"
	"sync"
	"time"

	"sibyl/internal/journal"
)

// ErrDead is what a process is told by a Mortal that it has died on.
var ErrDead = errors.New("the process is gone")

// Mortal is the store of a process that dies at one of its writes. From then on nothing that the process does arrives,
// and it hears ErrDead.
type Mortal struct {
	journal.Store
	At    int  // the write at which it dies, counted from 1; 0: it lives until Die
	After bool // it dies once that write has taken effect, not before
	Free  int  // so many beginnings of runs are no writes

	mu     sync.Mutex
	begun  int
	writes int
	dead   bool
}

// Die ends the process at once.
func (m *Mortal) Die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
}

// Dead says whether it has died.
func (m *Mortal) Dead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// Writes is how many writes it has tried, the one at which it died among them.
func (m *Mortal) Writes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes
}

// write does a write, one after the other.
func (m *Mortal) write(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return ErrDead
	}
	if m.writes++; m.writes != m.At {
		return do()
	}
	m.dead = true
	if m.After {
		if err := do(); err != nil {
			return err
		}
	}
	return ErrDead
}

// free says whether this beginning of a run is no write.
func (m *Mortal) free() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun++
	return !m.dead && m.begun <= m.Free
}

// living makes a call that is for the living, and is no write.
func living[T any](m *Mortal, call func() (T, error)) (T, error) {
	if m.Dead() {
		return *new(T), ErrDead
	}
	return call()
}

func (m *Mortal) unlessDead(call func() error) error {
	if m.Dead() {
		return ErrDead
	}
	return call()
}

// Begin may be where it dies.
func (m *Mortal) Begin(ctx context.Context, b journal.Beginning) error {
	if m.free() {
		return m.Store.Begin(ctx, b)
	}
	return m.write(func() error { return m.Store.Begin(ctx, b) })
}

// Append may be where it dies.
func (m *Mortal) Append(ctx context.Context, o journal.Owner, id string, all []journal.Record, end *journal.End) error {
	return m.write(func() error { return m.Store.Append(ctx, o, id, all, end) })
}

// Run is for the living.
func (m *Mortal) Run(ctx context.Context, o journal.Owner, id string) (journal.Run, error) {
	return living(m, func() (journal.Run, error) { return m.Store.Run(ctx, o, id) })
}

// Records are for the living.
func (m *Mortal) Records(ctx context.Context, o journal.Owner, id string, from int64) ([]journal.Record, error) {
	return living(m, func() ([]journal.Record, error) { return m.Store.Records(ctx, o, id, from) })
}

func (m *Mortal) Snapshots(ctx context.Context, runs []journal.Key) ([]journal.RunSnapshot, error) {
	return living(m, func() ([]journal.RunSnapshot, error) { return m.Store.Snapshots(ctx, runs) })
}

// Renew does not arrive: the leases of the dead run out.
func (m *Mortal) Renew(ctx context.Context, holder string, runs []journal.Key, until time.Time) error {
	return m.unlessDead(func() error { return m.Store.Renew(ctx, holder, runs, until) })
}

func (m *Mortal) Acquire(ctx context.Context, o journal.Owner, id, holder string, now, until time.Time) error {
	return m.unlessDead(func() error { return m.Store.Acquire(ctx, o, id, holder, now, until) })
}

// Release does not arrive either.
func (m *Mortal) Release(ctx context.Context, o journal.Owner, id, holder string, rest time.Time) error {
	return m.unlessDead(func() error { return m.Store.Release(ctx, o, id, holder, rest) })
}
