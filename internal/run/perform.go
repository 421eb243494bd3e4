package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

type performMode uint8

const (
	anew      performMode = iota
	underWay              // it was under way in a crash: looked up first
	lookedUp              // only looked up, never performed
	takenBack             // not performed: its work elsewhere is withdrawn
)

// perform starts effects. It marks Once effects first, except those in before, which were marked before a crash.
func (d *driver) perform(life context.Context, effects []bt.Effect, before map[uint64]bool) error {
	if d.departing {
		return nil
	}
	if err := d.mark(life, effects, before); err != nil {
		return err
	}
	for _, e := range effects {
		w := anew
		if before[e.Op] {
			w = underWay
		}
		d.startEffect(life, d.f.open[e.Op], w)
	}
	return nil
}

// mark records that Once effects are about to be performed.
func (d *driver) mark(life context.Context, effects []bt.Effect, before map[uint64]bool) error {
	var recs []journal.Record
	for _, e := range effects {
		if !e.Once || before[e.Op] {
			continue
		}
		data, err := encode(KindMark, MarkRecord{Op: e.Op, Leaf: e.Leaf, Digest: d.f.open[e.Op].Digest})
		if err != nil {
			return err
		}
		recs = append(recs, d.e.newRecord(d.next+int64(len(recs)), d.e.Clock.Now(), KindMark, data))
	}
	if recs == nil {
		return nil
	}
	return d.commit(life, recs)
}

// lookUpOrWithdraw, for a run that is to stop, looks up its marked Once effects, and withdraws the work elsewhere of
// the others.
func (d *driver) lookUpOrWithdraw(life context.Context) {
	for _, op := range d.f.order {
		switch e := d.f.open[op]; {
		case d.f.marked[op]:
			d.startEffect(life, e, lookedUp)
		case !e.Once && d.performer[e.Kind].Withdraw != nil:
			d.startEffect(life, e, takenBack)
		}
	}
}

// startEffect performs an effect in a new goroutine.
func (d *driver) startEffect(life context.Context, e openEffect, w performMode) {
	ctx, cancel := context.WithCancelCause(life)
	d.cancels[e.Op] = cancel
	d.feed.open(e.Op)
	d.working.Go(func() {
		defer cancel(nil)
		c := d.performObserved(ctx, e, w)
		select {
		case d.finished <- c:
		case <-d.receiptsClosed:
		}
	})
}

// performEffect performs, looks up or withdraws one effect, and returns its receipt.
func (d *driver) performEffect(ctx context.Context, e openEffect, w performMode) *CompletionRecord {
	began := d.e.Clock.Now()
	c := newReceipt(e)
	c.Asked = decodeAs(d.a.Effects[e.Kind].payload, e.Payload)
	job := Job{View: d.view, Effect: e.Effect, Asked: c.Asked, Key: d.ID + "/" + strconv.FormatUint(e.Op, 10),
		Emit: func(p Piece) { p.Op = e.Op; d.feed.piece(p) }}
	var err error
	if w == underWay || w == lookedUp {
		c.Result, c.Found, err = d.lookUpEffect(ctx, job, c.Name())
	}
	switch {
	case err != nil || c.Found:
	case w == lookedUp:
		err = &bt.Fault{Kind: KindCancelled, Reason: c.Name() + " was not performed before the run was stopped"}
	case w == takenBack:
		err = d.withdrawEffect(context.WithoutCancel(ctx), job)
	default:
		c.Result, err = d.callPerformer(ctx, job)
	}
	if err != nil {
		c.Err = asFault(ctx, err)
		var s *Suspended
		c.suspended = errors.As(err, &s)
		if !e.Once && isAway(err) {
			c.away = err
		}
	}
	c.limitResult(MaxResult)
	c.TookMS = d.e.Clock.Now().Sub(began).Milliseconds()
	return c
}

// limitResult drops a result that is larger than room, and says so in the fault.
func (c *CompletionRecord) limitResult(room int) {
	n := len(c.Result)
	if n <= room {
		return
	}
	c.Result = nil
	why := fmt.Sprintf("its result has %d bytes, and at most %d are kept of one", n, room)
	if c.Err != nil {
		c.Err = &bt.Fault{Kind: c.Err.Kind, Node: c.Err.Node, Reason: c.Err.Reason + "; " + why}
		return
	}
	c.Err = &bt.Fault{Kind: KindTooLarge, Reason: c.Name() + " was performed, but " + why}
}

// newReceipt returns the receipt of an effect, without a result.
func newReceipt(e openEffect) *CompletionRecord {
	return &CompletionRecord{RequestedEffect: e.requested(), Payload: e.Payload, Once: e.Once}
}

func (d *driver) callPerformer(ctx context.Context, job Job) (raw json.RawMessage, err error) {
	kind := job.Effect.Kind
	defer func() {
		if r := recover(); r != nil {
			d.e.Log.ErrorContext(ctx, "a performer panicked", "run_id", d.ID, "kind", kind, "panic", wordless(r),
				"stack", string(debug.Stack()))
			raw, err = nil, &bt.Fault{Kind: "panic", Reason: fmt.Sprintf("%s broke down: %v", kind, r)}
		}
	}()
	p, ok := d.performer[kind]
	if !ok {
		return nil, &bt.Fault{Kind: "unavailable", Reason: "nothing here performs " + kind}
	}
	result, err := p.Do(ctx, job)
	if err != nil && result == nil {
		return nil, err
	}
	raw, encErr := Marshal(result)
	if err == nil && encErr != nil {
		err = fmt.Errorf("result of %s: %w", kind, encErr)
	}
	return raw, err
}

// wordless describes a panic without its value, which may quote a user: by a runtime error, or by its type.
func wordless(r any) string {
	if err, ok := r.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a %T", r)
}

// lookUpEffect looks up whether a Once effect was performed before a crash; KindUnknown if that can't be told.
func (d *driver) lookUpEffect(ctx context.Context, job Job, name string) (raw json.RawMessage, was bool, err error) {
	unknown := &bt.Fault{Kind: KindUnknown,
		Reason: name + " had begun when the program stopped, and nobody can tell whether it took effect"}
	p := d.performer[job.Effect.Kind]
	if p.Found == nil {
		return nil, false, unknown
	}
	look := func() (result any, was bool, err error) {
		defer contain("looking it up", &err)
		return p.Found(ctx, job)
	}
	result, was, err := look()
	if err == nil && was {
		raw, err = Marshal(result)
	}
	if err != nil {
		unknown.Reason += ": " + err.Error()
		return nil, false, unknown
	}
	return raw, was, nil
}

// withdrawEffect withdraws the work elsewhere of an effect. It always returns a fault, since the effect has no result.
func (d *driver) withdrawEffect(ctx context.Context, job Job) error {
	fault := &bt.Fault{Kind: KindCancelled, Reason: "withdrawn"}
	end := func() (err error) {
		defer contain("withdrawing it", &err)
		return d.performer[job.Effect.Kind].Withdraw(ctx, job)
	}
	if err := end(); err != nil {
		fault.Reason += ", but it may go on: " + err.Error()
	}
	return fault
}

func asFault(ctx context.Context, err error) *bt.Fault {
	var f *bt.Fault
	var s *Suspended
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &s):
		return s.Fault
	case ctx.Err() != nil:
		return &bt.Fault{Kind: KindCancelled, Reason: "withdrawn"}
	}
	return &bt.Fault{Reason: err.Error()}
}
