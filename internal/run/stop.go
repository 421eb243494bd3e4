package run

import (
	"context"
	"encoding/json"
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
			c.Err = &bt.Fault{Kind: KindUnknown, Reason: nameOf(e.Effect) + " was still under way when the run was stopped"}
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
	if o.result, err = marshal(o.Result); err == nil && o.Summary != nil {
		o.summary, err = marshal(o.Summary)
	}
	for i := range o.Pending {
		p := &o.Pending[i]
		p.Owner, p.Session, p.Run = v.Owner, v.Session, v.ID
	}
	return o, err
}

// end is what the journal keeps in the run's row.
func (o outcome) end(e *Engine, at time.Time) *journal.End {
	end := &journal.End{Status: o.Status, At: at, Reason: o.Reason, Summary: e.Redact(o.summary), Pending: slices.Clone(o.Pending)}
	for i := range end.Pending {
		p := &end.Pending[i]
		p.CreatedAt, p.Data = at, e.Redact(p.Data)
	}
	return end
}
