package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// Live is a run that this process drives.
type Live struct {
	ID      string
	Session string

	owner journal.Owner
	view  *View
	tree  *bt.Tree
	hub   *hub

	wish chan string // reasons to stop; the first counts
	done chan struct{}
	end  EndRecord
	err  error
}

// Wait blocks until the run has ended or this process can't drive it any longer; the error says why it stopped short of
// an end. A run that stopped short can be resumed.
func (l *Live) Wait(ctx context.Context) (EndRecord, error) {
	select {
	case <-l.done:
		return l.end, l.err
	case <-ctx.Done():
		return EndRecord{}, ctx.Err()
	}
}

// Cancel wishes the run to stop. It does not wait.
func (l *Live) Cancel(reason string) {
	select {
	case l.wish <- reason:
	default: // one wish is enough
	}
}

// Tree is the tree that decides the run.
func (l *Live) Tree() *bt.Tree { return l.tree }

// driver is the goroutine that appends, steps and performs. Only it touches the folded state.
type driver struct {
	*Live
	e         *Engine
	a         *Assistant
	f         *folded
	next      int64
	began     time.Time
	base      int64 // run time when this process took over
	performer map[string]Performer

	finished chan CompletionRecord
	gone     chan struct{}     // closed when nobody takes receipts any longer
	inHand   *CompletionRecord // a receipt that is being appended
	stop     map[uint64]context.CancelFunc
	working  sync.WaitGroup
	trace    []TraceStep
	lease    time.Time
}

func (e *Engine) drive(ctx context.Context, a *Assistant, tree *bt.Tree, r journal.Run, recs []journal.Record, resumed bool) (*Live, error) {
	d := &driver{e: e, a: a, next: int64(len(recs)), finished: make(chan CompletionRecord), gone: make(chan struct{}),
		stop: map[uint64]context.CancelFunc{}, began: e.Clock.Now(), lease: e.Clock.Now()}
	d.Live = &Live{ID: r.ID, Session: r.Session, owner: r.Owner, tree: tree, hub: newHub(recs),
		wish: make(chan string, 1), done: make(chan struct{})}
	d.view = &View{ID: r.ID, Session: r.Session, Owner: r.Owner, store: e.Store, recs: recs}
	var err error
	if d.view.Start, err = decode[StartRecord](recs[0]); err != nil {
		return nil, err
	}
	if d.f, err = fold(tree, recs, d.traceEvent, d.traceStep); err != nil {
		return nil, fmt.Errorf("run %s: %w", r.ID, err)
	}
	d.dropTraced()
	d.base = d.f.now
	// What the run has open outlives the caller's context: a wish to stop still wants an orderly end.
	life, cut := context.WithCancel(context.WithoutCancel(ctx))
	performers, closeAll, err := a.Open(life, d.view)
	if err != nil {
		cut()
		return nil, d.failedToOpen(ctx, err, resumed)
	}
	d.performer = performers
	e.mu.Lock()
	e.live[r.ID] = d.Live
	e.mu.Unlock()
	go func() {
		defer func() {
			close(d.gone)
			cut()
			e.mu.Lock()
			delete(e.live, r.ID)
			e.mu.Unlock()
			d.hub.close()
			d.closeDown(closeAll)
			close(d.done)
		}()
		d.end, d.err = d.loop(ctx, life, resumed)
		if d.err != nil {
			if err := e.Store.Release(context.WithoutCancel(ctx), r.Owner, r.ID, e.Holder); err != nil {
				e.Log.Warn("lease not freed", "run", r.ID, "err", err)
			}
		}
	}()
	return d.Live, nil
}

// closeDown waits for performers before what they use is closed; one that does not heed its context is left behind.
func (d *driver) closeDown(closeAll func()) {
	idle := make(chan struct{})
	go func() {
		d.working.Wait()
		closeAll()
		close(idle)
	}()
	grace, stop := d.e.Clock.After(d.e.StopGrace)
	defer stop()
	select {
	case <-idle:
	case <-grace:
		d.e.Log.Warn("an effect goes on although it was withdrawn", "run", d.ID)
	}
}

