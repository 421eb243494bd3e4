package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// What this build may lack, or have otherwise, beside leaves.
var (
	errNoAssistant = errors.New("this program has no such assistant")
	errGiven       = errors.New("what the run is given")
)

// incompatible says of an error in folding a run that it lies in this build, which another may be without: not in the records,
// nor in the store.
func incompatible(err error) bool {
	var broken *bt.LoadError
	return errors.As(err, &broken) || errors.Is(err, errNoAssistant) || errors.Is(err, errGiven) || errors.Is(err, ErrDiverged)
}

// incompatibility tells what to do with a run that this build can't fold.
func (e *Engine) incompatibility(id string, recs []journal.Record, cause error) error {
	return fmt.Errorf("%w: build %q wrote it, and the leaves of this one, %q, do not fit it; ‘sibyl run cancel %s’ ends it: %w",
		ErrIncompatible, writer(recs), e.Build, id, cause)
}

// writer is the build that drove a run last.
func writer(recs []journal.Record) (build string) {
	if start, err := startOf(recs); err == nil {
		build = start.Build
	}
	for _, r := range recs {
		if r.Kind != KindResume {
			continue
		}
		if again, err := readAs[ResumeRecord](r); err == nil {
			build = again.Build
		}
	}
	return build
}

// abandon ends a run that this build can't or must not fold, and of which the request to stop is recorded. The caller holds its lease.
func (e *Engine) abandon(ctx context.Context, k journal.Key, cause error) error {
	for range mostConflicts {
		recs, err := e.Store.Records(ctx, k.Owner, k.Run, 0)
		if err != nil {
			return err
		}
		last, end, err := e.lastRecords(ctx, k, recs, cause)
		if err != nil {
			return fmt.Errorf("run %s: %w", k.Run, err)
		}
		if err = e.commit(ctx, k, last, end); !isConflict(err) {
			return err
		}
	}
	return fmt.Errorf("run %s: %w, again and again", k.Run, journal.ErrConflict)
}

// lastRecords are the stop, where none is recorded yet, and the end of a run that is abandoned.
func (e *Engine) lastRecords(ctx context.Context, k journal.Key, recs []journal.Record, cause error) ([]journal.Record, *journal.End, error) {
	r, err := e.Store.Run(ctx, k.Owner, k.Run)
	if err != nil {
		return nil, nil, err
	}
	known, err := readKnown(recs)
	if err != nil {
		return nil, nil, err
	}
	view := &View{ID: r.ID, Session: r.Session, Owner: r.Owner, store: e.Store}
	for i, rec := range recs {
		view.add(rec, known.bodies[i])
	}
	var last []journal.Record
	next, now := int64(len(recs)), e.Clock.Now()
	if known.stopped == nil {
		known.stopped = &StoppedRecord{Now: known.now}
		data, err := encode(KindStopped, known.stopped)
		if err != nil {
			return nil, nil, err
		}
		last = append(last, e.record(next, now, KindStopped, data))
	}
	end := EndRecord{Status: journal.Cancelled, Now: known.now,
		Fault: &bt.Fault{Kind: KindCancelled, Reason: known.why(writer(recs), e.Build, cause)}}
	o := e.outcomeWithoutTree(view, known, end.Fault)
	end.Reason, end.Outcome = o.Reason, o.result
	data, err := encode(KindEnd, &end)
	o.Status = journal.Cancelled
	return append(last, e.record(next+int64(len(last)), now, KindEnd, data)), o.end(e, now), err
}

// outcomeWithoutTree is what the assistant makes of a tree in which nothing is written: an object without keys where it makes nothing.
func (e *Engine) outcomeWithoutTree(v *View, k known, fault *bt.Fault) outcome {
	nothing := outcome{result: json.RawMessage(`{}`)}
	a := e.assistants[v.Start().Assistant]
	if a == nil {
		return nothing
	}
	for _, body := range k.bodies {
		a.decode(body)
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
	bodies  []any
	cancel  *CancelRecord // the first
	stopped *StoppedRecord
	unsure  []*MarkRecord // Once effects of which nobody can tell whether they took effect
	now     int64
}

// readKnown reads records, of which one is a request to stop.
func readKnown(recs []journal.Record) (k known, err error) {
	receipt := map[uint64]bool{}
	var marks []*MarkRecord
	for _, rec := range recs {
		body, err := Read(rec)
		if err != nil {
			return k, err
		}
		k.bodies = append(k.bodies, body)
		switch r := body.(type) {
		case *MarkRecord:
			marks = append(marks, r)
		case *CompletionRecord:
			receipt[r.Op], k.now = true, max(k.now, r.Now)
		case *TimeRecord:
			k.now = max(k.now, r.Now)
		case *CancelRecord:
			if k.cancel == nil {
				k.cancel = r
			}
		case *StoppedRecord:
			k.stopped, k.now = r, max(k.now, r.Now)
			for _, c := range r.Under {
				receipt[c.Op] = c.Err == nil || c.Err.Kind != KindUnknown
			}
		}
	}
	for _, m := range marks {
		if !receipt[m.Op] {
			k.unsure = append(k.unsure, m)
		}
	}
	return k, nil
}

// why says why a run was ended, and why no more is known of it.
func (k known) why(writer, build string, cause error) string {
	b := &strings.Builder{}
	if errors.Is(cause, errDiedOf) {
		fmt.Fprintf(b, "%s; nothing else of it is known", k.cancel.Reason)
	} else {
		fmt.Fprintf(b, "%s; build %q wrote the run, and the leaves of build %q, which ended it, do not fit it, so nothing else of it is known",
			k.cancel.Reason, writer, build)
	}
	for _, m := range k.unsure {
		fmt.Fprintf(b, "; operation %d of %s had begun, and nobody can tell whether it took effect", m.Op, m.Leaf)
	}
	fmt.Fprintf(b, ": %s", strings.Join(strings.Fields(cause.Error()), " "))
	return b.String()
}
