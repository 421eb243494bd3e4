package run

import (
	"cmp"
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

// way is how an effect is performed.
type way uint8

const (
	anew      way = iota
	underWay      // it was, in a crash: performed only if it is known not to have been
	lookedUp      // never performed any more, only looked up
	takenBack     // never performed any more: what goes on elsewhere for it is withdrawn
)

// perform starts effects. Once effects are marked first; those marked before a crash were under way in it.
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
		d.launch(life, d.f.open[e.Op], w)
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
		recs = append(recs, d.e.record(d.next+int64(len(recs)), d.e.Clock.Now(), KindMark, data))
	}
	if recs == nil {
		return nil
	}
	return d.commit(life, recs)
}

// lookUp asks what became of the Once effects of a run that is to stop, and withdraws what goes on elsewhere for
// others.
func (d *driver) lookUp(life context.Context) {
	for _, op := range d.f.order {
		switch e := d.f.open[op]; {
		case d.f.marked[op]:
			d.launch(life, e, lookedUp)
		case !e.Once && d.performer[e.Kind].Withdraw != nil:
			d.launch(life, e, takenBack)
		}
	}
}

// launch has an effect performed.
func (d *driver) launch(life context.Context, e asked, w way) {
	ctx, cancel := context.WithCancelCause(life)
	d.stop[e.Op] = cancel
	d.feed.open(e.Op)
	d.working.Go(func() {
		defer cancel(nil)
		c := d.observed(ctx, e, w)
		select {
		case d.finished <- c:
		case <-d.gone:
		}
	})
}

// run performs one effect and makes its receipt.
func (d *driver) run(ctx context.Context, e asked, w way) *CompletionRecord {
	began := d.e.Clock.Now()
	c := receiptOf(e)
	job := Job{View: d.view, Effect: e.Effect, Key: d.ID + "/" + strconv.FormatUint(e.Op, 10),
		Emit: func(p Piece) { p.Op = e.Op; d.feed.piece(p) }}
	var err error
	if w == underWay || w == lookedUp {
		c.Result, c.Found, err = d.find(ctx, job)
	}
	switch {
	case err != nil || c.Found:
	case w == lookedUp:
		err = &bt.Fault{Kind: KindCancelled, Reason: nameOf(e.Effect) + " was not performed before the run was stopped"}
	case w == takenBack:
		err = d.withdraw(context.WithoutCancel(ctx), job)
	default:
		c.Result, err = d.do(ctx, job)
	}
	if err != nil {
		c.Err = faultOf(ctx, err)
		var s *Suspended
		c.suspended = errors.As(err, &s)
		if !e.Once && isAway(err) {
			c.away = err
		}
	}
	c.bound(MaxResult)
	c.TookMS = d.e.Clock.Now().Sub(began).Milliseconds()
	return c
}

// bound leaves out a result that is larger than room, and says so.
func (c *CompletionRecord) bound(room int) {
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
	c.Err = &bt.Fault{Kind: KindTooLarge, Reason: cmp.Or(c.Label, c.Kind) + " was performed, but " + why}
}

// receiptOf is the receipt of an effect, without what came of it.
func receiptOf(e asked) *CompletionRecord {
	return &CompletionRecord{Op: e.Op, Leaf: e.Leaf, Kind: e.Kind, Label: e.Label, Digest: e.Digest, Payload: e.Payload,
		Once: e.Once}
}

func nameOf(e bt.Effect) string { return cmp.Or(e.Label, e.Kind) }

func (d *driver) do(ctx context.Context, job Job) (raw json.RawMessage, err error) {
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

// wordless tells a panic without what its value may quote: the error of the runtime that it is, or its type.
func wordless(r any) string {
	if err, ok := r.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a %T", r)
}

// find looks up whether a Once effect was performed before a crash. That nobody can tell is an error.
func (d *driver) find(ctx context.Context, job Job) (raw json.RawMessage, was bool, err error) {
	unknown := &bt.Fault{Kind: KindUnknown,
		Reason: nameOf(job.Effect) + " had begun when the program stopped, and nobody can tell whether it took effect"}
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

// withdraw ends what goes on elsewhere for an effect. The error says that it has no result.
func (d *driver) withdraw(ctx context.Context, job Job) error {
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

func faultOf(ctx context.Context, err error) *bt.Fault {
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
