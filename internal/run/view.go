package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// View is what performers and outcomes may read of a run: its start, its receipts by record number, and the rows of
// earlier runs. It is safe for concurrent use.
type View struct {
	ID      string
	Session string
	Owner   journal.Owner

	store  journal.Store
	mu     sync.Mutex
	recs   []journal.Record
	bodies []any // of recs, as Read gives them; nil for traces
}

func (v *View) add(r journal.Record, body any) {
	v.mu.Lock()
	v.recs, v.bodies = append(v.recs, r), append(v.bodies, body)
	v.mu.Unlock()
}

// Records gives the records so far. Neither they nor their data are to be changed.
func (v *View) Records() []journal.Record {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.recs[:len(v.recs):len(v.recs)]
}

// Bodies gives what the records say, as Read does. They are not to be changed.
func (v *View) Bodies() []any {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.bodies[:len(v.bodies):len(v.bodies)]
}

// Start is the first record; an empty one of a run whose first record can't be read.
func (v *View) Start() *StartRecord {
	if all := v.Bodies(); len(all) > 0 {
		if s, ok := all[0].(*StartRecord); ok {
			return s
		}
	}
	return &StartRecord{}
}

// Receipt gives the completion with that record number, decoded once for all who read it: it is not to be changed.
func (v *View) Receipt(seq int64) (*CompletionRecord, error) {
	if all := v.Bodies(); seq >= 0 && seq < int64(len(all)) {
		if c, ok := all[seq].(*CompletionRecord); ok {
			return c, nil
		}
	}
	return nil, fmt.Errorf("run %s has no completion at record %d", v.ID, seq)
}

// Receipts gives all completions with their record numbers, in order.
func (v *View) Receipts() iter.Seq2[int64, *CompletionRecord] {
	return func(yield func(int64, *CompletionRecord) bool) {
		for seq, body := range v.Bodies() {
			if c, ok := body.(*CompletionRecord); ok && !yield(int64(seq), c) {
				return
			}
		}
	}
}

// ResultAt reads what the completion with that record number gave as T; an error if it failed.
func ResultAt[T any](v *View, seq int64) (result T, err error) {
	c, err := v.Receipt(seq)
	if err != nil {
		return result, err
	}
	if c.Err != nil {
		return result, fmt.Errorf("record %d: %w", seq, c.Err)
	}
	return bt.ResultOf[T](bt.Completion{Op: c.Op, Result: c.Result, Value: c.Value})
}

// AskedOf is what a job is asked with, as a P.
func AskedOf[P any](j Job) (p P, err error) {
	err = json.Unmarshal(j.Effect.Payload, &p)
	return p, err
}

// Given reads what the run began with into the struct that its tree is given.
func (v *View) Given(into any) error {
	if err := bt.DecodePorts(v.Start().Given, into); err != nil {
		return fmt.Errorf("run %s: %w", v.ID, err)
	}
	return nil
}

// Blob names the content of a text that the run began with; "" if it keeps none of that name.
func (v *View) Blob(name string) string {
	for _, t := range v.Start().Texts {
		if t.Name == name {
			return t.Blob
		}
	}
	return ""
}

// Text gives a text that the run began with.
func (v *View) Text(ctx context.Context, name string) (text []byte, err error) {
	blob := v.Blob(name)
	if blob == "" {
		return nil, fmt.Errorf("run %s keeps no text %s", v.ID, name)
	}
	err = whileAway(ctx, realClock{}, usualPatience, func() (err error) {
		text, err = v.store.Blob(ctx, v.Owner, blob)
		return err
	})
	return text, err
}

// Earlier gives the row of another run of the same owner, with its summary.
func (v *View) Earlier(ctx context.Context, id string) (r journal.Run, err error) {
	err = whileAway(ctx, realClock{}, usualPatience, func() (err error) {
		r, err = v.store.Run(ctx, v.Owner, id)
		return err
	})
	return r, err
}

// ReadEnd gives the end of a run; journal.ErrNotFound if it has not ended.
func ReadEnd(ctx context.Context, store journal.Store, owner journal.Owner, id string) (EndRecord, error) {
	r, err := store.Run(ctx, owner, id)
	if err != nil {
		return EndRecord{}, err
	}
	if r.Status == journal.Running || r.Records == 0 {
		return EndRecord{}, fmt.Errorf("end of run %s: %w", id, journal.ErrNotFound)
	}
	last, err := store.Records(ctx, owner, id, r.Records-1)
	if err != nil {
		return EndRecord{}, err
	}
	body, err := Read(last[0])
	if end, ok := body.(*EndRecord); ok && err == nil {
		return *end, nil
	}
	return EndRecord{}, fmt.Errorf("run %s has no end as its last record: %w", id, cmp.Or(err, journal.ErrCorrupt))
}
