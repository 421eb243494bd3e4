package run

import (
	"context"
	"errors"
	"fmt"
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
	inHand   *CompletionRecord // the last receipt, whether it could be appended or not
	stop     map[uint64]context.CancelFunc
	working  sync.WaitGroup
	trace    traces
	lease    time.Time
}

// newDriver folds what a run's records say.
func (e *Engine) newDriver(a *Assistant, tree *bt.Tree, r journal.Run, recs []journal.Record) (*driver, error) {
	now := e.Clock.Now()
	d := &driver{e: e, a: a, next: int64(len(recs)), finished: make(chan CompletionRecord), gone: make(chan struct{}),
		stop: map[uint64]context.CancelFunc{}, began: now, lease: now}
	d.Live = &Live{ID: r.ID, Session: r.Session, owner: r.Owner, tree: tree, hub: newHub(recs),
		wish: make(chan string, 1), done: make(chan struct{})}
	var err error
	if d.f, err = fold(tree, recs, d.traceEvent, d.trace.decided); err != nil {
		return nil, err
	}
	d.dropTraced()
	for _, s := range d.trace {
		d.hub.step(s)
	}
	d.base = d.f.now
	d.view = &View{ID: r.ID, Session: r.Session, Owner: r.Owner, Start: d.f.start, store: e.Store, recs: recs}
	return d, nil
}

// start opens what the run needs and goes on in a goroutine of its own. After an error nobody drives the run: one that was
// just begun has ended with that error, one that was resumed stays open for another try.
func (d *driver) start(ctx context.Context, resumed bool) (*Live, error) {
	// What the run has open outlives the caller's context: a wish to stop still wants an orderly end.
	life, cut := context.WithCancel(context.WithoutCancel(ctx))
	closeAll, err := d.open(ctx, life, cut)
	switch {
	case err == nil:
	case resumed && ctx.Err() == nil && d.f.stopping():
		d.e.Log.Warn("a run is ended although what it works on can't be opened", "run", d.ID, "err", err)
	default:
		cut()
		if !resumed {
			err = d.endUnopened(ctx, err)
		}
		return nil, err
	}
	d.e.list(d.Live)
	go func() {
		d.end, d.err = d.loop(ctx, life, resumed)
		close(d.gone)
		cut()
		d.e.unlist(d.Live)
		d.hub.close()
		d.closeDown(context.WithoutCancel(ctx), closeAll)
		close(d.done)
	}()
	return d.Live, nil
}

// open calls Open, and cuts it short when ctx is cancelled.
func (d *driver) open(ctx, life context.Context, cut func()) (closeAll func(), err error) {
	closeAll = func() {}
	defer contain("opening "+d.a.Name, &err)
	release := context.AfterFunc(ctx, cut)
	performers, toClose, err := d.a.Open(life, d.view)
	if toClose != nil {
		closeAll = toClose
	}
	if wished := !release(); wished && err == nil {
		closeAll()
		err = context.Cause(ctx)
	}
	d.performer = performers
	return closeAll, err
}

// endUnopened ends a run that never got under way.
func (d *driver) endUnopened(ctx context.Context, cause error) error {
	life := context.WithoutCancel(ctx)
	var err error
	if ctx.Err() == nil {
		_, err = d.finish(life, bt.Failure, &bt.Fault{Kind: "open", Reason: cause.Error()})
	} else if err = d.wished(life, cause.Error()); err == nil {
		_, err = d.halt(life)
	}
	return errors.Join(cause, err)
}

