package run

import (
	"context"
	"errors"
	"iter"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// Watch gives the updates of any run of the owner from record number from on, until the run has ended or ctx is done:
// live ones with provisional text while this process drives it, else its records as they appear in the store, with what
// this build's tree decides on them. Where this process begins or ceases to drive it, the watch goes on from the other
// source.
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

// feedOf gives where a run is to be watched: its driver in this process, else what is read of it. leave is to be
// called.
func (e *Engine) feedOf(k journal.Key) (_ *feed, live bool, leave func()) {
	if l := e.drives(k); l != nil {
		return l.feed, true, func() {}
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &follower{e: e, Key: k, feed: newFeed(), told: make(chan struct{}, 1)}
	stopHearing := e.Hear(k.Owner, f.hear)
	go func() { f.feed.close(f.readOn(ctx)) }()
	return f.feed, false, func() {
		stopHearing()
		stop()
	}
}

// drives gives the run if this process drives it.
func (e *Engine) drives(k journal.Key) *Live {
	if live := e.Live(k.Run); live != nil && live.owner == k.Owner {
		return live
	}
	return nil
}

// follower reads a run of another process, or of none, for a watcher, and folds it to tell what its steps decide.
type follower struct {
	journal.Key
	e    *Engine
	feed *feed
	told chan struct{} // holds a token once the run may be further
	f    *Fold
	view *View
	lost bool // it can't or must not be folded here: its records are shown alone
}

func (f *follower) hear(run string) {
	if run != f.Run {
		return
	}
	select {
	case f.told <- struct{}{}:
	default: // it is told already
	}
}

// How often the store is asked for more of a run: often where nothing is announced, and seldom where asking only finds
// what was not.
const (
	lookOften  = 200 * time.Millisecond
	lookSeldom = time.Second
)

// longestFailure is how long a store may fail before those who watch are told.
const longestFailure = 10 * time.Second

// readOn puts into the feed what the store has of the run, until the run has ended, this process drives it, or nobody
// watches it.
func (f *follower) readOn(ctx context.Context) (ended bool, err error) {
	var failing time.Time // since when the store has failed
	for next := int64(0); ; {
		if f.e.drives(f.Key) != nil {
			return false, nil
		}
		recs, err := f.e.Store.Records(ctx, f.Owner, f.Run, next)
		now := f.e.Clock.Now()
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
		if f.e.Announced() {
			every = lookSeldom
		}
		look, stop := f.e.Clock.After(every)
		select {
		case <-f.told:
		case <-look:
		case <-ctx.Done():
		}
		if stop(); ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
}

func (f *follower) take(ctx context.Context, r journal.Record) {
	f.feed.record(r)
	if r.Seq == 0 {
		err := f.e.foldable(ctx, f.Owner, f.Run)
		var a *Assistant
		var tree *bt.Tree
		if err == nil {
			a, tree, err = f.e.treeOf(ctx, f.Owner, []journal.Record{r})
		}
		if f.lost = err != nil; !f.lost {
			f.f, f.view = NewFold(a, tree), &View{ID: f.Run, Owner: f.Owner, store: f.e.Store}
		}
	}
	if f.lost {
		return
	}
	step, err := f.f.takeIn(r, f.view)
	if step {
		f.feed.step(f.f.lastStep())
	}
	f.lost = err != nil
}
