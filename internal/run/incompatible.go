package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/text"
)

// Ways, other than its leaves, in which this build may differ from the one that wrote a run.
var (
	errNoAssistant = errors.New("this program has no such assistant")
	errGiven       = errors.New("what the run is given")
)

// incompatible is an ErrIncompatible that is due to this build; another build may be able to fold the run.
type incompatible struct {
	run, writer, build string
	ended              bool
	cause              error
}

// Error shows only the first line of the cause: a tree of another build has many faults.
func (i *incompatible) Error() string {
	cause, _, _ := strings.Cut(i.cause.Error(), "\n")
	if i.ended {
		return fmt.Sprintf("build %q wrote run %s, and this one, %q, can't tell any more how it was decided: %s",
			i.writer, i.run, i.build, cause)
	}
	return fmt.Sprintf("%v: build %q wrote it, and the leaves of this one, %q, do not fit it; ‘sibyl run stop %s’ "+
		"ends it: %s", ErrIncompatible, i.writer, i.build, i.run, cause)
}

func (i *incompatible) Unwrap() []error { return []error{ErrIncompatible, i.cause} }

// explainFoldError wraps an error of folding a run: as incompatible, unless the records or the store are at fault.
func (e *Engine) explainFoldError(id string, recs []journal.Record, err error) error {
	var broken *bt.LoadError
	if errors.As(err, &broken) || errors.Is(err, errNoAssistant) || errors.Is(err, errGiven) ||
		errors.Is(err, ErrDiverged) {
		ended := len(recs) > 0 && recs[len(recs)-1].Kind == KindEnd
		return &incompatible{id, lastBuild(recs), e.Build, ended, err}
	}
	return fmt.Errorf("run %s: %w", id, err)
}

func lastBuild(recs []journal.Record) (build string) {
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

// abandon ends a run that this build can't or must not fold, and of which the request to stop is recorded: with what
// its records say without its tree. The caller holds its lease.
func (e *Engine) abandon(ctx context.Context, k journal.Key, cause error) error {
	return retryConflicts(k, func() error {
		row, err := e.Store.Run(ctx, k.Owner, k.Run)
		if err != nil {
			return err
		}
		recs, err := e.Store.Records(ctx, k.Owner, k.Run, 0)
		if err != nil {
			return err
		}
		a := e.assistants[row.Assistant]
		if a == nil {
			a = &Assistant{Name: row.Assistant, Outcome: func(*View, Ending) Outcome {
				return Outcome{Result: struct{}{}}
			}}
		}
		v, err := a.Recorded(e.Store, row, recs)
		if err != nil {
			return fmt.Errorf("run %s: %w", k.Run, err)
		}
		end, stopped := endWithoutTree(v, cause)
		o, err := a.encodeOutcome(v, end)
		if err != nil {
			e.Log.Warn("a run is ended without an outcome", "run_id", v.ID, "err", err)
			o = encodedOutcome{result: json.RawMessage(`{}`)}
		}
		o.Status = journal.Cancelled
		now := e.Clock.Now()
		var last []journal.Record
		add := func(kind string, body any) error {
			data, err := encode(kind, body)
			last = append(last, e.newRecord(int64(len(recs)+len(last)), now, kind, data))
			return err
		}
		if !stopped {
			err = add(KindStopped, &StoppedRecord{Now: end.State.Now})
		}
		ended := &EndRecord{Status: o.Status, Reason: o.Reason, Fault: end.Fault, Now: end.State.Now, Outcome: o.result}
		if err := errors.Join(err, add(KindEnd, ended)); err != nil {
			return err
		}
		return e.commit(ctx, k, last, o.journalEnd(e, now))
	})
}

// endWithoutTree computes the ending of a run from its records alone, and whether they include its stop. The fault says
// why the run was ended, and why no more is known of it.
func endWithoutTree(v *View, cause error) (end Ending, stopped bool) {
	end = Ending{Tree: &bt.Tree{}, State: &bt.State{}, Status: bt.Idle, Cancelled: true}
	reason := ""
	now := &end.State.Now
	unsure := map[uint64]*MarkRecord{}
	for _, body := range v.Bodies() {
		switch r := body.(type) {
		case *CancelRecord:
			reason = cmp.Or(reason, r.Reason)
		case *MarkRecord:
			unsure[r.Op] = r
		case *TimeRecord:
			*now = max(*now, r.Now)
		case *CompletionRecord:
			*now = max(*now, r.Now)
			delete(unsure, r.Op)
		case *StoppedRecord:
			*now = max(*now, r.Now)
			end.Unfolded, stopped = r.Under, true
			for _, c := range r.Under {
				if c.Err == nil || c.Err.Kind != KindUnknown {
					delete(unsure, c.Op)
				}
			}
		}
	}
	reason += ";"
	if i, is := errors.AsType[*incompatible](cause); is {
		cause = i.cause
		reason += fmt.Sprintf(" build %q wrote the run, and the leaves of build %q, which ended it, do not fit it, so",
			i.writer, i.build)
	}
	reason += " nothing else of it is known"
	for _, op := range slices.Sorted(maps.Keys(unsure)) {
		reason += fmt.Sprintf("; operation %d of %s had begun, and nobody can tell whether it took effect",
			op, unsure[op].Leaf)
	}
	end.Fault = &bt.Fault{Kind: KindCancelled, Reason: reason + ": " + text.OneLine(cause.Error())}
	return end, stopped
}