// closeDown waits for performers, then closes what they use and lets the run go. One that does not heed its context is
// left behind, and keeps the run from being taken up here until it returns or elsewhere until the lease has run out.
func (d *driver) closeDown(ctx context.Context, closeAll func()) {
	idle := make(chan struct{})
	go func() {
		d.working.Wait()
		closeAll()
		if d.err != nil {
			d.e.letGo(ctx, d.owner, d.ID)
		} else {
			d.e.unclaim(d.owner, d.ID)
		}
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

func (d *driver) now() int64 { return d.base + d.e.Clock.Now().Sub(d.began).Milliseconds() }

// loop runs until the tree has ended or the journal refuses.
func (d *driver) loop(ctx, life context.Context, resumed bool) (EndRecord, error) {
	err := d.begin(life, resumed)
	beat, stopBeat := d.e.Clock.After(d.e.Heartbeat)
	defer func() { stopBeat() }()
	for {
		if isConflict(err) && d.takeWishes(life) {
			err = nil
		}
		switch {
		case err != nil:
			return EndRecord{}, err
		case d.f.over():
			return d.finish(life, d.f.last.Status, d.f.last.Fault)
		case d.f.cancel != nil:
			return d.halt(life)
		case d.f.stalled():
			return d.finish(life, bt.Failure, &bt.Fault{Kind: kindStalled, Reason: ErrStalled.Error()})
		}
		due, stopDue := d.due()
		select {
		case c := <-d.finished:
			err = d.complete(life, c)
		case <-due:
			err = d.input(life, KindTime, TimeRecord{Now: max(d.now(), d.f.last.Due)})
		case reason := <-d.wish:
			err = d.wished(life, reason)
		case <-ctx.Done():
			err = d.wished(life, context.Cause(ctx).Error())
		case <-beat:
			beat, stopBeat = d.e.Clock.After(d.e.Heartbeat)
			err = d.heartbeat(life)
		}
		stopDue()
	}
}

func (d *driver) due() (<-chan time.Time, func()) {
	if d.f.last.Due == 0 {
		return nil, func() {}
	}
	return d.e.Clock.After(time.Duration(max(0, d.f.last.Due-d.now())) * time.Millisecond)
}

// begin performs what the tree asks for, or, where another driver stopped, what is outstanding.
func (d *driver) begin(life context.Context, resumed bool) error {
	switch {
	case !resumed:
		return d.perform(life, d.f.last.Start, nil)
	case d.f.over() || d.f.stopped != nil:
		return nil
	case d.f.cancel != nil:
		d.lookUp(life)
		return nil
	}
	again := ResumeRecord{Holder: d.e.Holder, Build: d.e.Build, Now: d.f.now}
	underWay := make(map[uint64]bool, len(d.f.marked))
	var effects []bt.Effect
	for _, op := range d.f.order {
		effect := d.f.open[op]
		effects = append(effects, effect)
		underWay[op] = d.f.marked[op]
		if !effect.Once {
			again.Repeated = append(again.Repeated, op)
		}
	}
	rec, err := d.e.record(d.next, d.e.Clock.Now(), KindResume, again)
	if err != nil {
		return err
	}
	if err := d.append(life, []journal.Record{rec}, nil); err != nil {
		return err
	}
	return d.perform(life, effects, underWay)
}

// complete takes in a receipt; one of an operation that was halted is dropped.
func (d *driver) complete(life context.Context, c CompletionRecord) error {
	delete(d.stop, c.Op)
	if _, open := d.f.open[c.Op]; !open {
		return nil
	}
	c.Now = d.now()
	d.inHand = &c
	return d.input(life, KindCompletion, c)
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
	d.f.step(d.tree, in, func(e bt.Event) { d.traceEvent(rec.Seq, e) })
	d.trace.decided(rec.Seq, d.f.last)
	d.hub.step(*d.trace.at(rec.Seq))
	for _, c := range in.Done {
		d.hub.settle(c.Op)
	}
	for _, op := range d.f.last.Cancel {
		if stop := d.stop[op]; stop != nil {
			stop()
		}
		d.hub.withdraw(op)
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
	d.publish(recs)
	return nil
}

// publish shows records that are in the journal to performers and watchers.
func (d *driver) publish(recs []journal.Record) {
	d.next += int64(len(recs))
	d.view.add(recs...)
	d.hub.records(recs)
}

// heartbeat renews the lease at a third of its time, and looks for what another process appended. What else fails is
// tried again at the next beat: the journal's fence keeps others out, the lease only keeps them away.
func (d *driver) heartbeat(ctx context.Context) error {
	r, err := d.e.Store.Run(ctx, d.owner, d.ID)
	if err == nil && (r.Records != d.next || r.Status != journal.Running) {
		return fmt.Errorf("run %s: %w", d.ID, journal.ErrConflict)
	}
	if now := d.e.Clock.Now(); err == nil && now.Sub(d.lease) >= d.e.Lease/3 {
		if err = d.e.Store.Acquire(ctx, d.owner, d.ID, d.e.Holder, now, now.Add(d.e.Lease)); err == nil {
			d.lease = now
		}
	}
	if err == nil || isLeased(err) || errors.Is(err, journal.ErrNotFound) || errors.Is(err, journal.ErrEnded) {
		return err
	}
	d.e.Log.Warn("heartbeat of a run", "run", d.ID, "err", err)
	return nil
}

// contain turns a panic of an assistant's code into an error: one run's trouble must not end the process and the runs
// beside it.
func contain(what string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s panicked: %v", what, r)
	}
}
