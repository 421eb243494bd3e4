package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// appendStopRequest records a request to stop.
func (d *driver) appendStopRequest(life context.Context, reason string) error {
	return d.append(life, KindCancel, &CancelRecord{Reason: reason})
}

// foldStopRequests folds the requests to stop that other processes appended; false if there are none, or other records:
// then another process drives the run.
func (d *driver) foldStopRequests(ctx context.Context) bool {
	recs, err := d.e.Store.Records(ctx, d.owner, d.ID, d.next)
	if err != nil || len(recs) == 0 {
		return false
	}
	for _, r := range recs {
		if r.Kind != KindCancel {
			return false
		}
	}
	return d.foldAndShow(recs) == nil
}

// appendDespiteStop calls do, which appends to a run that is being stopped, left or ended, and calls it again if
// only requests to stop were appended first.
func (d *driver) appendDespiteStop(life context.Context, do func() error) error {
	for {
		if err := do(); !isConflict(err) || !d.foldStopRequests(life) {
			return err
		}
	}
}

// halt stops what is under way, keeps partial results, and ends the run.
func (d *driver) halt(life context.Context) (EndRecord, error) {
	if d.f.stopped == nil {
		stopped := d.stopAll()
		err := d.appendDespiteStop(life, func() error { return d.append(life, KindStopped, stopped) })
		if err != nil {
			return EndRecord{}, err
		}
	}
	if _, err := d.tree.Halt(d.f.state, nil); err != nil {
		d.e.Log.WarnContext(life, "halting the tree", "run_id", d.ID, "err", err)
	}
	return d.finish(life, bt.Idle, &bt.Fault{Kind: KindCancelled, Reason: d.f.cancel.Reason})
}

// stopAll withdraws effects that only read, gives Once effects StopGrace to finish, and collects what arrived.
func (d *driver) stopAll() *StoppedRecord {
	for op, stop := range d.cancels {
		if !d.f.open[op].Once {
			stop(ErrWithdrawn)
		}
	}
	stopped := &StoppedRecord{}
	room := MaxResult
	keep := func(c *CompletionRecord) {
		if _, open := d.f.open[c.Op]; open {
			c.Now = d.now()
			c.limitResult(max(room, 0))
			room -= len(c.Result)
			stopped.Under = append(stopped.Under, *c)
			d.f.closeEffect(c.Op)
		}
	}
	if d.lastReceipt != nil {
		keep(d.lastReceipt)
	}
	grace, stopGrace := d.e.Clock.After(d.e.StopGrace)
	defer stopGrace()
	for waiting := len(d.cancels); waiting > 0; {
		select {
		case c := <-d.finished:
			waiting--
			delete(d.cancels, c.Op)
			keep(c)
		case <-grace:
			waiting = 0
		}
	}
	for _, op := range d.f.order {
		if e := d.f.open[op]; d.f.marked[op] {
			c := newReceipt(e)
			c.Now = d.now()
			c.Err = &bt.Fault{Kind: KindUnknown, Reason: c.Name() +
				" was still under way when the run was stopped"}
			stopped.Under = append(stopped.Under, *c)
		}
	}
	stopped.Now = d.now()
	return stopped
}

// finish appends the trace and the end.
func (d *driver) finish(life context.Context, st bt.Status, fault *bt.Fault) (EndRecord, error) {
	e := Ending{Tree: d.tree, State: d.f.state, Status: st, Fault: fault, Cancelled: d.f.stopped != nil}
	if d.f.stopped != nil {
		e.Unfolded = d.f.stopped.Under
	}
	o, err := d.a.encodeOutcome(d.view, e)
	if err != nil {
		return EndRecord{}, fmt.Errorf("outcome of run %s: %w", d.ID, err)
	}
	end := EndRecord{Status: o.Status, Reason: o.Reason, Fault: fault, Outcome: o.result}
	err = d.appendDespiteStop(life, func() error {
		end.Now = d.now()
		kept, err := d.appendEnd(life, end, o)
		if err == nil {
			end = *kept
		}
		return err
	})
	return end, err
}

// appendEnd ends the run in the journal, and returns the end record as it was kept.
func (d *driver) appendEnd(ctx context.Context, end EndRecord, o encodedOutcome) (*EndRecord, error) {
	now := d.e.Clock.Now()
	data, err := encode(KindEnd, &end)
	if err != nil {
		return nil, err
	}
	trace, err := encodeTrace(d.f.trace)
	if err != nil {
		return nil, err
	}
	recs := []journal.Record{d.e.newRecord(d.next, now, KindTrace, trace), d.e.newRecord(d.next+1, now, KindEnd, data)}
	if err := d.e.commit(ctx, d.key(), recs, o.journalEnd(d.e, now)); err != nil {
		return nil, err
	}
	kept := &end
	if !bytes.Equal(recs[1].Data, data) { // else no secret was taken out, and decoding it would give the same
		kept, err = readAs[EndRecord](recs[1])
	}
	d.showRecord(recs[0], nil)
	d.showRecord(recs[1], kept)
	return kept, err
}

// encodedOutcome is an Outcome with its JSON.
type encodedOutcome struct {
	Outcome
	result, summary json.RawMessage
	used            []journal.Used // nil: it is not known
}

