package run

import (
	"context"
	"errors"
	"iter"
	"time"

	"sibyl/internal/journal"
)

// Watch gives the updates of any run of the owner from record number from on, until the run has ended or ctx is done:
// live ones with provisional text while this process drives it, else its records as they appear in the store, with what
// this build's tree decides on them. Where this process begins or ceases to drive it, the watch goes on from the other
// source.
func (e *Engine) Watch(ctx context.Context, owner journal.Owner, id string, from int64) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		k := journal.Key{Owner: owner, Run: id}
		next := from
		show := func(u Update) bool {
			if u.Record != nil {
				next = u.Record.Seq + 1
			}
			return ctx.Err() == nil && yield(u, nil)
		}
		for ctx.Err() == nil {
			if live := e.drives(k); live != nil {
				if !live.feed.watch(ctx, next, show) || live.feed.over() || !show(Update{Left: true}) {
					return
				}
				continue
			}
			over, err := e.follow(ctx, k, next, show)
			if err != nil && ctx.Err() == nil {
				yield(Update{}, err)
			}
			if over || err != nil {
				return
			}
		}
	}
}

// drives gives the run if this process drives it.
func (e *Engine) drives(k journal.Key) *Live {
	if live := e.Live(k.Run); live != nil && live.owner == k.Owner {
		return live
	}
	return nil
}

// How often the store is asked for more of a run: often where nothing is announced, and seldom where asking only finds
// what was not.
const (
	lookOften  = 200 * time.Millisecond
	lookSeldom = time.Second
)

// longestFailure is how long a store may fail before those who watch are told.
const longestFailure = 10 * time.Second

// follow shows what the store has of a run from record number from on, as it comes, until this process drives the run.
// over says that it has ended before, or that whoever looks has had enough.
func (e *Engine) follow(ctx context.Context, k journal.Key, from int64, show func(Update) bool) (over bool, err error) {
	told, stop := e.hearOf(k)
	defer stop()
	l := &onlooker{Key: k, e: e}
	var failing time.Time // since when the store has failed
	for next := int64(0); e.drives(k) == nil; {
		recs, err := e.Store.Records(ctx, k.Owner, k.Run, next)
		now := e.Clock.Now()
		switch {
		case err == nil:
			failing = time.Time{}
		case next == 0 || errors.Is(err, journal.ErrNotFound) || !failing.IsZero() &&
			now.Sub(failing) >= longestFailure:
			return true, err
		case failing.IsZero():
			failing = now
		}
		for _, rec := range recs {
			step := l.take(ctx, rec)
			if rec.Seq >= from && (!show(Update{Record: &rec}) || step != nil && !show(Update{Step: step})) ||
				rec.Kind == KindEnd {
				return true, nil
			}
		}
		next += int64(len(recs))
		every := lookOften
		if e.Announced() {
			every = lookSeldom
		}
		look, stop := e.Clock.After(every)
		select {
		case <-told:
		case <-look:
		case <-ctx.Done():
		}
		if stop(); ctx.Err() != nil {
			return true, nil
		}
	}
	return false, nil
}

// hearOf gives a token once a run may be further.
func (e *Engine) hearOf(k journal.Key) (told <-chan struct{}, stop func()) {
	token := make(chan struct{}, 1)
	return token, e.Hear(k.Owner, func(run string) {
		if run != k.Run {
			return
		}
		select {
		case token <- struct{}{}:
		default: // there is one already
		}
	})
}

// onlooker folds a run that another process drives, or none, to tell what its steps decide.
type onlooker struct {
	journal.Key
	e *Engine
	f *Fold // nil: it can't or must not be folded here, so that its records are shown alone
}

// take takes in a record; nil where this build can't tell what was decided on it.
func (l *onlooker) take(ctx context.Context, r journal.Record) *TraceStep {
	if r.Seq == 0 && l.e.foldable(ctx, l.Owner, l.Run) == nil {
		if a, tree, err := l.e.treeOf(ctx, l.Owner, []journal.Record{r}); err == nil {
			l.f = NewFold(a, tree)
		}
	}
	if l.f == nil {
		return nil
	}
	stepped, err := l.f.takeIn(r)
	if err != nil {
		l.f = nil
	}
	if !stepped {
		return nil
	}
	step := l.f.lastStep()
	return &step
}
