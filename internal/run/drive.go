package run

import (
	"bytes"
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

	stopRequests chan string // reasons to stop; the first counts
	done         chan struct{}
	end          EndRecord
	err          error
}

// Wait blocks until the run has ended or this process can't drive it any longer; the error says why it stopped before
// its end. Such a run can be resumed. A suspended run has status Running and what can be shown of it.
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
	case l.stopRequests <- reason:
	default: // a request is there already
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

	finished       chan *CompletionRecord
	receiptsClosed chan struct{}     // closed when nobody reads finished any longer
	lastReceipt    *CompletionRecord // the last receipt, whether it could be appended or not
	cancels        map[uint64]context.CancelCauseFunc
	working        sync.WaitGroup
	snapshots      chan journal.RunSnapshot // the state of the run in the journal, at each heartbeat
	leave          chan struct{}            // closed when the run is to be left to another process
	leaveOnce      sync.Once
	departing      bool            // nothing more is started: another process will
	suspended      bool            // the run waits to be resumed
	rest           time.Time       // until when no process resumes it unasked
	exit           func()          // frees the room of the run
	parted         func(StopState) // tells the observer; nil if there is none
}

// newDriver returns a driver of a run that has folded no record yet.
func (e *Engine) newDriver(a *Assistant, tree *bt.Tree, r journal.Run) *driver {
	d := &driver{
		e: e, a: a, f: NewFold(a, tree), began: e.Clock.Now(),
		finished: make(chan *CompletionRecord), receiptsClosed: make(chan struct{}),
		cancels:   map[uint64]context.CancelCauseFunc{},
		snapshots: make(chan journal.RunSnapshot, 1), leave: make(chan struct{}), exit: func() {},
	}
	d.Live = &Live{
		ID: r.ID, Session: r.Session, owner: r.Owner, tree: tree, feed: newFeed(),
		view:         &View{ID: r.ID, Session: r.Session, Owner: r.Owner, store: e.Store},
		stopRequests: make(chan string, 1), done: make(chan struct{}),
	}
	return d
}

func (d *driver) leaveToOthers() { d.leaveOnce.Do(func() { close(d.leave) }) }

// openAndDrive opens what the run needs, and drives it in a new goroutine. After an error nobody drives the run: a new
// run has ended with that error, unless the journal could not be read; that one, and a resumed run, stay open for
// another try. If a resumed run only has to end, it does so even if nothing could be opened.
func (d *driver) openAndDrive(ctx context.Context, resumed bool) (*Live, error) {
	ctx = d.reportDriven(ctx, resumed)
	// What the run opened outlives the caller's context: it is still needed for an orderly end.
	life, cut := context.WithCancel(context.WithoutCancel(ctx))
	closeAll, err := d.open(ctx, life, cut)
	switch {
	case err == nil:
	case resumed && ctx.Err() == nil && d.f.isStopping():
		d.e.Log.WarnContext(life, "a run is ended although what it works on can't be opened", "run_id", d.ID,
			"err", err)
	default:
		cut()
		if d.err = err; !resumed && !isAway(err) {
			err = d.endUnopened(ctx, err)
		}
		d.reportParted(LostOpen)
		return nil, err
	}
	d.e.addLive(d)
	go func() {
		d.end, d.err = d.loop(ctx, life, resumed)
		close(d.receiptsClosed)
		cut()
		d.restIfBroken(context.WithoutCancel(ctx))
		d.e.removeLive(d)
		d.feed.close(d.err == nil && !d.suspended)
		d.closeDown(context.WithoutCancel(ctx), closeAll)
		d.reportParted(lossReason(d.err))
		d.exit()
		close(d.done)
	}()
	return d.Live, nil
}

// open calls Open, whose context it cancels when ctx is done.
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

// endUnopened ends a new run whose Open failed or was cancelled.
func (d *driver) endUnopened(ctx context.Context, cause error) error {
	life := context.WithoutCancel(ctx)
	if ctx.Err() == nil {
		d.end, d.err = d.finish(life, bt.Failure, &bt.Fault{Kind: "open", Reason: cause.Error()})
	} else if d.err = d.appendStopRequest(life, cause.Error()); d.err == nil {
		d.end, d.err = d.halt(life)
	}
	return errors.Join(cause, d.err)
}

