// Package replay folds a recorded run through its own tree or a changed one, and tells where the decisions differ.
//
// Guarantees:
//   - No effect is performed, nothing is opened and nothing is written: neither to the journal nor elsewhere.
//   - An effect that the tree asks for is answered by the recorded completion of its leaf type and digest, which keeps
//     its record number and its place among the others. So the same tree comes to the same state, step by step.
//   - What a result says of the recorded run is in its records, or follows from them with a tree that decides the same.
//   - What a node is called makes no difference; neither does what a key is called that only leaves write.
//   - What a result says of the replay is redacted like a record.
package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// Options say what a replay changes. The zero value changes nothing.
type Options struct {
	TreeFile string // names Tree in messages
	Tree     []byte // decides in place of the run's own; nil: that one does
	// Texts gives texts that stand in place of the run's own of the same names. v holds the run as it was.
	Texts     func(ctx context.Context, v *run.View) ([]run.Text, error)
	PastFirst bool // continue after the first difference, as long as the decisions are the same
}

// Result is the result of a replay.
type Result struct {
	Run         string          `json:"run"`
	Status      journal.Status  `json:"status"`   // of the recorded run
	Tree        string          `json:"tree"`     // file of the tree that decided in the replay
	OwnTree     bool            `json:"own_tree"` // it is the tree that the run began with
	Steps       int             `json:"steps"`    // that were replayed
	Effects     int             `json:"effects"`  // that were asked for in them
	Reached     Reach           `json:"reached"`
	Why         string          `json:"why,omitempty"`         // why it ended there, where its tree does not say
	OtherTrace  *OtherTrace     `json:"other_trace,omitempty"` // before the first difference
	Differences []Difference    `json:"differences"`
	Trace       []run.TraceStep `json:"-"` // of the steps that were replayed
}

// Reach is where a replay ended.
type Reach string

const (
	ReachedEnd        Reach = "end"        // the tree ended
	ReachedStop       Reach = "stop"       // the recorded run was stopped there, not by its tree
	ReachedOpen       Reach = "open"       // the recorded run has not ended; all of it was replayed
	ReachedDifference Reach = "difference" // at the first one, as Options say
	ReachedCut        Reach = "cut"        // the records have no answer to what the tree asks for
)

// Difference is one step that decides otherwise than the recorded one, or an end with another outcome. Its kind is the
// gravest of what it lists.
type Difference struct {
	Kind DifferenceKind `json:"kind"`
	Moment
	Requests  []ChangedRequest `json:"requests,omitempty"`
	Missing   []Asked          `json:"missing,omitempty"`   // asked for by the recorded run only
	Extra     []Asked          `json:"extra,omitempty"`     // asked for by the replay only
	Kept      []Asked          `json:"kept,omitempty"`      // withdrawn by the recorded run only
	Withdrawn []Asked          `json:"withdrawn,omitempty"` // withdrawn by the replay only
	Ending    *ChangedEnding   `json:"ending,omitempty"`
	Sent      []ChangedSending `json:"sent,omitempty"`
	Outcome   []Change         `json:"outcome,omitempty"`
	Trace     *TraceDiff       `json:"trace,omitempty"`
}

// DifferenceKind tells differences apart.
type DifferenceKind string

// The kinds of difference, the gravest first.
const (
	OtherDecision DifferenceKind = "decision" // other effects are asked for or withdrawn, or the tree ends elsewhere
	OtherRequest  DifferenceKind = "request"  // the same leaf types ask, for something else
	// the same requests, sent with something else: another prompt, other tools
	OtherSending DifferenceKind = "sending"
	OtherOutcome DifferenceKind = "outcome" // all decisions are the same, and another result is made of them
)

// Moment is a step of a replay.
type Moment struct {
	Record int64 `json:"record"` // that it takes in; of a timer the last before it
	// its place in what Explain gives, counted from 1; 0: the recorded run has no such step
	Step  int   `json:"step,omitempty"`
	Timer int64 `json:"timer_ms,omitempty"` // the run time of a timer that the recorded run has not
}

// Asked is an effect that a step asks for: of the recorded run with its number there, else with its number in the
// replay. Payload is empty where the records do not have it.
type Asked struct {
	run.RequestedEffect
	Payload json.RawMessage `json:"payload,omitempty"`
	Record  int64           `json:"record,omitempty"` // its recorded completion; 0: there is none
}

