package run

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"sibyl/internal/journal"
)

// View is what performers and outcomes may read of a run: its start, its receipts by record number, and how earlier
// runs of the session ended. It is safe for concurrent use.
type View struct {
	ID      string
	Session string
	Owner   journal.Owner
	Start   StartRecord

	store journal.Store
	mu    sync.Mutex
	recs  []journal.Record
}

func (v *View) add(recs ...journal.Record) {
	v.mu.Lock()
	v.recs = append(v.recs, recs...)
	v.mu.Unlock()
}

// Records gives the records so far. Neither they nor their data are to be changed.
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
	return v.store.Blob(ctx, v.Owner, blob)
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
