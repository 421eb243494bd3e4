package store

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"sibyl/internal/journal"
)

// watchEvery is how often a file is looked at for commits of other processes.
const watchEvery = 200 * time.Millisecond

// hearers are those who want to know which runs were written to, in this process or another.
type hearers struct {
	mu  sync.Mutex
	all map[*func(journal.Key)]struct{}
}

func (h *hearers) add(heard func(journal.Key)) (remove func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[*func(journal.Key)]struct{}{}
	}
	h.all[&heard] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.all, &heard)
	}
}

// tell calls all hearers, one after another.
func (h *hearers) tell(run journal.Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for heard := range h.all {
		(*heard)(run)
	}
}

// announce implements dialect.
func (f *file) announce(run journal.Key) { f.hearers.tell(run) }

// listen implements dialect. What this process announces is heard at once. For all else, one connection looks for
// commits, which costs next to nothing, and runs are compared only after one.
func (f *file) listen(ctx context.Context, began func(all bool), heard func(journal.Key)) error {
	var one sync.Mutex
	tell := func(run journal.Key) {
		one.Lock()
		defer one.Unlock()
		heard(run)
	}
	defer f.hearers.add(tell)()
	version, stop, err := f.commitVersion()
	if err != nil {
		return err
	}
	defer stop()
	seen, err := version(ctx)
	if err != nil {
		return err
	}
	before, err := f.activity(ctx, 0)
	if err != nil {
		return err
	}
	began(true)
	look := time.NewTicker(watchEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
		now, err := version(ctx)
		if err != nil {
			return err
		}
		if now == seen {
			continue
		}
		seen = now
		after, err := f.activity(ctx, before.last)
		if err != nil {
			return err
		}
		for run := range before.changes(after) {
			tell(run)
		}
		before = after
	}
}

// commitVersion returns a function whose result changes with each commit of any process.
func (f *file) commitVersion() (version func(context.Context) (int64, error), stop func(), err error) {
	if f.held != nil { // nobody else commits
		return func(context.Context) (int64, error) { return f.commits.Load(), nil }, func() {}, nil
	}
	pool, err := f.openPool(f.readDSN, 1)
	if err != nil {
		return nil, nil, err
	}
	version = func(ctx context.Context) (n int64, err error) {
		err = f.readIn(ctx, pool, func(t *tx) error {
			// It compares with the connection's own past, so that it must always be the same one.
			found, err := queryRows(t, scanValue[int64], `PRAGMA data_version`)
			n, err = onlyRow(found, err, sql.ErrNoRows)
			return err
		})
		return n, f.explain(err)
	}
	return version, func() { _ = pool.Close() }, nil // nothing was written
}

// activity is what is compared of the runs of a file.
type activity struct {
	last    int64 // the number of the latest run; of those that are removed, others take the numbers
	begun   []journal.Key
	running map[journal.Key]progress
}

// progress is how far a running run has come.
type progress struct {
	records int64
	holder  string
}

// activity returns the running runs, and those that began after the one with a number.
func (f *file) activity(ctx context.Context, since int64) (a activity, err error) {
	type running struct {
		journal.Key
		progress
	}
	a = activity{running: map[journal.Key]progress{}}
	err = f.runRead(ctx, func(t *tx) error {
		// What begins after this is listed now and next time.
		last, err := queryRows(t, scanValue[int64], `SELECT coalesce(max(no), 0) FROM run`)
		if a.last, err = onlyRow(last, err, sql.ErrNoRows); err != nil {
			return err
		}
		all, err := queryRows(t, func(r row, one *running) error {
			return r.Scan(&one.Owner, &one.Run, &one.holder, &one.records)
		}, `SELECT owner, id, lease_holder, `+nextRecord+` FROM run WHERE status = 'running'`)
		if err != nil {
			return err
		}
		clear(a.running)
		for _, one := range all {
			a.running[one.Key] = one.progress
		}
		a.begun, err = queryRows(t, func(r row, run *journal.Key) error {
			return r.Scan(&run.Owner, &run.Run)
		}, `SELECT owner, id FROM run WHERE no > $1 ORDER BY no DESC LIMIT `+mostBegun, since)
		return err
	})
	return a, err
}

// mostBegun bounds the runs that began between two looks and are announced: those that began last.
const mostBegun = "1000"

// changes returns the runs that began, went on or ended until after.
func (a activity) changes(after activity) map[journal.Key]struct{} {
	changed := map[journal.Key]struct{}{}
	for _, run := range after.begun {
		changed[run] = struct{}{}
	}
	for run, now := range after.running {
		if a.running[run] != now {
			changed[run] = struct{}{}
		}
	}
	for run := range a.running {
		if _, runs := after.running[run]; !runs {
			changed[run] = struct{}{}
		}
	}
	return changed
}
