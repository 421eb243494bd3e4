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
	feed  *feed

	stopping chan string // reasons to stop; the first counts
	done     chan struct{}
	end      EndRecord
	err      error
}

// Wait blocks until the run has ended or this process can't drive it any longer; the error says why it stopped short of
// an end. A run that stopped short can be resumed; one that is suspended has status Running and what there is to show
// of it.
func (l *Live) Wait(ctx context.Context) (EndRecord, error) {
	select {
	case <-l.done:
		return l.end, l.err
	case <-ctx.Done():
		return EndRecord{}, ctx.Err()
	}
}

// Cancel asks the run to stop. It does not wait.
func (l *Live) Cancel(reason string) {
	select {
	case l.stopping <- reason:
	default: // one request is enough
	}
}

func (l *Live) key() journal.Key { return journal.Key{Owner: l.owner, Run: l.ID} }

// driver is the goroutine that appends, steps and performs. Only it touches the folded state.
type driver struct {
	*Live
	e         *Engine
	a         *Assistant
	f         *Fold
	next      int64
	began     time.Time
	base      int64 // run time when this process took over
	performer map[string]Performer

	finished  chan *CompletionRecord
	gone      chan struct{}     // closed when nobody takes receipts any longer
	inHand    *CompletionRecord // the last receipt, whether it could be appended or not
	stop      map[uint64]context.CancelCauseFunc
	working   sync.WaitGroup
	standing  chan journal.Standing // how the journal has the run, with each heartbeat
	leave     chan struct{}         // closed when the run is to be left to another process
	leaveOnce sync.Once
	departing bool        // nothing is begun any more, for another process will
	suspended bool        // the run waits to be resumed
	rest      time.Time   // until when nobody takes it up without being asked to
	exit      func()      // gives back the room that the run takes
	parted    func(Stand) // tells the observer; nil if there is none
}

// newDriver drives a run of which no record is taken in.
func (e *Engine) newDriver(a *Assistant, tree *bt.Tree, r journal.Run) *driver {
	d := &driver{
		e: e, a: a, f: NewFold(a, tree), began: e.Clock.Now(),
		finished: make(chan *CompletionRecord), gone: make(chan struct{}),
		stop:     map[uint64]context.CancelCauseFunc{},
		standing: make(chan journal.Standing, 1), leave: make(chan struct{}), exit: func() {},
	}
	d.Live = &Live{
		ID: r.ID, Session: r.Session, owner: r.Owner, tree: tree, feed: newFeed(),
		view:     &View{ID: r.ID, Session: r.Session, Owner: r.Owner, store: e.Store},
		stopping: make(chan string, 1), done: make(chan struct{}),
	}
	return d
}

func (d *driver) leaveToOthers() { d.leaveOnce.Do(func() { close(d.leave) }) }

