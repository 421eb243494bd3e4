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
// this build's tree decides on them. It changes the source when this process begins or stops to drive the run.
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
			if live := e.liveRun(k); live != nil {
				if !live.feed.watch(ctx, next, show) || live.feed.hasEnded() || !show(Update{Left: true}) {
					return
				}
				continue
			}
			over, err := e.poll(ctx, k, next, show)
			if err != nil && ctx.Err() == nil {
				yield(Update{}, err)
			}
			if over || err != nil {
				return
			}
		}
	}
}

// liveRun returns the run if this process drives it, else nil.
func (e *Engine) liveRun(k journal.Key) *Live {
	if live := e.Live(k.Run); live != nil && live.owner == k.Owner {
		return live
	}
	return nil
}

// How often the store is asked for new records: often if it announces nothing, and seldom if asking only finds what was
// not announced.
const (
	lookOften  = 200 * time.Millisecond
	lookSeldom = time.Second
)

// longestFailure is how long a store may fail before watchers get the error.
const longestFailure = 10 * time.Second

// poll shows what the store has of a run from record number from on, as it appears, until this process drives the run.
// over: the run has ended, ctx is done, or show returned false.
func (e *Engine) poll(ctx context.Context, k journal.Key, from int64, show func(Update) bool) (over bool, err error) {
	wake, stop := e.wakeOnChange(k)
	defer stop()
	l := &storeWatcher{Key: k, e: e}
	var failing time.Time // since when the store has failed
	for next := int64(0); e.liveRun(k) == nil; {
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
			step := l.foldRecord(ctx, rec)
			if rec.Seq >= from && (!show(Update{Record: &rec}) || step != nil && !show(Update{Step: step})) ||
				rec.Kind == KindEnd {
				return true, nil
			}
		}
		next += int64(len(recs))
		every := lookOften
		if e.Announced() != AnnouncesNothing {
			every = lookSeldom
		}
		look, stop := e.Clock.After(every)
		select {
		case <-wake:
		case <-look:
		case <-ctx.Done():
		}
		if stop(); ctx.Err() != nil {
			return true, nil
		}
	}
	return false, nil
}

// wakeOnChange returns a channel that gets a token when a run may have new records.
func (e *Engine) wakeOnChange(k journal.Key) (told <-chan struct{}, stop func()) {
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

// storeWatcher folds a run that this process does not drive, to show what its steps decide.
type storeWatcher struct {
	journal.Key
	e *Engine
	f *Fold // nil: it can't or must not be folded here, so that its records are shown alone
}

// foldRecord folds a record, and returns its step; nil if there is none, or if this build can't fold the run.
func (l *storeWatcher) foldRecord(ctx context.Context, r journal.Record) *TraceStep {
	if r.Seq == 0 && l.e.checkFoldable(ctx, l.Owner, l.Run) == nil {
		if a, tree, err := l.e.treeOf(ctx, l.Owner, []journal.Record{r}); err == nil {
			l.f = NewFold(a, tree)
		}
	}
	if l.f == nil {
		return nil
	}
	stepped, err := l.f.foldRecord(r)
	if err != nil {
		l.f = nil
	}
	if !stepped {
		return nil
	}
	step := l.f.lastStep()
	return &step
}