// failedToOpen ends a run that never got under way; one that is resumed stays open for another try.
func (d *driver) failedToOpen(ctx context.Context, cause error, resumed bool) error {
	if resumed {
		return cause
	}
	fault := &bt.Fault{Kind: "open", Reason: cause.Error()}
	if _, err := d.finish(context.WithoutCancel(ctx), bt.Failure, fault); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

func (d *driver) now() int64 { return d.base + d.e.Clock.Now().Sub(d.began).Milliseconds() }

// loop runs until the tree has ended or the journal refuses.
func (d *driver) loop(ctx, life context.Context, resumed bool) (EndRecord, error) {
	if resumed {
		if end, over, err := d.takeOver(life); over || err != nil {
			return end, err
		}
	} else if err := d.perform(life, d.f.last.Start, nil); err != nil {
		return EndRecord{}, err
	}
	beat, stopBeat := d.e.Clock.After(d.e.Heartbeat)
	defer func() { stopBeat() }()
	for {
		if end, over, err := d.ended(life); over {
			return end, err
		}
		if len(d.f.open) == 0 && d.f.last.Due == 0 {
			return d.finish(life, bt.Failure, &bt.Fault{Kind: "stalled", Reason: ErrStalled.Error()})
		}
		due, stopDue := d.due()
		var err error
		select {
		case c := <-d.finished:
			err = d.complete(life, c)
		case <-due:
			err = d.input(life, KindTime, TimeRecord{Now: max(d.now(), d.f.last.Due)})
		case reason := <-d.wish:
			stopDue()
			return d.halt(life, reason, true)
		case <-ctx.Done():
			stopDue()
			return d.halt(life, context.Cause(ctx).Error(), true)
		case <-beat:
			beat, stopBeat = d.e.Clock.After(d.e.Heartbeat)
			err = d.heartbeat(life)
		}
		stopDue()
		if isConflict(err) {
			if reason, ok := d.foreignWish(life); ok {
				return d.halt(life, reason, false)
			}
		}
		if err != nil {
			return EndRecord{}, err
		}
	}
}

// ended ends a run whose tree has ended, or broke.
func (d *driver) ended(life context.Context) (EndRecord, bool, error) {
	st, fault := d.f.last.Status, d.f.last.Fault
	switch {
	case d.f.broken != nil:
		st, fault = bt.Failure, &bt.Fault{Kind: "tree", Reason: d.f.broken.Error()}
	case st == bt.Running:
		return EndRecord{}, false, nil
	}
	end, err := d.finish(life, st, fault)
	return end, true, err
}

func (d *driver) due() (<-chan time.Time, func()) {
	if d.f.last.Due == 0 {
		return nil, func() {}
	}
	return d.e.Clock.After(time.Duration(max(0, d.f.last.Due-d.now())) * time.Millisecond)
}

// takeOver goes on where another driver stopped.
func (d *driver) takeOver(life context.Context) (EndRecord, bool, error) {
	if d.f.cancel != nil {
		end, err := d.halt(life, d.f.cancel.Reason, false)
		return end, true, err
	}
	if end, over, err := d.ended(life); over {
		return end, true, err
	}
	again := ResumeRecord{Holder: d.e.Holder, Build: d.e.Build, Now: d.f.now}
	var effects []bt.Effect
	for _, op := range d.f.order {
		effect := d.f.open[op]
		effects = append(effects, effect)
		if !effect.Once {
			again.Repeated = append(again.Repeated, op)
		}
	}
	rec, err := d.e.record(d.next, d.e.Clock.Now(), KindResume, again)
	if err != nil {
		return EndRecord{}, false, err
	}
	if err := d.append(life, []journal.Record{rec}, nil); err != nil {
		return EndRecord{}, false, err
	}
	return EndRecord{}, false, d.perform(life, effects, d.f.marked)
}

// perform starts effects. Once effects are marked first; those already marked were under way in a crash.
func (d *driver) perform(life context.Context, effects []bt.Effect, marked map[uint64]bool) error {
	var marks []journal.Record
	for _, e := range effects {
		if !e.Once || marked[e.Op] {
			continue
		}
		rec, err := d.e.record(d.next+int64(len(marks)), d.e.Clock.Now(), KindMark, MarkRecord{Op: e.Op, Leaf: e.Leaf, Digest: Digest(e)})
		if err != nil {
			return err
		}
		marks = append(marks, rec)
	}
	if marks != nil {
		if err := d.append(life, marks, nil); err != nil {
			return err
		}
	}
	for _, e := range effects {
		ctx, cancel := context.WithCancel(life)
		d.stop[e.Op] = cancel
		d.working.Add(1)
		go func() {
			defer d.working.Done()
			defer cancel()
			select {
			case d.finished <- d.run(ctx, e, marked[e.Op]):
			case <-d.gone:
			}
		}()
	}
	return nil
}

// run performs one effect and makes its receipt.
func (d *driver) run(ctx context.Context, e bt.Effect, underWay bool) CompletionRecord {
	began := d.e.Clock.Now()
	c := CompletionRecord{Op: e.Op, Leaf: e.Leaf, Kind: e.Kind, Label: e.Label, Digest: Digest(e), Payload: e.Payload, Once: e.Once}
	job := Job{View: d.view, Effect: e, Key: d.ID + "/" + strconv.FormatUint(e.Op, 10),
		Emit: func(p Piece) { p.Op = e.Op; d.hub.piece(p) }}
	result, err := d.do(ctx, job, underWay, &c.Found)
	if result != nil {
		raw, encErr := json.Marshal(result)
		if encErr != nil && err == nil {
			err = fmt.Errorf("result of %s: %w", e.Kind, encErr)
		} else if encErr == nil {
			c.Result = raw
		}
	}
	if err != nil {
		c.Err = faultOf(ctx, err)
	}
	c.TookMS = d.e.Clock.Now().Sub(began).Milliseconds()
	return c
}

func (d *driver) do(ctx context.Context, job Job, underWay bool, found *bool) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			d.e.Log.Error("a performer panicked", "kind", job.Effect.Kind, "panic", r, "stack", string(debug.Stack()))
			err = &bt.Fault{Kind: "panic", Reason: fmt.Sprintf("%s broke down: %v", job.Effect.Kind, r)}
		}
	}()
	p, ok := d.performer[job.Effect.Kind]
	if !ok {
		return nil, &bt.Fault{Kind: "unavailable", Reason: "nothing here performs " + job.Effect.Kind}
	}
	if underWay {
		unknown := &bt.Fault{Kind: KindUnknown, Reason: job.Effect.Label + " had begun when the program stopped, and nobody can tell whether it took effect"}
		if p.Found == nil {
			return nil, unknown
		}
		result, was, err := p.Found(ctx, job)
		if err != nil {
			unknown.Reason += ": " + err.Error()
			return nil, unknown
		}
		if was {
			*found = true
			return result, nil
		}
	}
	return p.Do(ctx, job)
}

