package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sibyl/internal/journal"
)

// hold makes this process's one driver of a run: a lease can't tell two of them apart.
func (e *Engine) hold(k journal.Key) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.held[k] {
		return fmt.Errorf("run %s is driven by this program already: %w", k.Run, journal.ErrLeased)
	}
	e.held[k] = true
	return nil
}

func (e *Engine) unhold(k journal.Key) {
	e.mu.Lock()
	delete(e.held, k)
	e.mu.Unlock()
}

// takeOver makes this process the one that may drive a run, and frees the run again if drive fails, to rest as drive
// says.
func (e *Engine) takeOver(ctx context.Context, k journal.Key, drive func() (rest time.Time, err error)) error {
	if err := e.hold(k); err != nil {
		return err
	}
	if err := e.acquire(ctx, k); err != nil {
		e.unhold(k)
		return err
	}
	rest, err := drive()
	if err != nil {
		e.release(ctx, k, rest)
	}
	return err
}

// acquire takes the lease; that of a process that is gone counts as run out. A lease that takes longer to get than it
// lasts is none.
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

// releaseTime bounds the wait for a journal that is locked, where only a lease is to be given back.
const releaseTime = time.Second

// release makes a run free for others, this process included. Until rest nobody takes it up without being asked to.
func (e *Engine) release(ctx context.Context, k journal.Key, rest time.Time) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	if err := e.Store.Release(ctx, k.Owner, k.Run, e.Holder, rest); err != nil { // it runs out by itself
		e.Log.WarnContext(ctx, "lease not freed", "run_id", k.Run, "err", err)
	}
	e.unhold(k)
}

// Driven says whether somebody drives a run, as far as its lease and its holder tell.
func (e *Engine) Driven(r journal.Run) bool {
	return r.Driven(e.When()) && (e.Dead == nil || !e.Dead(r.LeaseHolder))
}

// leaseGrace is how much further than its length a lease may end: so far may clocks be apart.
const leaseGrace = 2 * time.Second

// When is the time as leases and rests are looked at: no process takes longer ones, so what ends later was set by a
// clock that was wrong.
func (e *Engine) When() journal.When {
	now := e.Clock.Now()
	return journal.When{Now: now, Leases: now.Add(e.Lease + leaseGrace), Rests: now.Add(setAside + leaseGrace)}
}

// list makes a driver's run known, and sees to its lease from then on.
func (e *Engine) list(d *driver) {
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
	e.listeners.tell(d.key()) // whoever watches it hears what it says from here on
}

func (e *Engine) unlist(d *driver) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.live, d.ID)
	if len(e.live) == 0 {
		close(e.idle)
		e.idle = nil
	}
}

// drivers are those of this process, by their runs.
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

// keepLeases looks after all runs of the process while there are any: with each heartbeat it tells their drivers how
// the journal has them, and at a third of a lease's time it renews the leases. What fails is tried again at the next
// beat: the journal's fence keeps others out, a lease only keeps them away.
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
		if err := e.tellStanding(ctx, drivers, keys); err != nil {
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

func (e *Engine) tellStanding(ctx context.Context, drivers []*driver, keys []journal.Key) error {
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
		case d.standing <- standing[d.ID]:
		default: // it has one to look at
		}
	}
	return nil
}

// stands compares how the journal has the run with what its driver knows.
func (d *driver) stands(s journal.Standing) error {
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

// usualPatience is how long a journal is waited for where no lease says so.
const usualPatience = 8 * time.Second

// whileAway asks the journal for something again while it can't be reached, for so long: it may be back while the run
// is still this process's, and nothing was written.
func whileAway(ctx context.Context, clock Clock, patience time.Duration, ask func() error) error {
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

// pause lets some time pass, or less if ctx is done before.
func pause(ctx context.Context, clock Clock, d time.Duration) {
	over, stop := clock.After(d)
	defer stop()
	select {
	case <-over:
	case <-ctx.Done():
	}
}
