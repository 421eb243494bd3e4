package run

import (
	"context"
	"encoding/json"
	"fmt"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// wished records a wish to stop.
func (d *driver) wished(life context.Context, reason string) error {
	recs, err := d.withTrace(KindCancel, CancelRecord{Reason: reason})
	if err != nil {
		return err
	}
	if err := d.append(life, recs, nil); err != nil {
		return err
	}
	_, _, err = d.f.take(d.tree, recs[len(recs)-1])
	return err
}

// takeWishes takes in what other processes appended; false if that is more than wishes to stop: the run is another's.
func (d *driver) takeWishes(ctx context.Context) bool {
	recs, err := d.e.Store.Records(ctx, d.owner, d.ID, d.next)
	if err != nil || len(recs) == 0 {
		return false
	}
	for _, r := range recs {
		if r.Kind != KindCancel {
			return false
		}
	}
	for _, r := range recs {
		if _, _, err := d.f.take(d.tree, r); err != nil {
			return false
		}
	}
	d.publish(recs)
	return true
}

// conclude appends a record of a run that is stopping or over, on which a wish to stop has no effect any more.
func (d *driver) conclude(life context.Context, kind string, v any, end *journal.End) (journal.Record, error) {
	for {
		recs, err := d.withTrace(kind, v)
		if err != nil {
			return journal.Record{}, err
		}
		err = d.append(life, recs, end)
		if isConflict(err) && d.takeWishes(life) {
			continue
		}
		return recs[len(recs)-1], err
	}
}

// halt stops what is under way, keeps what had arrived, and ends the run.
func (d *driver) halt(life context.Context) (EndRecord, error) {
	if d.f.stopped == nil {
		rec, err := d.conclude(life, KindStopped, d.stopAll(), nil)
		if err != nil {
			return EndRecord{}, err
		}
		if _, _, err := d.f.take(d.tree, rec); err != nil {
			return EndRecord{}, err
		}
	}
	if _, err := d.tree.Halt(d.f.state, nil); err != nil {
		d.e.Log.Warn("halting the tree", "run", d.ID, "err", err)
	}
	return d.finish(life, bt.Idle, &bt.Fault{Kind: KindCancelled, Reason: d.f.cancel.Reason})
}

// stopAll gathers what is under way. Effects that write are given time to finish.
func (d *driver) stopAll() StoppedRecord {
	for op, stop := range d.stop {
		if !d.f.open[op].Once {
			stop()
		}
	}
	stopped := StoppedRecord{}
	keep := func(c CompletionRecord) {
		if _, open := d.f.open[c.Op]; open {
			c.Now = d.now()
			stopped.Under = append(stopped.Under, c)
			d.f.close(c.Op)
		}
	}
	if d.inHand != nil {
		keep(*d.inHand)
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
			c.Err = &bt.Fault{Kind: KindUnknown, Reason: nameOf(e) + " was still under way when the run was stopped"}
			stopped.Under = append(stopped.Under, c)
		}
	}
	stopped.Now = d.now()
	return stopped
}

// finish appends the end.
func (d *driver) finish(life context.Context, st bt.Status, fault *bt.Fault) (EndRecord, error) {
	e := Ending{Tree: d.tree, State: d.f.state, Status: st, Fault: fault, Cancelled: d.f.stopped != nil}
	if d.f.stopped != nil {
		e.Under = d.f.stopped.Under
	}
	end := EndRecord{Fault: fault}
	var err error
	if end.Status, end.Outcome, err = d.a.outcome(d.view, e); err != nil {
		return end, fmt.Errorf("outcome of run %s: %w", d.ID, err)
	}
	end.Now = d.now()
	rec, err := d.conclude(life, KindEnd, end, &journal.End{Status: end.Status, At: d.e.Clock.Now()})
	if err != nil {
		return end, err
	}
	// The record is redacted; what is handed out is what was kept.
	return decode[EndRecord](rec)
}

func (a *Assistant) outcome(v *View, e Ending) (status journal.Status, raw json.RawMessage, err error) {
	defer contain(a.Name, &err)
	status, result := a.Outcome(v, e)
	raw, err = json.Marshal(result)
	return status, raw, err
}
