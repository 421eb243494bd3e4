package run

import (
	"context"
	"errors"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// Suspended is the error of a performer that can't perform its effect for now: the run stops short of it, and whoever
// resumes the run performs it again. A result beside it is what had arrived.
type Suspended struct{ Fault *bt.Fault }

func (s *Suspended) Error() string { return s.Fault.Reason }

// SuspendRecord says that a run waits to be resumed: an effect could not be performed for now.
type SuspendRecord struct {
	Op    uint64    `json:"op"`
	Fault *bt.Fault `json:"fault"`
	Now   int64     `json:"now"`
}

// suspend leaves the run to whoever resumes it, and gives what there is to show of it: an EndRecord whose status is
// Running, and which is not in the journal. A request to stop, and an end that comes with what was under way, count
// more.
func (d *driver) suspend(life context.Context, c *CompletionRecord) (EndRecord, error) {
	delete(d.stop, c.Op)
	c.Now = d.now()
	d.a.Effects[c.Kind].decode(c)
	err := d.conclude(life, func() error {
		return d.append(life, KindSuspend, &SuspendRecord{Op: c.Op, Fault: c.Err, Now: c.Now})
	})
	if err != nil {
		return EndRecord{}, err
	}
	d.inHand = c
	if end, err := d.depart(life); !errors.Is(err, ErrLeft) {
		return end, err
	}
	o, err := d.a.outcome(d.view, Ending{Tree: d.tree, State: d.f.state, Status: bt.Running, Fault: c.Err, Suspended: true, Under: []CompletionRecord{*c}})
	if err != nil {
		return EndRecord{}, err
	}
	d.suspended, d.rest = true, d.e.Clock.Now().Add(d.restOfSuspended())
	return EndRecord{Status: journal.Running, Reason: o.Reason, Fault: c.Err, Now: c.Now, Outcome: d.e.Redact(o.result)}, nil
}