// closeDown waits for performers, then closes what they use and frees the run. After StopGrace it returns without a
// performer that ignores its context: until that one returns, this process can't resume the run, and another can only
// when the lease has run out.
func (d *driver) closeDown(ctx context.Context, closeAll func()) {
	idle := make(chan struct{})
	go func() {
		d.working.Wait()
		closeAll()
		if d.err != nil || d.suspended {
			d.e.release(ctx, d.key(), d.rest)
		} else {
			d.e.unmarkDriven(d.key())
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

// loop drives the run until it has ended, is suspended or left, or the journal refuses a record.
func (d *driver) loop(ctx, life context.Context, resumed bool) (EndRecord, error) {
	err := d.performOutstanding(life, resumed)
	for {
		if isConflict(err) && d.foldStopRequests(life) {
			err = nil
		}
		switch {
		case err != nil:
			return EndRecord{}, err
		case d.f.hasEnded():
			return d.finish(life, d.f.last.Status, d.f.last.Fault)
		case d.f.cancel != nil:
			return d.halt(life)
		case d.f.isStalled():
			e := d.f.Ending()
			return d.finish(life, e.Status, e.Fault)
		}
		due, stopDue := d.timerDue()
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
		case reason := <-d.stopRequests:
			err = d.appendStopRequest(life, reason)
		case <-ctx.Done():
			err = d.appendStopRequest(life, context.Cause(ctx).Error())
		case s := <-d.snapshots:
			err = d.checkSnapshot(s)
		case <-d.leave:
			stopDue()
			return d.handOver(life)
		}
		stopDue()
	}
}

// timerDue returns a channel that sends when the tree's next timer is due; nil if there is none.
func (d *driver) timerDue() (<-chan time.Time, func()) {
	if d.f.last.Due == 0 {
		return nil, func() {}
	}
	return d.e.Clock.After(time.Duration(max(0, d.f.last.Due-d.now())) * time.Millisecond)
}

// performOutstanding performs what a new run requests, or what was outstanding when the last driver stopped.
func (d *driver) performOutstanding(life context.Context, resumed bool) error {
	switch {
	case !resumed:
		return d.perform(life, d.f.last.Start, nil)
	case d.f.hasEnded() || d.f.stopped != nil:
		return nil
	case d.f.cancel != nil:
		d.lookUpOrWithdraw(life)
		return nil
	}
	again := ResumeRecord{Holder: d.e.Holder, Build: d.e.Build, Now: d.f.now}
	underWay := make(map[uint64]bool, len(d.f.marked))
	var effects []bt.Effect
	for _, op := range d.f.order {
		effect := d.f.open[op]
		effects = append(effects, effect.Effect)
		underWay[op] = d.f.marked[op]
		if !effect.Once && !d.wasNeverDriven() { // otherwise no process has started it yet
			again.Repeated = append(again.Repeated, op)
		}
	}
	if err := d.append(life, KindResume, &again); err != nil {
		return err
	}
	return d.perform(life, effects, underWay)
}

// complete appends a receipt and performs what follows; it drops one of an operation that was halted.
func (d *driver) complete(life context.Context, c *CompletionRecord) error {
	delete(d.cancels, c.Op)
	if _, open := d.f.open[c.Op]; !open {
		return nil
	}
	c.Now = d.now()
	d.lastReceipt = c
	return d.input(life, KindCompletion, c)
}

// input appends one record on which the tree decides, and performs what follows.
func (d *driver) input(life context.Context, kind string, v any) error {
	if err := d.append(life, kind, v); err != nil {
		return err
	}
	return d.perform(life, d.f.last.Start, nil)
}

// append makes a record durable, and folds it. v points to one of the record types.
func (d *driver) append(life context.Context, kind string, v any) error {
	data, err := encode(kind, v)
	if err != nil {
		return err
	}
	rec := d.e.newRecord(d.next, d.e.Clock.Now(), kind, data)
	if !bytes.Equal(rec.Data, data) { // a secret was taken out
		return d.commit(life, []journal.Record{rec})
	}
	if err := d.e.commit(life, d.key(), []journal.Record{rec}, nil); err != nil {
		return err
	}
	d.a.decode(v)
	return d.foldAndShowRecord(rec, v)
}

func (d *driver) commit(life context.Context, recs []journal.Record) error {
	if err := d.e.commit(life, d.key(), recs, nil); err != nil {
		return err
	}
	return d.foldAndShow(recs)
}

// foldAndShow folds records that are in the journal: all of the run's on a resume, else those just appended. It shows
// each to performers and watchers before the tree decides on it, and cancels what the tree withdraws.
func (d *driver) foldAndShow(recs []journal.Record) error {
	for _, rec := range recs {
		body, err := d.a.read(rec)
		if err == nil {
			err = d.foldAndShowRecord(rec, body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// foldAndShowRecord does so with one record, whose decoded content is body.
func (d *driver) foldAndShowRecord(rec journal.Record, body any) error {
	d.showRecord(rec, body)
	step, err := d.f.Take(rec.Seq, body)
	if err == nil && step {
		d.showStep(rec.Seq, body)
	}
	return err
}

func (d *driver) showStep(seq int64, body any) {
	d.feed.step(d.f.lastStep())
	if c, is := body.(*CompletionRecord); is {
		d.feed.settleDraft(c.Op, seq)
	}
	for _, op := range d.f.last.Cancel {
		if stop := d.cancels[op]; stop != nil {
			stop(ErrWithdrawn)
		}
		d.feed.withdraw(op)
	}
}

// showRecord shows a record that is in the journal to performers and watchers.
func (d *driver) showRecord(rec journal.Record, body any) {
	d.next++
	d.view.add(rec, body)
	d.feed.record(rec)
}

// contain turns a panic of an assistant's code into an error, which ends neither process nor other runs.
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

// logText is an error as text for the log, without the value of a panic: it may hold a user's words.
func logText(err error) string {
	if p, ok := errors.AsType[*panicked](err); ok {
		return p.what + " panicked: " + wordless(p.value)
	}
	return err.Error()
}
