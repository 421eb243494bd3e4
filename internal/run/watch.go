package run

import (
	"context"
	"errors"
	"iter"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// Watch gives the updates of any run of the owner from record number from on, until the run has ended or ctx is done: live ones with
// provisional text while this process drives it, else its records as they appear in the store, with what this build's tree decides on
// them. Where this process begins or ceases to drive it, the watch goes on from the other source.
func (e *Engine) Watch(ctx context.Context, owner journal.Owner, id string, from int64) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		k := journal.Key{Owner: owner, Run: id}
		for next := from; ctx.Err() == nil; {
			f, live, leave := e.feedOf(k)
			on := f.watch(ctx, next, func(u Update) bool {
				if u.Record != nil {
					next = u.Record.Seq + 1
				}
				return yield(u, nil)
			})
			leave()
			ended, err := f.over()
			switch {
			case !on || ended:
				return
			case err != nil:
				yield(Update{}, err)
				return
			case live && !yield(Update{Left: true}, nil):
				return
			}
		}
	}
}

// feedOf gives where a run is to be watched: its driver in this process, else what is read of it here. leave is to be called.
func (e *Engine) feedOf(k journal.Key) (f *feed, live bool, leave func()) {
	if l := e.drives(k); l != nil {
		return l.feed, true, func() {}
	}
	r := e.join(k)
	return r.feed, false, func() { e.watched.leave(r) }
}

// drives gives the run if this process drives it.
func (e *Engine) drives(k journal.Key) *Live {
	if live := e.Live(k.Run); live != nil && live.owner == k.Owner {
		return live
	}
	return nil
}

// followed is a run of another process, or of none, that is read and folded here once for all who watch it.
type followed struct {
	journal.Key
	feed     *feed
	told     chan struct{} // holds a token once the run may be further
	stop     context.CancelFunc
	watchers int // belongs to watched
}

// follow puts into its feed what the store has of a run, until the run has ended, this process drives it, or nobody watches it.
func (e *Engine) follow(ctx context.Context, r *followed) {
	ended, err := e.readOn(ctx, r)
	e.watched.forget(r) // before its watchers look for another feed
	r.feed.close(ended, err)
}

// How often the store is asked for more of a run: often where nothing is announced, and seldom where asking only finds what was not.
const (
	lookOften  = 200 * time.Millisecond
	lookSeldom = time.Second
)

// longestFailure is how long a store may fail before those who watch are told.
const longestFailure = 10 * time.Second

func (e *Engine) readOn(ctx context.Context, r *followed) (ended bool, err error) {
	f := &follower{e: e, r: r}
	var failing time.Time // since when the store has failed
	for next := int64(0); ; {
		if e.drives(r.Key) != nil {
			return false, nil
		}
		recs, err := e.Store.Records(ctx, r.Owner, r.Run, next)
		now := e.Clock.Now()
		switch {
		case err == nil:
			failing = time.Time{}
		case next == 0 || errors.Is(err, journal.ErrNotFound) || !failing.IsZero() && now.Sub(failing) >= longestFailure:
			return false, err
		case failing.IsZero():
			failing = now
		}
		for _, rec := range recs {
			f.take(ctx, rec)
			ended = rec.Kind == KindEnd
		}
		if ended {
			return true, nil
		}
		next += int64(len(recs))
		every := lookOften
		if e.Announced() {
			every = lookSeldom
		}
		look, stop := e.Clock.After(every)
		select {
		case <-r.told:
		case <-look:
		case <-ctx.Done():
		}
		if stop(); ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
}

// follower folds the records of a run that is not driven here, to tell what its steps decide.
type follower struct {
	e    *Engine
	r    *followed
	f    *Fold
	view *View
	lost bool // it can't or must not be folded here: its records are shown alone
}

func (f *follower) take(ctx context.Context, r journal.Record) {
	f.r.feed.record(r)
	if r.Seq == 0 {
		err := f.e.foldable(ctx, f.r.Owner, f.r.Run)
		var a *Assistant
		var tree *bt.Tree
		if err == nil {
			a, tree, err = f.e.treeOf(ctx, f.r.Owner, []journal.Record{r})
		}
		if f.lost = err != nil; !f.lost {
			f.f, f.view = NewFold(a, tree), &View{ID: f.r.Run, Owner: f.r.Owner, store: f.e.Store}
		}
	}
	if f.lost {
		return
	}
	step, err := f.f.takeIn(r, f.view)
	if step {
		f.r.feed.step(f.f.lastStep())
	}
	f.lost = err != nil
}
