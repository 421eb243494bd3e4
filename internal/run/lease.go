package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sibyl/internal/journal"
)

// markDriven ensures that only one driver of this process drives a run: a lease can't tell two of them apart.
func (e *Engine) markDriven(k journal.Key) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.held[k] {
		return fmt.Errorf("run %s is driven by this program already: %w", k.Run, journal.ErrLeased)
	}
	e.held[k] = true
	return nil
}

func (e *Engine) unmarkDriven(k journal.Key) {
	e.mu.Lock()
	delete(e.held, k)
	e.mu.Unlock()
}

// takeOver gives this process the right to drive a run, and calls drive. If drive fails, it frees the run again, to
// rest until the time that drive returns.
func (e *Engine) takeOver(ctx context.Context, k journal.Key, drive func() (rest time.Time, err error)) error {
	if err := e.markDriven(k); err != nil {
		return err
	}
	if err := e.acquire(ctx, k); err != nil {
		e.unmarkDriven(k)
		return err
	}
	rest, err := drive()
	if err != nil {
		e.release(ctx, k, rest)
	}
	return err
}

// acquire takes the lease of a run; it may also replace the lease of a process that is gone. It fails if this takes
// longer than a lease lasts.
func (e *Engine) acquire(ctx context.Context, k journal.Key) error {
	ctx, cut := context.WithTimeout(ctx, e.Lease)
	defer cut()
	now := e.Clock.Now()
	err := e.Store.Acquire(ctx, k.Owner, k.Run, e.Holder, now, now.Add(e.Lease))
	if !isLeased(err) {
		return err
	}
	r, lookErr := e.Store.Run(ctx, k.Owner, k.Run)
	if lookErr != nil || e.Driven(r) {
		return err
	}
	return e.Store.Acquire(ctx, k.Owner, k.Run, e.Holder, r.LeaseUntil, now.Add(e.Lease))
}

// releaseTime bounds the wait for a locked journal when a lease is given back.
const releaseTime = time.Second

// release frees a run for others, this process included. No process resumes it unasked before rest.
func (e *Engine) release(ctx context.Context, k journal.Key, rest time.Time) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	if err := e.Store.Release(ctx, k.Owner, k.Run, e.Holder, rest); err != nil { // the lease runs out by itself
		e.Log.WarnContext(ctx, "lease not freed", "run_id", k.Run, "err", err)
	}
	e.unmarkDriven(k)
}

// Driven reports whether somebody drives a run, as far as its lease and its holder show.
func (e *Engine) Driven(r journal.Run) bool {
	return r.Driven(e.When()) && (e.Dead == nil || !e.Dead(r.LeaseHolder))
}

// leaseGrace is how far the clocks of two processes may differ.
const leaseGrace = 2 * time.Second

// When returns the current time, and the latest ends of leases and rests that are believed: processes set no later
// ones, so a later end was set by a wrong clock.
func (e *Engine) When() journal.When {
	now := e.Clock.Now()
	return journal.When{Now: now, Leases: now.Add(e.Lease + leaseGrace), Rests: now.Add(setAsideRest + leaseGrace)}
}

// addLive makes a driver known to the engine, which renews its lease from then on.
func (e *Engine) addLive(d *driver) {
	e.mu.Lock()
	e.live[d.ID] = d
	if e.leaving { // it was being opened when the others were left
		d.leaveToOthers()
	}
	if e.idle == nil {
		e.idle = make(chan struct{})
		go e.keepLeases(e.idle)
	}
	e.mu.Unlock()
	e.listeners.notify(d.key()) // watchers switch to this driver
}

func (e *Engine) removeLive(d *driver) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.live, d.ID)
	if len(e.live) == 0 {
		close(e.idle)
		e.idle = nil
	}
}

// drivers returns the drivers of this process, and the keys of their runs in the same order.
func (e *Engine) drivers() ([]*driver, []journal.Key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]*driver, 0, len(e.live))
	keys := make([]journal.Key, 0, len(e.live))
	for _, d := range e.live {
		all, keys = append(all, d), append(keys, d.key())
	}
	return all, keys
}

// keepLeases runs while this process drives any run. At each heartbeat it sends the drivers the state of their runs in
// the journal, and every third of a lease's time it renews the leases. After a failure it tries again at the next beat:
// the journal's fence keeps other drivers out even without a lease.
func (e *Engine) keepLeases(idle <-chan struct{}) {
	renewed := e.Clock.Now()
	for {
		beat, stop := e.Clock.After(e.Heartbeat)
		select {
		case <-beat:
		case <-idle:
			stop()
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), e.Lease/3)
		drivers, keys := e.drivers()
		if err := e.sendStandings(ctx, drivers, keys); err != nil {
			e.Log.Warn("looking after runs", "runs", len(keys), "err", err)
		}
		if now := e.Clock.Now(); now.Sub(renewed) >= e.Lease/3 {
			if err := e.Store.Renew(ctx, e.Holder, keys, now.Add(e.Lease)); err != nil {
				e.Log.Warn("renewing leases", "runs", len(keys), "err", err)
			} else {
				renewed = now
			}
		}
		cancel()
	}
}

func (e *Engine) sendStandings(ctx context.Context, drivers []*driver, keys []journal.Key) error {
	all, err := e.Store.Standing(ctx, keys)
	if err != nil {
		return err
	}
	standing := make(map[string]journal.Standing, len(all))
	for _, s := range all {
		standing[s.Run] = s
	}
	for _, d := range drivers {
		select {
		case d.standings <- standing[d.ID]:
		default: // the driver has not read the last one yet
		}
	}
	return nil
}

// checkStanding returns an error if the journal shows that this driver has lost its run.
func (d *driver) checkStanding(s journal.Standing) error {
	switch {
	case s.Status == "":
		return fmt.Errorf("run %s: %w", d.ID, journal.ErrNotFound)
	case s.Records > d.next || s.Status != journal.Running:
		return fmt.Errorf("run %s: %w", d.ID, journal.ErrConflict)
	case s.LeaseHolder != d.e.Holder:
		return fmt.Errorf("run %s is driven by %s: %w", d.ID, s.LeaseHolder, journal.ErrLeased)
	}
	return nil
}

func isLeased(err error) bool   { return errors.Is(err, journal.ErrLeased) }
func isConflict(err error) bool { return errors.Is(err, journal.ErrConflict) }

// awayPause is the time between two tries to reach a journal.
const awayPause = 250 * time.Millisecond

// usualPatience is how long to wait for an unreachable journal where no lease bounds the wait.
const usualPatience = 8 * time.Second

// retryAway calls ask again while the journal can't be reached, until patience has passed or ctx is done.
// Nothing was written then, so repeating is safe.
func retryAway(ctx context.Context, clock Clock, patience time.Duration, ask func() error) error {
	began := clock.Now()
	for {
		err := ask()
		if !errors.Is(err, journal.ErrUnreachable) || clock.Now().Sub(began) >= patience {
			return err
		}
		if pause(ctx, clock, awayPause); ctx.Err() != nil {
			return err
		}
	}
}

// pause waits for d, or until ctx is done.
func pause(ctx context.Context, clock Clock, d time.Duration) {
	over, stop := clock.After(d)
	defer stop()
	select {
	case <-over:
	case <-ctx.Done():
	}
}
