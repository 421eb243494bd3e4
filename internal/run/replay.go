package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// ReplayOptions say what is to be different in a replay. The zero value changes nothing.
type ReplayOptions struct {
	TreeFile string // names Tree in messages
	Tree     []byte // decides in place of the run's own; nil: that one does
	// Texts gives texts that stand in place of the run's own of the same names. v holds the run as it was.
	Texts     func(ctx context.Context, v *View) ([]Text, error)
	PastFirst bool // go on behind the first difference, as long as the records have answers
}

// Replayed is what a replay found.
type Replayed struct {
	Run         string         `json:"run"`
	Status      journal.Status `json:"status"`   // of the recorded run
	Tree        string         `json:"tree"`     // file of the tree that decided in the replay
	OwnTree     bool           `json:"own_tree"` // it is the tree that the run began with
	Steps       int            `json:"steps"`    // that were replayed
	Effects     int            `json:"effects"`  // that were asked for in them
	Reached     Reach          `json:"reached"`
	Why         string         `json:"why,omitempty"` // why it ended there, where its tree does not say
	Detour      *Detour        `json:"detour,omitempty"`
	Differences []Difference   `json:"differences"`
	Trace       []TraceStep    `json:"-"` // of the steps that were replayed
}

// Reach is where a replay ended.
type Reach string

// The places where a replay ends.
const (
	ReachedEnd        Reach = "end"        // the tree ended
	ReachedStop       Reach = "stop"       // the recorded run was stopped there, not by its tree
	ReachedOpen       Reach = "open"       // the recorded run has not ended; all of it was replayed
	ReachedDifference Reach = "difference" // at the first one, as was wished
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
	Way       *Way             `json:"way,omitempty"`
}

// DifferenceKind tells differences apart.
type DifferenceKind string

// The kinds of difference, the gravest first.
const (
	OtherDecision DifferenceKind = "decision" // other effects are asked for or withdrawn, or the tree ends elsewhere
	OtherRequest  DifferenceKind = "request"  // the same leaf types ask, for something else
	OtherSending  DifferenceKind = "sending"  // the same requests, sent with something else: another prompt
	OtherOutcome  DifferenceKind = "outcome"  // all decisions are the same, and another result is made of them
)

// Moment is a step of a replay.
type Moment struct {
	Record int64 `json:"record"`             // that it takes in; of a timer the last before it
	Step   int   `json:"step,omitempty"`     // its place in what Explain gives, counted from 1; 0: the recorded run has no such step
	Timer  int64 `json:"timer_ms,omitempty"` // the run time of a timer that the recorded run has not
}