// start opens what the run needs and goes on in a goroutine of its own. After an error nobody drives the run: one that
// was just begun has ended with that error, unless the journal could not be read; that one, and one that was resumed,
// stays open for another try.
func (d *driver) start(ctx context.Context, resumed bool) (*Live, error) {
	ctx = d.observe(ctx, resumed)
	// What the run has open outlives the caller's context: a request to stop still wants an orderly end.
	life, cut := context.WithCancel(context.WithoutCancel(ctx))
	closeAll, err := d.open(ctx, life, cut)
	switch {
	case err == nil:
	case resumed && ctx.Err() == nil && d.f.stopping():
		d.e.Log.WarnContext(life, "a run is ended although what it works on can't be opened", "run_id", d.ID,
			"err", err)
	default:
		cut()
		if d.err = err; !resumed && !isAway(err) {
			err = d.endUnopened(ctx, err)
		}
		d.part(LostOpen)
		return nil, err
	}
	d.e.list(d)
	go func() {
		d.end, d.err = d.loop(ctx, life, resumed)
		close(d.gone)
		cut()
		d.restIfBroken(context.WithoutCancel(ctx))
		d.e.unlist(d)
		d.feed.close(d.err == nil && !d.suspended)
		d.closeDown(context.WithoutCancel(ctx), closeAll)
		d.part(lostBy(d.err))
		d.exit()
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
	if stopped := !release(); stopped && err == nil {
		closeAll()
		err = context.Cause(ctx)
	}
	d.performer = performers
	return closeAll, err
}

// endUnopened ends a run that never got under way.
func (d *driver) endUnopened(ctx context.Context, cause error) error {
	life := context.WithoutCancel(ctx)
	if ctx.Err() == nil {
		d.end, d.err = d.finish(life, bt.Failure, &bt.Fault{Kind: "open", Reason: cause.Error()})
	} else if d.err = d.asked(life, cause.Error()); d.err == nil {
		d.end, d.err = d.halt(life)
	}
	return errors.Join(cause, d.err)
}

// closeDown waits for performers, then closes what they use and frees the run. One that does not heed its context is
// left behind, and keeps the run from being taken up here until it returns or elsewhere until the lease has run out.
func (d *driver) closeDown(ctx context.Context, closeAll func()) {
	idle := make(chan struct{})
	go func() {
		d.working.Wait()
		closeAll()
		if d.err != nil || d.suspended {
			d.e.release(ctx, d.key(), d.rest)
		} else {
			d.e.unhold(d.key())
		}
		close(idle)
	}()
	grace, stop := d.e.Clock.After(d.e.StopGrace)
	defer stop()
	select {
	case <-idle:
	case <-grace:
		d.e.Log.WarnContext(ctx, "an effect goes on although it was withdrawn", "run_id", d.ID)
	}
}

func (d *driver) now() int64 { return d.base + d.e.Clock.Now().Sub(d.began).Milliseconds() }

// loop runs until the tree has ended or the journal refuses.
func (d *driver) loop(ctx, life context.Context, resumed bool) (EndRecord, error) {
	err := d.begin(life, resumed)
	for {
		if isConflict(err) && d.takeRequests(life) {
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
			e := d.f.Ending()
			return d.finish(life, e.Status, e.Fault)
		}
		due, stopDue := d.due()
		select {
		case c := <-d.finished:
			switch _, open := d.f.open[c.Op]; {
			case open && c.suspended:
				stopDue()
				return d.suspend(life, c)
			case open && c.away != nil:
				err = c.away
			default:
				err = d.complete(life, c)
			}
		case <-due:
			err = d.input(life, KindTime, &TimeRecord{Now: max(d.now(), d.f.last.Due)})
		case reason := <-d.stopping:
			err = d.asked(life, reason)
		case <-ctx.Done():
			err = d.asked(life, context.Cause(ctx).Error())
		case s := <-d.standing:
			err = d.stands(s)
		case <-d.leave:
			stopDue()
			return d.handOver(life)
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
		effects = append(effects, effect.Effect)
		underWay[op] = d.f.marked[op]
		if !effect.Once && !d.waited() { // else nobody has performed it yet
			again.Repeated = append(again.Repeated, op)
		}
	}
	if err := d.append(life, KindResume, &again); err != nil {
		return err
	}
	return d.perform(life, effects, underWay)
}

// complete takes in a receipt; one of an operation that was halted is dropped.
func (d *driver) complete(life context.Context, c *CompletionRecord) error {
	delete(d.stop, c.Op)
	if _, open := d.f.open[c.Op]; !open {
		return nil
	}
	c.Now = d.now()
	d.inHand = c
	return d.input(life, KindCompletion, c)
}

// input appends one record on which the tree decides, and performs what follows.
func (d *driver) input(life context.Context, kind string, v any) error {
	if err := d.append(life, kind, v); err != nil {
		return err
	}
	return d.perform(life, d.f.last.Start, nil)
}

// append makes a record durable, and takes it in.
func (d *driver) append(life context.Context, kind string, v any) error {
	data, err := encode(kind, v)
	if err != nil {
		return err
	}
	return d.commit(life, []journal.Record{d.e.record(d.next, d.e.Clock.Now(), kind, data)})
}

func (d *driver) commit(life context.Context, recs []journal.Record) error {
	if err := d.e.commit(life, d.key(), recs, nil); err != nil {
		return err
	}
	return d.takeIn(recs)
}

// takeIn folds records that are in the journal: on a resume all of the run's, else those just appended. It shows each
// to performers and watchers, has the tree decide on it, and withdraws what the tree wants no longer.
func (d *driver) takeIn(recs []journal.Record) error {
	for _, rec := range recs {
		body, err := d.f.read(rec)
		if err != nil {
			return err
		}
		d.publish(rec, body)
		step, err := d.f.Take(rec.Seq, body)
		if err != nil {
			return err
		}
		if step {
			d.showStep(rec.Seq, body)
		}
	}
	return nil
}

func (d *driver) showStep(seq int64, body any) {
	d.feed.step(d.f.lastStep())
	if c, is := body.(*CompletionRecord); is {
		d.feed.settleDraft(c.Op, seq)
	}
	for _, op := range d.f.last.Cancel {
		if stop := d.stop[op]; stop != nil {
			stop(ErrWithdrawn)
		}
		d.feed.withdraw(op)
	}
}

// publish shows a record that is in the journal.
func (d *driver) publish(rec journal.Record, body any) {
	d.next++
	d.view.add(rec, body)
	d.feed.record(rec)
}

// contain turns a panic of an assistant's code into an error: one run's trouble must not end the process and the runs
// beside it.
func contain(what string, err *error) {
	if r := recover(); r != nil {
		*err = &panicked{what, r}
	}
}

// panicked is the error of code that panicked.
type panicked struct {
	what  string
	value any
}

func (p *panicked) Error() string { return fmt.Sprintf("%s panicked: %v", p.what, p.value) }

// logged is an error as a log has it: what was thrown may hold words of a person.
func logged(err error) string {
	if p, ok := errors.AsType[*panicked](err); ok {
		return p.what + " panicked: " + wordless(p.value)
	}
	return err.Error()
}
