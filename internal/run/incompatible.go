package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// What this build may lack, or have otherwise, beside leaves.
var (
	errNoAssistant = errors.New("this program has no such assistant")
	errGiven       = errors.New("what the run is given")
)

// incompatible is the ErrIncompatible of a run: its cause lies in this build, which another may be without.
type incompatible struct {
	run, writer, build string
	cause              error
}

func (i *incompatible) Error() string {
	return fmt.Sprintf("%v: build %q wrote it, and the leaves of this one, %q, do not fit it; ‘sibyl run cancel %s’ ends it: %v",
		ErrIncompatible, i.writer, i.build, i.run, i.cause)
}

func (i *incompatible) Unwrap() []error { return []error{ErrIncompatible, i.cause} }

// why tells of an error in folding a run, which is incompatible where it lies neither in the records nor in the store.
func (e *Engine) why(id string, recs []journal.Record, err error) error {
	var broken *bt.LoadError
	if errors.As(err, &broken) || errors.Is(err, errNoAssistant) || errors.Is(err, errGiven) || errors.Is(err, ErrDiverged) {
		return &incompatible{id, writer(recs), e.Build, err}
	}
	return fmt.Errorf("run %s: %w", id, err)
}

// writer is the build that drove a run last.
func writer(recs []journal.Record) (build string) {
	for _, r := range recs {
		switch body, _ := Read(r); r := body.(type) {
		case *StartRecord:
			build = r.Build
		case *ResumeRecord:
			build = r.Build
		}
	}
	return build
}

// abandon ends a run that this build can't or must not fold, and of which the request to stop is recorded. The caller
// holds its lease.
func (e *Engine) abandon(ctx context.Context, k journal.Key, cause error) error {
	return againstOthers(k, func() error {
		row, err := e.Store.Run(ctx, k.Owner, k.Run)
		if err != nil {
			return err
		}
		recs, err := e.Store.Records(ctx, k.Owner, k.Run, 0)
		if err != nil {
			return err
		}
		last, end, err := e.lastRecords(row, recs, cause)
		if err != nil {
			return fmt.Errorf("run %s: %w", k.Run, err)
		}
		return e.commit(ctx, k, last, end)
	})
}

// lastRecords are the stop, where none is recorded yet, and the end of a run that is abandoned.
func (e *Engine) lastRecords(row journal.Run, recs []journal.Record, cause error) ([]journal.Record, *journal.End, error) {
	a := e.assistants[row.Assistant]
	if a == nil {
		a = &Assistant{Name: row.Assistant}
	}
	view, err := a.Recorded(e.Store, row, recs)
	if err != nil {
		return nil, nil, err
	}
	known := knownOf(view)
	var last []journal.Record
	now := e.Clock.Now()
	add := func(kind string, body any) error {
		data, err := encode(kind, body)
		last = append(last, e.record(int64(len(recs)+len(last)), now, kind, data))
		return err
	}
	if known.stopped == nil {
		known.stopped = &StoppedRecord{Now: known.now}
		if err := add(KindStopped, known.stopped); err != nil {
			return nil, nil, err
		}
	}
	fault := &bt.Fault{Kind: KindCancelled, Reason: known.why(cause)}
	o := e.outcomeWithoutTree(a, view, known, fault)
	o.Status = journal.Cancelled
	err = add(KindEnd, &EndRecord{Status: o.Status, Reason: o.Reason, Fault: fault, Now: known.now, Outcome: o.result})
	return last, o.end(e, now), err
}

// outcomeWithoutTree is what the assistant makes of a tree in which nothing is written: an object without keys where it
// makes nothing.
func (e *Engine) outcomeWithoutTree(a *Assistant, v *View, k known, fault *bt.Fault) outcome {
	nothing := outcome{result: json.RawMessage(`{}`)}
	if a.Outcome == nil {
		return nothing
	}
	o, err := a.outcome(v, Ending{Tree: &bt.Tree{}, State: &bt.State{Now: k.now}, Status: bt.Idle, Fault: fault, Cancelled: true,
		Under: k.stopped.Under})
	if err != nil {
		e.Log.Warn("a run is ended without an outcome", "run_id", v.ID, "err", err)
		return nothing
	}
	return o
}

// known is what the records of a run say without its tree.
type known struct {
	reason  string         // of the first request to stop
	stopped *StoppedRecord // nil: none is recorded
	unsure  []*MarkRecord  // Once effects of which nobody can tell whether they took effect
	now     int64
}

// knownOf reads records, of which one is a request to stop.
func knownOf(v *View) (k known) {
	receipt := map[uint64]bool{}
	var marks []*MarkRecord
	for _, body := range v.Bodies() {
		switch r := body.(type) {
		case *MarkRecord:
			marks = append(marks, r)
		case *CompletionRecord:
			receipt[r.Op] = true
			k.now = max(k.now, r.Now)
		case *TimeRecord:
			k.now = max(k.now, r.Now)
		case *CancelRecord:
			k.reason = cmp.Or(k.reason, r.Reason)
		case *StoppedRecord:
			k.stopped = r
			k.now = max(k.now, r.Now)
			for _, c := range r.Under {
				receipt[c.Op] = c.Err == nil || c.Err.Kind != KindUnknown
			}
		}
	}
	k.unsure = slices.DeleteFunc(marks, func(m *MarkRecord) bool { return receipt[m.Op] })
	return k
}

// why says why a run was ended, and why no more is known of it.
func (k known) why(cause error) string {
	b := &strings.Builder{}
	b.WriteString(k.reason)
	if i, is := errors.AsType[*incompatible](cause); is {
		cause = i.cause
		fmt.Fprintf(b, "; build %q wrote the run, and the leaves of build %q, which ended it, do not fit it, so", i.writer, i.build)
	} else {
		b.WriteString(";")
	}
	b.WriteString(" nothing else of it is known")
	for _, m := range k.unsure {
		fmt.Fprintf(b, "; operation %d of %s had begun, and nobody can tell whether it took effect", m.Op, m.Leaf)
	}
	fmt.Fprintf(b, ": %s", strings.Join(strings.Fields(cause.Error()), " "))
	return b.String()
}