func (a *Assistant) encodeOutcome(v *View, e Ending) (o encodedOutcome, err error) {
	defer contain(a.Name, &err)
	o.Outcome = a.Outcome(v, e)
	if o.result, err = Marshal(o.Result); err == nil && o.Summary != nil {
		o.summary, err = Marshal(o.Summary)
	}
	for i := range o.Pending {
		p := &o.Pending[i]
		p.Owner, p.Session, p.Run = v.Owner, v.Session, v.ID
	}
	if a.Used != nil {
		o.used = SumUsed(receiptsAmong(v.Bodies()), a.Used)
	}
	return o, err
}

// journalEnd returns what the journal keeps in the run's row.
func (o encodedOutcome) journalEnd(e *Engine, at time.Time) *journal.End {
	end := &journal.End{Status: o.Status, At: at, Reason: o.Reason, Summary: e.Redact(o.summary),
		Pending: slices.Clone(o.Pending), Used: o.used}
	for i := range end.Pending {
		p := &end.Pending[i]
		p.CreatedAt, p.Data = at, e.Redact(p.Data)
	}
	return end
}

// Suspended is the error of a performer that can't perform its effect for now: the run is suspended, and whoever
// resumes it performs the effect again. A result returned with it is what had arrived.
type Suspended struct {
	Fault *bt.Fault
	Err   error // the cause; nil if it is the Fault alone
}

func (s *Suspended) Error() string { return s.Fault.Reason }

func (s *Suspended) Unwrap() error { return s.Err }

// SuspendRecord says that a run waits to be resumed: an effect could not be performed for now.
type SuspendRecord struct {
	Op    uint64    `json:"op"`
	Fault *bt.Fault `json:"fault"`
	Now   int64     `json:"now"`

	// Under is what had arrived, and what that took; nil: nothing.
	Under *CompletionRecord `json:"under,omitempty"`
}

// suspend leaves the run to whoever resumes it, and returns what can be shown of it: an EndRecord whose status is
// Running, and which is not in the journal. If the run was asked to stop, or ends with what was under way, it is
// stopped or ended instead.
func (d *driver) suspend(life context.Context, c *CompletionRecord) (EndRecord, error) {
	delete(d.cancels, c.Op)
	c.Now = d.now()
	d.a.Effects[c.Kind].decode(c)
	waits := &SuspendRecord{Op: c.Op, Fault: c.Err, Now: c.Now}
	if len(c.Result) > 0 {
		waits.Under = c
	}
	err := d.appendDespiteStop(life, func() error { return d.append(life, KindSuspend, waits) })
	if err != nil {
		return EndRecord{}, err
	}
	d.lastReceipt = c
	if end, err := d.windDown(life); !errors.Is(err, ErrLeft) {
		return end, err
	}
	o, err := d.a.encodeOutcome(d.view, Ending{Tree: d.tree, State: d.f.state, Status: bt.Running, Fault: c.Err,
		Suspended: true, Unfolded: []CompletionRecord{*c}})
	if err != nil {
		return EndRecord{}, err
	}
	d.suspended, d.rest = true, d.e.Clock.Now().Add(d.suspendedRest())
	return EndRecord{Status: journal.Running, Reason: o.Reason, Fault: c.Err, Now: c.Now,
		Outcome: d.e.Redact(o.result)}, nil
}

// LeaveRecord says that a stopping process leaves the run to others. Resumes before it don't count as fruitless.
type LeaveRecord struct {
	Holder string `json:"holder"`
	Now    int64  `json:"now"`
}

// handOver leaves the run to another process, with a leave record.
func (d *driver) handOver(life context.Context) (EndRecord, error) {
	end, left := d.windDown(life)
	if !errors.Is(left, ErrLeft) {
		return end, left
	}
	err := d.appendDespiteStop(life, func() error {
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

// windDown waits for Once effects under way, so that the run can be left to another process; ErrLeft then. If the run
// has ended by then, or was asked to stop, it is ended or stopped instead, since no other process may ever resume it.
func (d *driver) windDown(life context.Context) (EndRecord, error) {
	d.departing = true
	for op, stop := range d.cancels {
		if !d.f.open[op].Once {
			stop(ErrLeft)
		}
	}
	grace, stopGrace := d.e.Clock.After(d.e.StopGrace)
	defer stopGrace()
	left := fmt.Errorf("run %s: %w", d.ID, ErrLeft)
	waits := true
	for waits && len(d.cancels) > 0 && !d.f.hasEnded() && d.f.cancel == nil {
		select {
		case c := <-d.finished:
			if c.Err != nil && !c.Once { // it was withdrawn only because the process stops
				delete(d.cancels, c.Op)
				continue
			}
			if err := d.appendDespiteStop(life, func() error { return d.complete(life, c) }); err != nil {
				return EndRecord{}, err
			}
		case <-grace:
			waits = false
		}
	}
	if d.f.hasEnded() {
		return d.finish(life, d.f.last.Status, d.f.last.Fault)
	}
	select {
	case reason := <-d.stopRequests:
		if err := d.appendDespiteStop(life, func() error { return d.appendStopRequest(life, reason) }); err != nil {
			return EndRecord{}, err
		}
	default:
		d.foldStopRequests(life)
	}
	if d.f.cancel != nil {
		return d.halt(life)
	}
	return EndRecord{}, left
}
