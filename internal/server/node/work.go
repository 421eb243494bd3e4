package node

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// How often a node says that it lives, looks for runs, and asks if duties are due.
const (
	beat    = 3 * time.Second
	look    = time.Second
	dutyAsk = 15 * time.Second
)

// mostAtOnce bounds how many runs a node without a bound takes up at a look.
const mostAtOnce = 64

// Config is what a node works with.
type Config struct {
	Self     Node // as it is to be known; Most, StartedAt and SeenAt are filled in
	Engine   *run.Engine
	Store    journal.Store
	Registry Registry
	Clock    *Clock
	Duties   []Duty
	Log      *slog.Logger
}

// Work works until ctx is done. Then it looks for nothing any more, and says that it drains; the runs that it took up
// go on. Leave ends that. It fails only if the node can't be made known at the beginning.
func Work(ctx context.Context, c Config) error {
	w := &worker{Config: c, avoided: map[journal.Key]avoided{}}
	w.Self.Most, w.Self.StartedAt = max(c.Engine.MostRuns, 0), c.Clock.Now()
	if err := w.present(ctx); err != nil {
		return err
	}
	var all sync.WaitGroup
	all.Go(func() { w.each(ctx, beat, nil, func() { w.try(ctx, "saying that it lives", w.present(ctx)) }) })
	all.Go(func() { w.each(ctx, look, c.Engine.Vacancy(), func() { w.look(ctx) }) })
	for _, d := range c.Duties {
		all.Go(func() { w.each(ctx, dutyAsk, nil, func() { w.do(ctx, d) }) })
	}
	all.Wait()
	w.taking.Wait()
	w.Self.Draining = true
	last, cut := context.WithTimeout(context.WithoutCancel(ctx), beat)
	defer cut()
	w.try(last, "saying that it drains", w.present(last))
	return nil
}

// worker is a node at work. Only the goroutine that looks touches what is avoided, under mu with those that take up.
type worker struct {
	Config
	taking  sync.WaitGroup
	mu      sync.Mutex
	avoided map[journal.Key]avoided
}

// avoided is a run that could not be gone on with here.
type avoided struct {
	until time.Time
	pause time.Duration
}

// The pauses after which a run is tried again.
const firstPause, longestPause = 15 * time.Second, 10 * time.Minute

// each does something at once, then again and again, and when it is woken, until ctx is done.
func (w *worker) each(ctx context.Context, every time.Duration, woken <-chan struct{}, do func()) {
	for ctx.Err() == nil {
		do()
		next, stop := w.Clock.After(every)
		select {
		case <-next:
		case <-woken:
		case <-ctx.Done():
		}
		stop()
	}
}

// try logs what went wrong with something that is tried again, unless ctx was to end it.
func (w *worker) try(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		w.Log.Warn(what, "err", err)
	}
}

// present says how this node stands, and sets its clock by the database's.
func (w *worker) present(ctx context.Context) error {
	ctx, cut := context.WithTimeout(ctx, 2*beat)
	defer cut()
	off, err := w.Clock.Set(ctx, w.Registry.Now)
	if err != nil {
		return err
	}
	if off != 0 {
		w.Log.Warn("this machine's clock is not the database's; leases go by the latter",
			"corrected_ms", off.Milliseconds())
	}
	w.Self.SeenAt = w.Clock.Now()
	return w.Registry.Keep(ctx, w.Self)
}

// look takes up runs that nobody drives, as far as there is room.
func (w *worker) look(ctx context.Context) {
	room := w.Engine.Room()
	if room == 0 {
		return
	}
	if room < 0 {
		room = mostAtOnce
	}
	ctx, cut := context.WithTimeout(ctx, beat)
	defer cut()
	now := w.Clock.Now()
	w.try(ctx, "looking for nodes that are gone", w.bury(ctx, now))
	stranded, err := w.Store.Stranded(ctx, w.Engine.When(), room+w.forget(now))
	if err != nil {
		w.try(ctx, "looking for runs", err)
		return
	}
	for _, r := range stranded {
		k := journal.Key{Owner: r.Owner, Run: r.ID}
		if room == 0 {
			return
		}
		if w.avoids(k, now) {
			continue
		}
		room--
		w.taking.Go(func() { w.takeUp(context.WithoutCancel(ctx), k) })
	}
}

// bury takes nodes out whose processes are known to be gone, so that nobody waits for their leases to run out.
func (w *worker) bury(ctx context.Context, now time.Time) error {
	if w.Engine.Dead == nil {
		return nil
	}
	all, err := w.Registry.Nodes(ctx, now)
	for _, n := range all {
		if err == nil && n.Holder != w.Self.Holder && w.Engine.Dead(n.Holder) {
			err = w.Registry.Leave(ctx, n.Holder)
		}
	}
	return err
}

// takeUp goes on with a run, unless another node is faster. The run outlives ctx only in that nothing of it is
// cancelled.
func (w *worker) takeUp(ctx context.Context, k journal.Key) {
	_, err := w.Engine.TakeUp(ctx, k)
	switch {
	case err == nil:
		w.mu.Lock()
		delete(w.avoided, k)
		w.mu.Unlock()
	case errors.Is(err, run.ErrNoRoom), errors.Is(err, run.ErrDraining), errors.Is(err, journal.ErrLeased),
		errors.Is(err, journal.ErrEnded), errors.Is(err, journal.ErrConflict), errors.Is(err, journal.ErrNotFound):
	case errors.Is(err, run.ErrSetAside):
		w.Log.Warn("run set aside", "run_id", k.Run, "err", err)
	default:
		w.avoid(k)
		w.Log.Warn("a run can't be gone on with here", "run_id", k.Run, "err", err)
	}
}

func (w *worker) avoid(k journal.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pause := min(max(2*w.avoided[k].pause, firstPause), longestPause)
	w.avoided[k] = avoided{w.Clock.Now().Add(pause), pause}
}

func (w *worker) avoids(k journal.Key, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.avoided[k].until.After(now)
}

// forget drops what was not tried again for long, and says how many runs are avoided.
func (w *worker) forget(now time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, a := range w.avoided {
		if a.until.Add(longestPause).Before(now) {
			delete(w.avoided, k)
		}
	}
	return len(w.avoided)
}

// do does a duty if it is due and nobody else does it.
func (w *worker) do(ctx context.Context, d Duty) {
	mine, err := w.Registry.TakeDuty(ctx, d.Name, w.Clock.Now(), d.Every)
	if err == nil && mine {
		err = d.Do(ctx)
	}
	w.try(ctx, "duty "+d.Name, err)
}
