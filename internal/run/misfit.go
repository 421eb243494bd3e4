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

// misfit says of an error in folding a run that it lies in this build, which another may be without: not in the records,
// nor in the store.
func misfit(err error) bool {
	var broken *bt.LoadError
	return errors.As(err, &broken) || errors.Is(err, errNoAssistant) || errors.Is(err, errGiven) || errors.Is(err, ErrDiverged)
}

// misfits tells what to do with a run that this build can't fold.
func (e *Engine) misfits(id string, recs []journal.Record, cause error) error {
	return fmt.Errorf("%w: build %q wrote it, and the leaves of this one, %q, do not fit it; ‘sibyl run cancel %s’ ends it: %w",
		ErrMisfit, writer(recs), e.Build, id, cause)
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
		if again, err := decode[ResumeRecord](r); err == nil {
			build = again.Build
		}
	}
	return build
}

// abandon ends a run that this build can't fold, and of which the wish to stop is recorded. The caller holds its lease.
func (e *Engine) abandon(ctx context.Context, owner journal.Owner, id string, cause error) error {
	for range mostConflicts {
		r, err := e.Store.Run(ctx, owner, id)
		if err != nil {
			return err
		}
		recs, err := e.Store.Records(ctx, owner, id, 0)
		if err != nil {
			return err
		}
		last, err := e.lastRecords(r, recs, cause)
		if err != nil {
			return fmt.Errorf("run %s: %w", id, err)
		}
		err = e.Store.Append(ctx, owner, id, last, &journal.End{Status: journal.Cancelled, At: e.Clock.Now()})
		if !isConflict(err) {
			return err
		}
	}
	return fmt.Errorf("run %s: %w, again and again", id, journal.ErrConflict)
}

// lastRecords are the stop, where none is recorded yet, and the end of a run that is abandoned.
func (e *Engine) lastRecords(r journal.Run, recs []journal.Record, cause error) ([]journal.Record, error) {
	known, err := readKnown(recs)
	if err != nil {
		return nil, err
	}
	var last []journal.Record
	next, now := int64(len(recs)), e.Clock.Now()
	if known.stopped == nil {
		known.stopped = &StoppedRecord{Now: known.now}
		rec, err := e.record(next, now, KindStopped, known.stopped)
		if err != nil {
			return nil, err
		}
		last, next = append(last, rec), next+1
	}
	end := EndRecord{Status: journal.Cancelled, Now: known.now,
		Fault: &bt.Fault{Kind: KindCancelled, Reason: known.why(writer(recs), e.Build, cause)}}
	view := &View{ID: r.ID, Session: r.Session, Owner: r.Owner, Start: known.start, store: e.Store, recs: append(recs[:len(recs):len(recs)], last...)}
	end.Outcome = e.outcomeWithoutTree(view, known, end.Fault)
	rec, err := e.record(next, now, KindEnd, end)
	return append(last, rec), err
}

// outcomeWithoutTree is what the assistant makes of a tree in which nothing is written: an object without keys where it makes nothing.
func (e *Engine) outcomeWithoutTree(v *View, k known, fault *bt.Fault) json.RawMessage {
	const nothing = `{}`
	a := e.assistants[v.Start.Assistant]
	if a == nil {
		return json.RawMessage(nothing)
	}
	_, outcome, err := a.outcome(v, Ending{Tree: &bt.Tree{}, State: &bt.State{Now: k.now}, Status: bt.Idle, Fault: fault, Cancelled: true,
		Under: k.stopped.Under})
	if err != nil {
		e.Log.Warn("a run is ended without an outcome", "run", v.ID, "err", err)
		return json.RawMessage(nothing)
	}
	return outcome
}

// known is what the records of a run say without its tree.
type known struct {
	start   StartRecord
	cancel  CancelRecord // the first
	stopped *StoppedRecord
	unsure  []MarkRecord // Once effects of which nobody can tell whether they took effect
	now     int64
}

// readKnown reads records, of which one is a wish to stop.
func readKnown(recs []journal.Record) (known, error) {
	p, err := recall(recs)
	if err != nil {
		return known{}, err
	}
	k := known{start: p.start, cancel: *p.cancel, stopped: p.stopped}
	receipt := map[uint64]bool{}
	for _, in := range p.inputs {
		k.now = max(k.now, in.now)
		if in.done != nil {
			receipt[in.done.Op] = true
		}
	}
	if p.stopped != nil {
		k.now = max(k.now, p.stopped.Now)
		for _, c := range p.stopped.Under {
			receipt[c.Op] = c.Err == nil || c.Err.Kind != KindUnknown
		}
	}
	for _, r := range recs {
		if r.Kind != KindMark {
			continue
		}
		m, err := decode[MarkRecord](r)
		if err != nil {
			return known{}, err
		}
		if !receipt[m.Op] {
			k.unsure = append(k.unsure, m)
		}
	}
	return k, nil
}

// why says why a run was ended, and why no more is known of it.
func (k known) why(writer, build string, cause error) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s; build %q wrote the run, and the leaves of build %q, which ended it, do not fit it, so nothing else of it is known",
		k.cancel.Reason, writer, build)
	for _, m := range k.unsure {
		fmt.Fprintf(b, "; operation %d of %s had begun, and nobody can tell whether it took effect", m.Op, m.Leaf)
	}
	fmt.Fprintf(b, ": %s", strings.Join(strings.Fields(cause.Error()), " "))
	return b.String()
}