// Asked is an effect that a step asks for. Leaf, Kind and Payload are empty where the records have no more than its label.
type Asked struct {
	Leaf    string          `json:"leaf,omitempty"`
	Kind    string          `json:"kind,omitempty"`
	Label   string          `json:"label,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Record  int64           `json:"record,omitempty"` // its recorded completion; 0: there is none

	op     uint64 // of the recorded run; 0: not known
	digest string
}

// Name is what people know the effect by.
func (a Asked) Name() string { return nameOf(bt.Effect{Label: a.Label, Kind: a.Kind}) }

// ChangedRequest is the same decision with another request.
type ChangedRequest struct {
	Was     Asked    `json:"was"`
	Would   Asked    `json:"would"`
	Changes []Change `json:"changes"`
}

// ChangedEnding is a step after which only one of the two goes on, or both end otherwise.
type ChangedEnding struct {
	Was    string    `json:"was"`   // a status of BT.CPP
	Would  string    `json:"would"` // likewise
	Reason *bt.Fault `json:"reason,omitempty"`
}

// Sent is what an effect sends beyond its payload. Parts make it up; their hashes and tokens are zero where nobody knows them.
type Sent struct {
	Hash   string `json:"hash"`
	Tokens int    `json:"tokens"`
	Parts  []Part `json:"-"`
}

// Part is a named part of what is sent.
type Part struct {
	Name   string
	Hash   string
	Tokens int
}

// ChangedSending is the same request, sent with something else.
type ChangedSending struct {
	Request Asked         `json:"request"`
	Was     Sent          `json:"was"`
	Would   Sent          `json:"would"`
	Parts   []ChangedPart `json:"parts"`
	Build   bool          `json:"build,omitempty"` // of the run's own texts, too, this build composes something else
	Why     string        `json:"why,omitempty"`   // it can't be composed any more
}

// ChangedPart is a part that only one of the two has (the other has 0 tokens), or whose text differs.
type ChangedPart struct {
	Name  string `json:"name"`
	Was   int    `json:"was_tokens"`
	Would int    `json:"would_tokens"`
}

// Way is how the trees came to their decisions in one step. The first Same events are equal.
type Way struct {
	Same  int          `json:"same"`
	Was   []TraceEvent `json:"was"`
	Would []TraceEvent `json:"would"`
}

// Detour is the first step that goes another way and still decides the same.
type Detour struct {
	Moment
	Way Way `json:"way"`
}

// Replay folds a recorded run through its own tree or a changed one, with no effect performed and nothing written, and
// tells where the decisions differ. The run may have ended or not. The error is a *bt.LoadError if the tree does not load,
// ErrUnfit if this program can't run it on what the run began with, journal.ErrCorrupt if the records can't be read.
//
// An effect that the tree asks for is answered by the recorded completion of its leaf type and digest, which keeps its
// record number and its place among the others. So the same tree comes to the same state, step by step.
func (e *Engine) Replay(ctx context.Context, owner journal.Owner, id string, o ReplayOptions) (*Replayed, error) {
	row, err := e.Store.Run(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	recs, err := e.Store.Records(ctx, owner, id, 0)
	if err != nil {
		return nil, err
	}
	p, err := recall(recs)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	r := &replayer{e: e, p: p, pastFirst: o.PastFirst, stands: map[uint64]bt.Effect{}, means: map[uint64]uint64{}, claimed: map[uint64]bool{},
		told: map[uint64]bool{}, delivered: map[int64]bool{}}
	if err := r.load(ctx, row, o); err != nil {
		return nil, err
	}
	r.found = &Replayed{Run: id, Status: row.Status, Tree: r.tree.File, OwnTree: r.own, Differences: []Difference{}}
	if err := r.dress(ctx, row, o); err != nil {
		return nil, err
	}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.found, nil
}

// load finds the tree that decides, and follows the run's own as far as this build still decides by it as recorded.
func (r *replayer) load(ctx context.Context, row journal.Run, o ReplayOptions) error {
	if r.a = r.e.assistants[r.p.start.Assistant]; r.a == nil {
		return fmt.Errorf("run %s: %w: this program has no assistant %q", row.ID, ErrUnfit, r.p.start.Assistant)
	}
	var broken *bt.LoadError
	_, own, err := r.e.treeOf(ctx, row.Owner, r.p.recs)
	switch {
	case errors.As(err, &broken) && o.Tree == nil:
		return fmt.Errorf("the tree that run %s began with does not load in this build; name another:\n%w", row.ID, err)
	case err != nil && broken == nil:
		return fmt.Errorf("run %s: %w", row.ID, err)
	}
	r.tree = own
	if o.Tree != nil {
		if r.tree, err = r.e.tree(r.a, o.TreeFile, o.Tree); err != nil {
			return err
		}
	}
	if own != nil {
		r.own = r.tree.Hash == own.Hash
		r.p.follow(own, r.e.Redact)
	}
	r.p.guess()
	return nil
}

// dress makes what the assistant's functions read the run by.
func (r *replayer) dress(ctx context.Context, row journal.Run, o ReplayOptions) error {
	recs := r.p.beforeEnd()
	r.view = &View{ID: row.ID, Session: row.Session, Owner: row.Owner, Start: r.p.start, store: r.e.Store, recs: recs}
	if o.Texts == nil {
		return nil
	}
	texts, err := o.Texts(ctx, r.view)
	if err != nil {
		return err
	}
	changed := r.p.start
	changed.Texts = slices.Clone(changed.Texts)
	blobs := map[string][]byte{}
	for _, t := range texts {
		i := slices.IndexFunc(changed.Texts, func(b NamedBlob) bool { return b.Name == t.Name })
		if i < 0 {
			return fmt.Errorf("%w: run %s keeps no text %s that could be changed", ErrUnfit, row.ID, t.Name)
		}
		changed.Texts[i].Blob = journal.BlobHash(t.Content)
		blobs[changed.Texts[i].Blob] = t.Content
	}
	r.changed = &View{ID: row.ID, Session: row.Session, Owner: row.Owner, Start: changed, store: lentBlobs{r.e.Store, blobs}, recs: recs}
	return nil
}

// lentBlobs is a store with contents that are kept nowhere.
type lentBlobs struct {
	journal.Store
	blobs map[string][]byte
}

func (l lentBlobs) Blob(ctx context.Context, owner journal.Owner, hash string) ([]byte, error) {
	if content, ok := l.blobs[hash]; ok {
		return content, nil
	}
	return l.Store.Blob(ctx, owner, hash)
}