func faultOf(ctx context.Context, err error) *bt.Fault {
	var f *bt.Fault
	switch {
	case errors.As(err, &f):
		return f
	case ctx.Err() != nil:
		return &bt.Fault{Kind: KindCancelled, Reason: "withdrawn"}
	}
	return &bt.Fault{Reason: err.Error()}
}

// complete takes in a receipt; one of an operation that was halted is dropped.
func (d *driver) complete(life context.Context, c CompletionRecord) error {
	delete(d.stop, c.Op)
	if _, open := d.f.open[c.Op]; !open {
		return nil
	}
	c.Now = d.now()
	d.inHand = &c
	err := d.input(life, KindCompletion, c)
	if err == nil {
		d.inHand = nil
	}
	return err
}

// input appends one record, takes it in, and performs what follows.
func (d *driver) input(life context.Context, kind string, v any) error {
	recs, err := d.withTrace(kind, v)
	if err != nil {
		return err
	}
	if err := d.append(life, recs, nil); err != nil {
		return err
	}
	rec := recs[len(recs)-1]
	in, _, err := d.f.take(d.tree, rec)
	if err != nil {
		return err
	}
	step := func(e bt.Event) { d.traceEvent(rec.Seq, e) }
	d.f.step(d.tree, in, step)
	d.traceStep(rec.Seq, d.f.last)
	for _, op := range d.f.last.Cancel {
		if stop := d.stop[op]; stop != nil {
			stop()
		}
	}
	return d.perform(life, d.f.last.Start, nil)
}

// withTrace puts what the last steps decided before the next record.
func (d *driver) withTrace(kind string, v any) ([]journal.Record, error) {
	var recs []journal.Record
	now := d.e.Clock.Now()
	if len(d.trace) > 0 {
		rec, err := d.e.record(d.next, now, KindTrace, TraceRecord{Steps: d.trace})
		if err != nil {
			return nil, err
		}
		recs = append(recs, rec)
	}
	rec, err := d.e.record(d.next+int64(len(recs)), now, kind, v)
	return append(recs, rec), err
}

func (d *driver) append(ctx context.Context, recs []journal.Record, end *journal.End) error {
	if err := d.e.Store.Append(ctx, d.owner, d.ID, recs, end); err != nil {
		return err
	}
	if recs[0].Kind == KindTrace {
		d.trace = nil
	}
	d.next += int64(len(recs))
	d.view.add(recs...)
	d.hub.records(recs)
	return nil
}

