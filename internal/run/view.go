package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// View is what performers and outcomes may read of a run: its start, its receipts by record number, and how earlier
// runs of the session ended. It is safe for concurrent use.
type View struct {
	ID      string
	Session string
	Owner   journal.Owner
	Start   StartRecord
	Record0 journal.Record

	store journal.Store
	mu    sync.Mutex
	recs  []journal.Record
}

func (v *View) add(recs ...journal.Record) {
	v.mu.Lock()
	v.recs = append(v.recs, recs...)
	v.mu.Unlock()
}

// Records gives the records so far. The slice is the caller's; the data is not to be changed.
func (v *View) Records() []journal.Record {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.recs[:len(v.recs):len(v.recs)]
}

// Receipt gives the completion with that record number.
func (v *View) Receipt(seq int64) (CompletionRecord, error) {
	recs := v.Records()
	if seq < 0 || seq >= int64(len(recs)) || recs[seq].Kind != KindCompletion {
		return CompletionRecord{}, fmt.Errorf("run %s has no completion at record %d", v.ID, seq)
	}
	return decode[CompletionRecord](recs[seq])
}

// Given reads a key that the run began with.
func (v *View) Given(key string, into any) error {
	raw, ok := v.Start.Given[key]
	if !ok {
		return fmt.Errorf("run %s was not given {%s}", v.ID, key)
	}
	return json.Unmarshal(raw, into)
}

// Blob names the content of a text that the run began with; "" if it keeps none of that name.
func (v *View) Blob(name string) string {
	for _, t := range v.Start.Texts {
		if t.Name == name {
			return t.Blob
		}
	}
	return ""
}

// Text gives a text that the run began with.
func (v *View) Text(ctx context.Context, name string) ([]byte, error) {
	blob := v.Blob(name)
	if blob == "" {
		return nil, fmt.Errorf("run %s keeps no text %s", v.ID, name)
	}
	return v.store.Blob(ctx, blob)
}

// Ended gives the start and end of another run of the same owner.
func (v *View) Ended(ctx context.Context, id string) (StartRecord, EndRecord, error) {
	return ReadEnded(ctx, v.store, v.Owner, id)
}

// ReadEnded gives the start and end of a run; journal.ErrNotFound if it has not ended.
func ReadEnded(ctx context.Context, store journal.Store, owner journal.Owner, id string) (StartRecord, EndRecord, error) {
	recs, err := store.Records(ctx, owner, id, 0)
	if err != nil {
		return StartRecord{}, EndRecord{}, err
	}
	if len(recs) == 0 || recs[len(recs)-1].Kind != KindEnd {
		return StartRecord{}, EndRecord{}, fmt.Errorf("end of run %s: %w", id, journal.ErrNotFound)
	}
	start, err := decode[StartRecord](recs[0])
	if err != nil {
		return start, EndRecord{}, err
	}
	end, err := decode[EndRecord](recs[len(recs)-1])
	return start, end, err
}

// Fold takes records through a tree and gives the state they lead to, and the effects that are outstanding.
type folded struct {
	state   *bt.State
	last    bt.Result
	open    map[uint64]bt.Effect
	marked  map[uint64]bool
	order   []uint64 // of open, as they were asked for
	cancel  *CancelRecord
	stopped *StoppedRecord
	now     int64
	traced  int64 // the last record whose step has a trace
	broken  error // the tree broke in the last step
}

// fold is deterministic: it reads nothing but the records.
func fold(tree *bt.Tree, recs []journal.Record, on func(seq int64, e bt.Event), stepped func(seq int64, r bt.Result)) (*folded, error) {
	f := &folded{state: tree.NewState(), open: map[uint64]bt.Effect{}, marked: map[uint64]bool{}, traced: -1}
	for _, r := range recs {
		in, step, err := f.take(tree, r)
		if err != nil {
			return nil, err
		}
		if !step {
			continue
		}
		var events func(bt.Event)
		if on != nil {
			events = func(e bt.Event) { on(r.Seq, e) }
		}
		f.step(tree, in, events)
		if stepped != nil {
			stepped(r.Seq, f.last)
		}
	}
	return f, nil
}

// take reads one record; step says whether the tree takes it in.
func (f *folded) take(tree *bt.Tree, r journal.Record) (in bt.Input, step bool, err error) {
	switch r.Kind {
	case KindStart:
		s, err := decode[StartRecord](r)
		if err != nil {
			return in, false, err
		}
		return in, true, give(tree, f.state, s.Given)
	case KindCompletion:
		c, err := decode[CompletionRecord](r)
		if err != nil {
			return in, false, err
		}
		asked, ok := f.open[c.Op]
		if !ok || asked.Leaf != c.Leaf || Digest(asked) != c.Digest {
			return in, false, fmt.Errorf("%w: record %d completes operation %d of %s (%s), where the tree %s",
				ErrDiverged, r.Seq, c.Op, c.Leaf, c.Digest, askedFor(asked, ok))
		}
		f.close(c.Op)
		f.now = max(f.now, c.Now)
		return bt.Input{Now: f.now, Done: []bt.Completion{{Op: c.Op, Ref: r.Seq, Result: c.Result, Err: c.Err}}}, true, nil
	case KindTime:
		t, err := decode[TimeRecord](r)
		f.now = max(f.now, t.Now)
		return bt.Input{Now: f.now}, true, err
	case KindMark:
		m, err := decode[MarkRecord](r)
		f.marked[m.Op] = true
		return in, false, err
	case KindResume:
		res, err := decode[ResumeRecord](r)
		f.now = max(f.now, res.Now)
		return in, false, err
	case KindCancel:
		c, err := decode[CancelRecord](r)
		f.cancel = &c
		return in, false, err
	case KindStopped:
		s, err := decode[StoppedRecord](r)
		f.stopped = &s
		f.now = max(f.now, s.Now)
		return in, false, err
	case KindTrace:
		t, err := decode[TraceRecord](r)
		if n := len(t.Steps); n > 0 {
			f.traced = t.Steps[n-1].Record
		}
		return in, false, err
	case KindEnd:
		return in, false, nil
	}
	return in, false, fmt.Errorf("%w: record %d is of the unknown kind %q", journal.ErrCorrupt, r.Seq, r.Kind)
}

func askedFor(e bt.Effect, ok bool) string {
	if !ok {
		return "asks for no such operation"
	}
	return fmt.Sprintf("asks %s for something else (%s)", e.Leaf, Digest(e))
}

func (f *folded) step(tree *bt.Tree, in bt.Input, on func(bt.Event)) {
	res, err := tree.Step(f.state, in, on)
	f.last, f.broken = res, err
	if err != nil {
		return
	}
	for _, op := range res.Cancel {
		f.close(op)
	}
	for _, e := range res.Start {
		f.open[e.Op] = e
		f.order = append(f.order, e.Op)
	}
}

func (f *folded) close(op uint64) {
	delete(f.open, op)
	for i, o := range f.order {
		if o == op {
			f.order = append(f.order[:i:i], f.order[i+1:]...)
			return
		}
	}
}

// give sets the keys a run began with.
func give(tree *bt.Tree, s *bt.State, given map[string]json.RawMessage) error {
	var errs []error
	for key, raw := range given {
		errs = append(errs, tree.SetJSON(s, key, raw))
	}
	return errors.Join(errs...)
}

func isLeased(err error) bool   { return errors.Is(err, journal.ErrLeased) }
func isConflict(err error) bool { return errors.Is(err, journal.ErrConflict) }
