package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// asked records a request to stop.
func (d *driver) asked(life context.Context, reason string) error {
	return d.append(life, KindCancel, &CancelRecord{Reason: reason})
}

// takeRequests takes in what other processes appended; false if that is more than requests to stop: the run is
// another's.
func (d *driver) takeRequests(ctx context.Context) bool {
	recs, err := d.e.Store.Records(ctx, d.owner, d.ID, d.next)
	if err != nil || len(recs) == 0 {
		return false
	}
	for _, r := range recs {
		if r.Kind != KindCancel {
			return false
		}
	}
	return d.takeIn(recs) == nil
}

// conclude does what appends to a run that is stopping or over, on which a request to stop has no effect any more.
func (d *driver) conclude(life context.Context, do func() error) error {
	for {
		if err := do(); !isConflict(err) || !d.takeRequests(life) {
			return err
		}
	}
}

// halt stops what is under way, keeps what had arrived, and ends the run.
func (d *driver) halt(life context.Context) (EndRecord, error) {
	if d.f.stopped == nil {
		stopped := d.stopAll()
		err := d.conclude(life, func() error { return d.append(life, KindStopped, stopped) })
		if err != nil {
			return EndRecord{}, err
		}
	}
	if _, err := d.tree.Halt(d.f.state, nil); err != nil {
		d.e.Log.WarnContext(life, "halting the tree", "run_id", d.ID, "err", err)
	}
	return d.finish(life, bt.Idle, &bt.Fault{Kind: KindCancelled, Reason: d.f.cancel.Reason})
}

// stopAll gathers what is under way. Effects that write are given time to finish.
func (d *driver) stopAll() *StoppedRecord {
	for op, stop := range d.stop {
		if !d.f.open[op].Once {
			stop(ErrWithdrawn)
		}
	}
	stopped := &StoppedRecord{}
	room := MaxResult
	keep := func(c *CompletionRecord) {
		if _, open := d.f.open[c.Op]; open {
			c.Now = d.now()
			c.bound(max(room, 0))
			room -= len(c.Result)
			stopped.Under = append(stopped.Under, *c)
			d.f.close(c.Op)
		}
	}
	if d.inHand != nil {
		keep(d.inHand)
	}
	grace, stopGrace := d.e.Clock.After(d.e.StopGrace)
	defer stopGrace()
	for waiting := len(d.stop); waiting > 0; {
		select {
		case c := <-d.finished:
			waiting--
			delete(d.stop, c.Op)
			keep(c)
		case <-grace:
			waiting = 0
		}
	}
	for _, op := range d.f.order {
		if e := d.f.open[op]; d.f.marked[op] {
			c := receiptOf(e)
			c.Now = d.now()
			c.Err = &bt.Fault{Kind: KindUnknown, Reason: nameOf(e.Effect) +
				" was still under way when the run was stopped"}
			stopped.Under = append(stopped.Under, *c)
		}
	}
	stopped.Now = d.now()
	return stopped
}

// finish appends what the steps decided, and the end.
func (d *driver) finish(life context.Context, st bt.Status, fault *bt.Fault) (EndRecord, error) {
	e := Ending{Tree: d.tree, State: d.f.state, Status: st, Fault: fault, Cancelled: d.f.stopped != nil}
	if d.f.stopped != nil {
		e.Under = d.f.stopped.Under
	}
	o, err := d.a.outcome(d.view, e)
	if err != nil {
		return EndRecord{}, fmt.Errorf("outcome of run %s: %w", d.ID, err)
	}
	end := EndRecord{Status: o.Status, Reason: o.Reason, Fault: fault, Outcome: o.result}
	err = d.conclude(life, func() error {
		end.Now = d.now()
		kept, err := d.appendEnd(life, end, o)
		if err == nil {
			end = *kept
		}
		return err
	})
	return end, err
}

// appendEnd closes the run, and gives the end as it was kept.
func (d *driver) appendEnd(ctx context.Context, end EndRecord, o outcome) (*EndRecord, error) {
	now := d.e.Clock.Now()
	data, err := encode(KindEnd, &end)
	if err != nil {
		return nil, err
	}
	trace, err := traceRecord(d.f.trace)
	if err != nil {
		return nil, err
	}
	recs := []journal.Record{d.e.record(d.next, now, KindTrace, trace), d.e.record(d.next+1, now, KindEnd, data)}
	if err := d.e.commit(ctx, d.key(), recs, o.end(d.e, now)); err != nil {
		return nil, err
	}
	kept, err := readAs[EndRecord](recs[1])
	d.publish(recs[0], nil)
	d.publish(recs[1], kept)
	return kept, err
}

// outcome is an Outcome that is encoded.
type outcome struct {
	Outcome
	result, summary json.RawMessage
}

func (a *Assistant) outcome(v *View, e Ending) (o outcome, err error) {
	defer contain(a.Name, &err)
	o.Outcome = a.Outcome(v, e)
	if o.result, err = Marshal(o.Result); err == nil && o.Summary != nil {
		o.summary, err = Marshal(o.Summary)
	}
	for i := range o.Pending {
		p := &o.Pending[i]
		p.Owner, p.Session, p.Run = v.Owner, v.Session, v.ID
	}
	return o, err
}

// end is what the journal keeps in the run's row.
func (o outcome) end(e *Engine, at time.Time) *journal.End {
	end := &journal.End{Status: o.Status, At: at, Reason: o.Reason, Summary: e.Redact(o.summary),
		Pending: slices.Clone(o.Pending)}
	for i := range end.Pending {
		p := &end.Pending[i]
		p.CreatedAt, p.Data = at, e.Redact(p.Data)
	}
	return end
}

// Suspended is the error of a performer that can't perform its effect for now: the run stops short of it, and whoever
// resumes the run performs it again. A result beside it is what had arrived.
type Suspended struct{ Fault *bt.Fault }

func (s *Suspended) Error() string { return s.Fault.Reason }

// SuspendRecord says that a run waits to be resumed: an effect could not be performed for now.
type SuspendRecord struct {
	Op    uint64    `json:"op"`
	Fault *bt.Fault `json:"fault"`
	Now   int64     `json:"now"`

	// Under is what had arrived, and what that took; nil: nothing.
	Under *CompletionRecord `json:"under,omitempty"`
}

// suspend leaves the run to whoever resumes it, and gives what there is to show of it: an EndRecord whose status is
// Running, and which is not in the journal. A request to stop, and an end that comes with what was under way, count
// more.
func (d *driver) suspend(life context.Context, c *CompletionRecord) (EndRecord, error) {
	delete(d.stop, c.Op)
	c.Now = d.now()
	d.a.Effects[c.Kind].decode(c)
	waits := &SuspendRecord{Op: c.Op, Fault: c.Err, Now: c.Now}
	if len(c.Result) > 0 {
		waits.Under = c
	}
	err := d.conclude(life, func() error { return d.append(life, KindSuspend, waits) })
	if err != nil {
		return EndRecord{}, err
	}
	d.inHand = c
	if end, err := d.depart(life); !errors.Is(err, ErrLeft) {
		return end, err
	}
	o, err := d.a.outcome(d.view, Ending{Tree: d.tree, State: d.f.state, Status: bt.Running, Fault: c.Err,
		Suspended: true, Under: []CompletionRecord{*c}})
	if err != nil {
		return EndRecord{}, err
	}
	d.suspended, d.rest = true, d.e.Clock.Now().Add(d.restOfSuspended())
	return EndRecord{Status: journal.Running, Reason: o.Reason, Fault: c.Err, Now: c.Now,
		Outcome: d.e.Redact(o.result)}, nil
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
