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

// How often a node registers itself, looks for stranded runs, and checks whether duties are due.
const (
	beat         = 3 * time.Second
	lookInterval = time.Second
	dutyInterval = 15 * time.Second
)

// mostResumedAtOnce bounds how many runs a node without a bound resumes in one look.
const mostResumedAtOnce = 64

// Config is what a node works with.
type Config struct {
	Self     Node // as it is to be known; Most, StartedAt and SeenAt are filled in
	Engine   *run.Engine
	Registry Registry
	Clock    *Clock
	Duties   []Duty
	Log      *slog.Logger
}

// Work works until ctx is done. Then it resumes no more runs, and registers that it drains; the runs that it resumed
// keep running. Registry.Leave ends that. It fails only if the node can't be registered at the beginning.
func Work(ctx context.Context, c Config) error {
	w := &worker{Config: c, avoided: map[journal.Key]avoidance{}}
	w.Self.Most, w.Self.StartedAt = max(c.Engine.MostRuns, 0), c.Clock.Now()
	if err := w.register(ctx); err != nil {
		return err
	}
	var all sync.WaitGroup
	all.Go(func() { w.repeat(ctx, beat, nil, func() { w.logError(ctx, "saying that it lives", w.register(ctx)) }) })
	all.Go(func() { w.repeat(ctx, lookInterval, c.Engine.Vacancy(), func() { w.resumeStranded(ctx) }) })
	for _, d := range c.Duties {
		all.Go(func() { w.repeat(ctx, dutyInterval, nil, func() { w.doDuty(ctx, d) }) })
	}
	all.Wait()
	w.resuming.Wait()
	w.Self.Draining = true
	last, cut := context.WithTimeout(context.WithoutCancel(ctx), beat)
	defer cut()
	w.logError(last, "saying that it drains", w.register(last))
	return nil
}

// worker is a node at work. mu guards avoided: the goroutine that looks for runs and those that resume them use it.
type worker struct {
	Config
	resuming sync.WaitGroup
	mu       sync.Mutex
	avoided  map[journal.Key]avoidance
}

// avoidance is how long a run that could not be resumed here is not tried again.
type avoidance struct {
	until time.Time
	pause time.Duration
}

// The pauses after which a run is tried again.
const firstPause, longestPause = 15 * time.Second, 10 * time.Minute

// repeat calls do at once, after each interval, and when it is woken, until ctx is done.
func (w *worker) repeat(ctx context.Context, every time.Duration, woken <-chan struct{}, do func()) {
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

// logError logs the error of something that is tried again, unless ctx is done.
func (w *worker) logError(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		w.Log.Warn(what, "err", err)
	}
}

// register sets the clock by that of the database, and updates this node in the registry.
func (w *worker) register(ctx context.Context) error {
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

// resumeStranded resumes runs that nobody drives, as far as there is room.
func (w *worker) resumeStranded(ctx context.Context) {
	room := w.Engine.Room()
	if room == 0 {
		return
	}
	if room < 0 {
		room = mostResumedAtOnce
	}
	ctx, cut := context.WithTimeout(ctx, beat)
	defer cut()
	now := w.Clock.Now()
	w.logError(ctx, "looking for nodes that are gone", w.removeDeadNodes(ctx, now))
	stranded, err := w.Engine.Stranded(ctx, room+w.pruneAvoided(now))
	if err != nil {
		w.logError(ctx, "looking for runs", err)
		return
	}
	for _, r := range stranded {
		k := journal.Key{Owner: r.Owner, Run: r.ID}
		if room == 0 {
			return
		}
		if w.isAvoided(k, now) {
			continue
		}
		room--
		w.resuming.Go(func() { w.resumeRun(context.WithoutCancel(ctx), k) })
	}
}

// removeDeadNodes removes nodes whose processes are known to be gone, so that nobody waits for their leases to expire.
func (w *worker) removeDeadNodes(ctx context.Context, now time.Time) error {
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

// resumeRun resumes a run, unless another node is faster. One that can't be resumed here is avoided for a while.
func (w *worker) resumeRun(ctx context.Context, k journal.Key) {
	_, err := w.Engine.ResumeFound(ctx, k)
	switch {
	case err == nil:
		w.mu.Lock()
		delete(w.avoided, k)
		w.mu.Unlock()
	case errors.Is(err, run.ErrNoRoom), errors.Is(err, run.ErrDraining), errors.Is(err, journal.ErrLeased),
		errors.Is(err, journal.ErrEnded), errors.Is(err, journal.ErrConflict), errors.Is(err, journal.ErrNotFound):
	case errors.Is(err, run.ErrSetAside), errors.Is(err, run.ErrResting):
		w.Log.Warn("a run is not resumed", "run_id", k.Run, "err", err)
	default:
		w.avoid(k)
		w.Log.Warn("a run can't be gone on with here", "run_id", k.Run, "err", err)
	}
}

func (w *worker) avoid(k journal.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pause := min(max(2*w.avoided[k].pause, firstPause), longestPause)
	w.avoided[k] = avoidance{w.Clock.Now().Add(pause), pause}
}

func (w *worker) isAvoided(k journal.Key, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.avoided[k].until.After(now)
}

// pruneAvoided drops runs that were not tried again for long, and says how many are left.
func (w *worker) pruneAvoided(now time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, a := range w.avoided {
		if a.until.Add(longestPause).Before(now) {
			delete(w.avoided, k)
		}
	}
	return len(w.avoided)
}

// doDuty does a duty if it is due and no other node has begun it.
func (w *worker) doDuty(ctx context.Context, d Duty) {
	mine, err := w.Registry.TakeDuty(ctx, d.Name, w.Clock.Now(), d.Every)
	if err == nil && mine {
		err = d.Do(ctx)
	}
	w.logError(ctx, "duty "+d.Name, err)
}
