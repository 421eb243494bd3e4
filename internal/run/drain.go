package run

import (
	"context"
	"errors"
	"fmt"

	"sibyl/internal/journal"
)

// enter gets room to drive one more run, as its queue does; every success wants an exit.
func (e *Engine) enter(ctx context.Context, owner journal.Owner, wait bool) error {
	if err := e.room.enter(ctx, owner, wait); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.draining {
		e.room.leave()
		return ErrDraining
	}
	e.entered.Add(1)
	return nil
}

func (e *Engine) exit() {
	e.room.leave()
	e.entered.Done()
}

// Drain stops taking runs: from here on Start and Resume are ErrDraining, also for those that wait for room. It waits
// for the runs that are driven until ctx is done, and then leaves those that still go on to other processes: nothing is
// cancelled, what only reads is performed again by whoever resumes them, and what is Once and under way may finish
// within StopGrace. When it returns, this process drives nothing.
func (e *Engine) Drain(ctx context.Context) {
	e.mu.Lock()
	e.draining = true
	e.mu.Unlock()
	over := make(chan struct{})
	go func() {
		e.entered.Wait()
		close(over)
	}()
	select {
	case <-over:
		return
	case <-ctx.Done():
	}
	e.mu.Lock()
	e.leaving = true
	for _, d := range e.live {
		d.leaveToOthers()
	}
	e.mu.Unlock()
	<-over
}

// LeaveRecord says that a process that stops leaves the run to others. That it came no further there is not the run's
// fault.
type LeaveRecord struct {
	Holder string `json:"holder"`
	Now    int64  `json:"now"`
}

// handOver leaves the run to another process, and says so in the journal.
func (d *driver) handOver(life context.Context) (EndRecord, error) {
	end, left := d.depart(life)
	if !errors.Is(left, ErrLeft) {
		return end, left
	}
	err := d.conclude(life, func() error {
		return d.append(life, KindLeave, &LeaveRecord{Holder: d.e.Holder, Now: d.now()})
	})
	switch {
	case err != nil:
		return EndRecord{}, err
	case d.f.cancel != nil: // it was asked to stop at the same moment
		return d.halt(life)
	}
	return EndRecord{}, left
}

// depart leaves the run to another process, with the receipts of what is Once and was under way. One that has ended by
// then is ended, and one that was asked to stop is stopped: nobody may come who would do it.
func (d *driver) depart(life context.Context) (EndRecord, error) {
	d.departing = true
	for op, stop := range d.stop {
		if !d.f.open[op].Once {
			stop(ErrLeft)
		}
	}
	grace, stopGrace := d.e.Clock.After(d.e.StopGrace)
	defer stopGrace()
	left := fmt.Errorf("run %s: %w", d.ID, ErrLeft)
	waits := true
	for waits && len(d.stop) > 0 && !d.f.over() && d.f.cancel == nil {
		select {
		case c := <-d.finished:
			if c.Err != nil && !c.Once { // it was withdrawn only because the process goes
				delete(d.stop, c.Op)
				continue
			}
			if err := d.conclude(life, func() error { return d.complete(life, c) }); err != nil {
				return EndRecord{}, err
			}
		case <-grace:
			waits = false
		}
	}
	if d.f.over() {
		return d.finish(life, d.f.last.Status, d.f.last.Fault)
	}
	select {
	case reason := <-d.stopping:
		if err := d.conclude(life, func() error { return d.asked(life, reason) }); err != nil {
			return EndRecord{}, err
		}
	default:
		d.takeRequests(life)
	}
	if d.f.cancel != nil {
		return d.halt(life)
	}
	return EndRecord{}, left
}