// ChangedRequest is the same decision with another request. Changes are empty where the records do not have the
// payload.
type ChangedRequest struct {
	Was     Asked    `json:"was"`
	Would   Asked    `json:"would"`
	Changes []Change `json:"changes"`
}

// ChangedEnding is a step after which only one of the two runs continues, or both end differently.
type ChangedEnding struct {
	Was    string    `json:"was"`   // a status of BT.CPP
	Would  string    `json:"would"` // likewise
	Reason *bt.Fault `json:"reason,omitempty"`
}

// ChangedSending is the same request, sent with something else.
type ChangedSending struct {
	Request Asked         `json:"request"`
	Was     run.Sent      `json:"was"`
	Would   run.Sent      `json:"would"`
	Parts   []ChangedPart `json:"parts"`
	Build   bool          `json:"build,omitempty"` // of the run's own texts, too, this build composes something else
	Why     string        `json:"why,omitempty"`   // it can't be composed any more
}

// ChangedPart is a part of a request that differs, or that only one of the two has. Tokens are 0 if unknown.
type ChangedPart struct {
	Kind   string     `json:"kind,omitempty"` // as in run.Part
	Name   string     `json:"name"`
	Change PartChange `json:"change"`
	Was    int        `json:"was_tokens"`
	Would  int        `json:"would_tokens"`
}

// PartChange says how a part differs.
type PartChange string

const (
	PartAdded   PartChange = "added"
	PartRemoved PartChange = "removed"
	PartChanged PartChange = "changed"
)

// TraceDiff is the traces of one step, side by side. The first Same events are equal.
type TraceDiff struct {
	Same  int              `json:"same"`
	Was   []run.TraceEvent `json:"was"`
	Would []run.TraceEvent `json:"would"`
}

// OtherTrace is the first step in which other nodes act and which still decides the same.
type OtherTrace struct {
	Moment
	Trace TraceDiff `json:"trace"`
}

// Run replays a run, which may have ended or not. The error is a *bt.LoadError if the tree does not load, run.ErrUnfit
// if this program can't run it on what the run began with, journal.ErrCorrupt if the records can't be read.
func Run(ctx context.Context, e *run.Engine, owner journal.Owner, id string, o Options) (*Result, error) {
	row, err := e.Store.Run(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	recs, err := e.Store.Records(ctx, owner, id, 0)
	if err != nil {
		return nil, err
	}
	rec, err := readRecording(e, row, recs)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	r := &replayer{recording: rec, pastFirst: o.PastFirst, answers: map[uint64]Asked{}, unanswered: map[uint64]Asked{}}
	if err := r.loadTree(ctx, e, o); err != nil {
		return nil, err
	}
	if o.Texts != nil {
		texts, err := o.Texts(ctx, r.view)
		if err != nil {
			return nil, err
		}
		if r.changedView, err = r.view.WithTexts(texts); err != nil {
			return nil, err
		}
	}
	r.result.Status = row.Status
	if err := r.runSteps(ctx); err != nil {
		return nil, err
	}
	return r.result, nil
}

// loadTree loads the tree that decides in the replay.
func (r *replayer) loadTree(ctx context.Context, e *run.Engine, o Options) error {
	own, err := e.Tree(ctx, r.view.Owner, r.view.ID)
	var broken *bt.LoadError
	switch {
	case err == nil:
		if !r.steps[0].isKnown() {
			r.recording.decideByFold(own)
		}
	case !errors.As(err, &broken):
		return err
	case o.Tree == nil:
		return fmt.Errorf("the tree that run %s began with does not load in this build; name another:\n%w",
			r.view.ID, broken)
	}
	r.tree = own
	if o.Tree != nil {
		if r.tree, err = r.a.Leaves.Load(o.TreeFile, o.Tree, r.a.Options); err != nil {
			return err
		}
	}
	r.result = &Result{Run: r.view.ID, Tree: r.tree.File, OwnTree: own != nil && r.tree.Hash == own.Hash,
		Differences: []Difference{}}
	r.fold = run.NewFold(r.a, r.tree)
	return nil
}
