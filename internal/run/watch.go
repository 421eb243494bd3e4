package run

import (
	"context"
	"iter"
	"sync"
	"time"

	"sibyl/internal/journal"
)

// pollEvery is how often the runs are looked at that other processes drive and somebody here watches: all of them with one query.
const pollEvery = 200 * time.Millisecond

// watched are the runs of other processes that are watched here.
type watched struct {
	mu    sync.Mutex
	runs  map[journal.Key]*watchedRun
	empty chan struct{} // closed when nobody watches any more; nil while nobody does
}

// watchedRun is how the journal had a run when it was last looked at.
type watchedRun struct {
	journal.Standing
	watchers int
	changed  chan struct{} // closed when it has changed
}

// join adds a watcher of a run; it wants a leave.
func (e *Engine) join(k journal.Key) *watchedRun {
	w := &e.watched
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.empty == nil {
		w.runs, w.empty = map[journal.Key]*watchedRun{}, make(chan struct{})
		go e.poll(w.empty)
	}
	r := w.runs[k]
	if r == nil {
		r = &watchedRun{changed: make(chan struct{})}
		w.runs[k] = r
	}
	r.watchers++
	return r
}

func (w *watched) leave(k journal.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.runs[k]; r.watchers > 1 {
		r.watchers--
		return
	}
	delete(w.runs, k)
	if len(w.runs) == 0 {
		close(w.empty)
		w.empty = nil
	}
}

// poll looks at the watched runs until there are none.
func (e *Engine) poll(empty <-chan struct{}) {
	for {
		tick, stop := e.Clock.After(pollEvery)
		select {
		case <-tick:
		case <-empty:
			stop()
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), e.Lease)
		standing, err := e.Store.Standing(ctx, e.watched.keys())
		cancel()
		e.watched.look(standing, err)
	}
}

func (w *watched) keys() []journal.Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	keys := make([]journal.Key, 0, len(w.runs))
	for k := range w.runs {
		keys = append(keys, k)
	}
	return keys
}

// look wakes the watchers of runs that have changed, or that are not there any more; all of them, where looking failed: they ask
// themselves, and tell why it fails.
func (w *watched) look(all []journal.Standing, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := make(map[journal.Key]journal.Standing, len(all))
	for _, s := range all {
		found[s.Key] = s
	}
	for k, r := range w.runs {
		if s := found[k]; err != nil || s.Records != r.Records || s.Status != r.Status {
			r.Standing = s
			close(r.changed)
			r.changed = make(chan struct{})
		}
	}
}

func (w *watched) changed(r *watchedRun) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return r.changed
}

// Watch gives the updates of any run of the owner: live ones with provisional text while this process drives it, else its
// records as they appear in the store, with what this build's tree decides on them, until it has ended or ctx is done.
func (e *Engine) Watch(ctx context.Context, owner journal.Owner, id string, from int64) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		if live := e.Live(id); live != nil && live.owner == owner {
			for u := range live.Watch(ctx, from) {
				if !yield(u, nil) {
					return
				}
				if u.Record != nil {
					from = u.Record.Seq + 1
				}
			}
		}
		if ctx.Err() != nil {
			return
		}
		if err := e.watchStore(ctx, journal.Key{Owner: owner, Run: id}, from, func(u Update) bool { return yield(u, nil) }); err != nil && ctx.Err() == nil {
			yield(Update{}, err)
		}
	}
}

// watchStore gives the records of a run as they appear, until show says that it is enough.
func (e *Engine) watchStore(ctx context.Context, k journal.Key, from int64, show func(Update) bool) error {
	r := e.join(k)
	defer e.watched.leave(k)
	f := &follower{e: e, k: k}
	for next := int64(0); ; {
		changed := e.watched.changed(r)
		row, err := e.Store.Run(ctx, k.Owner, k.Run)
		if err != nil {
			return err
		}
		recs, err := e.Store.Records(ctx, k.Owner, k.Run, next)
		if err != nil {
			return err
		}
		for i := range recs {
			for _, u := range f.updates(ctx, &recs[i]) {
				if recs[i].Seq >= from && !show(u) {
					return nil
				}
			}
		}
		if row.Status != journal.Running {
			return nil
		}
		next += int64(len(recs))
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// follower folds the records of a run that another process drives, to tell what its steps decide.
type follower struct {
	e    *Engine
	k    journal.Key
	f    *Fold
	view *View
	lost bool // this build can't fold it: its records are shown alone
}

func (f *follower) updates(ctx context.Context, r *journal.Record) []Update {
	all := []Update{{Record: r}}
	if r.Seq == 0 {
		a, tree, err := f.e.treeOf(ctx, f.k.Owner, []journal.Record{*r})
		if f.lost = err != nil; !f.lost {
			f.f, f.view = NewFold(a, tree), &View{ID: f.k.Run, Owner: f.k.Owner, store: f.e.Store}
		}
	}
	if f.lost {
		return all
	}
	step, err := f.f.takeIn(*r, f.view)
	if step {
		if s, err := readStep(f.f.trace.latest(), f.f.tree.Rule); err == nil {
			all = append(all, Update{Step: &s})
		}
	}
	f.lost = err != nil
	return all
}