// heartbeat renews the lease at a third of its time, and looks for a wish that another process appended.
func (d *driver) heartbeat(ctx context.Context) error {
	r, err := d.e.Store.Run(ctx, d.owner, d.ID)
	if err != nil {
		return err
	}
	if r.Records != d.next || r.Status != journal.Running {
		return fmt.Errorf("run %s: %w", d.ID, journal.ErrConflict)
	}
	now := d.e.Clock.Now()
	if now.Sub(d.lease) < d.e.Lease/3 {
		return nil
	}
	d.lease = now
	return d.e.Store.Acquire(ctx, d.owner, d.ID, d.e.Holder, now, now.Add(d.e.Lease))
}

// foreignWish reads the records that another process appended; only a wish to stop is taken in.
func (d *driver) foreignWish(ctx context.Context) (string, bool) {
	recs, err := d.e.Store.Records(ctx, d.owner, d.ID, d.next)
	if err != nil || len(recs) != 1 || recs[0].Kind != KindCancel {
		return "", false
	}
	c, err := decode[CancelRecord](recs[0])
	if err != nil {
		return "", false
	}
	d.next++
	d.view.add(recs...)
	d.hub.records(recs)
	return c.Reason, true
}

// halt stops what is under way, keeps what had arrived, and ends the run. Effects that write are given time to finish.
func (d *driver) halt(life context.Context, reason string, record bool) (EndRecord, error) {
	if record {
		recs, err := d.withTrace(KindCancel, CancelRecord{Reason: reason})
		if err != nil {
			return EndRecord{}, err
		}
		if err := d.append(life, recs, nil); err != nil {
			return EndRecord{}, err
		}
	}
	for op, stop := range d.stop {
		if !d.f.open[op].Once {
			stop()
		}
	}
	stopped := StoppedRecord{Now: d.now()}
	if d.inHand != nil {
		stopped.Under = append(stopped.Under, *d.inHand)
	}
	grace, stopGrace := d.e.Clock.After(d.e.StopGrace)
	defer stopGrace()
	for waiting := len(d.stop); waiting > 0; {
		select {
		case c := <-d.finished:
			waiting--
			delete(d.stop, c.Op)
			if _, open := d.f.open[c.Op]; open {
				c.Now = d.now()
				stopped.Under = append(stopped.Under, c)
			}
		case <-grace:
			waiting = 0
		}
	}
	for _, op := range d.f.order {
		if e := d.f.open[op]; e.Once && d.stop[op] != nil {
			stopped.Under = append(stopped.Under, CompletionRecord{Op: op, Leaf: e.Leaf, Kind: e.Kind, Label: e.Label, Digest: Digest(e),
				Payload: e.Payload, Once: true, Err: &bt.Fault{Kind: KindUnknown, Reason: e.Label + " was still under way"}})
		}
	}
	recs, err := d.withTrace(KindStopped, stopped)
	if err != nil {
		return EndRecord{}, err
	}
	if err := d.append(life, recs, nil); err != nil {
		return EndRecord{}, err
	}
	d.f.stopped = &stopped
	d.f.cancel = &CancelRecord{Reason: reason}
	if _, err := d.tree.Halt(d.f.state, nil); err != nil {
		d.e.Log.Warn("halting the tree", "run", d.ID, "err", err)
	}
	return d.finish(life, bt.Idle, &bt.Fault{Kind: KindCancelled, Reason: reason})
}

// finish appends the end.
func (d *driver) finish(ctx context.Context, st bt.Status, fault *bt.Fault) (EndRecord, error) {
	e := Ending{Tree: d.tree, State: d.f.state, Status: st, Fault: fault, Cancelled: d.f.cancel != nil}
	if d.f.stopped != nil {
		e.Under = d.f.stopped.Under
	}
	status, outcome := d.a.Outcome(d.view, e)
	end := EndRecord{Status: status, Fault: fault, Now: d.now()}
	var err error
	if end.Outcome, err = json.Marshal(outcome); err != nil {
		return end, fmt.Errorf("outcome: %w", err)
	}
	recs, err := d.withTrace(KindEnd, end)
	if err != nil {
		return end, err
	}
	at := d.e.Clock.Now()
	if err := d.append(ctx, recs, &journal.End{Status: status, At: at}); err != nil {
		return end, err
	}
	// The record is redacted; what is handed out is what was kept.
	return decode[EndRecord](recs[len(recs)-1])
}
