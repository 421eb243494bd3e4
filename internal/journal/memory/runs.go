package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sibyl/internal/journal"
)

// Begin implements journal.Store.
func (s *Store) Begin(ctx context.Context, r journal.Run, blobs [][]byte, recs []journal.Record) error {
	r, err := journal.NewRun(r, recs)
	if err != nil {
		return err
	}
	begun := &run{Run: r, records: copied(recs), blobs: make(map[string]bool, len(blobs))}
	contents := make(map[string][]byte, len(blobs))
	for _, content := range blobs {
		hash := journal.BlobHash(content)
		begun.blobs[hash] = true
		contents[hash] = bytes.Clone(content)
	}
	return s.change(ctx, func() error {
		if _, err := s.session(r.Owner, r.Session); err != nil {
			return err
		}
		if _, taken := s.runs[r.ID]; taken {
			return fmt.Errorf("run %q: %w", r.ID, journal.ErrExists)
		}
		for hash, content := range contents {
			s.blobs[hash] = content
		}
		s.runs[r.ID] = begun
		s.touch(r.Session, r.StartedAt)
		return nil
	})
}

// Append implements journal.Store.
func (s *Store) Append(
	ctx context.Context, owner journal.Owner, id string, recs []journal.Record, end *journal.End,
) error {
	if err := journal.CheckAppend(recs, end); err != nil {
		return fmt.Errorf("run %q: %w", id, err)
	}
	recs = copied(recs)
	return s.change(ctx, func() error {
		r, err := s.run(owner, id)
		if err != nil {
			return err
		}
		if err := r.AllowAppend(recs[0].Seq); err != nil {
			return err
		}
		r.records = append(r.records, recs...)
		r.Records = int64(len(r.records))
		if end != nil {
			r.Status, r.EndedAt = end.Status, journal.Millis(end.At)
			r.LeaseHolder, r.LeaseUntil = "", time.Time{}
			s.touch(r.Session, r.EndedAt)
		}
		return nil
	})
}

// Run implements journal.Store.
func (s *Store) Run(ctx context.Context, owner journal.Owner, id string) (found journal.Run, err error) {
	err = s.look(ctx, func() error {
		r, err := s.run(owner, id)
		if err == nil {
			found = r.Run
		}
		return err
	})
	return found, err
}

// Runs implements journal.Store.
func (s *Store) Runs(ctx context.Context, owner journal.Owner, f journal.Filter) (list []journal.Run, err error) {
	err = s.look(ctx, func() error {
		for _, r := range s.runs {
			if r.Owner == owner && (f.Session == "" || r.Session == f.Session) && (f.Status == "" || r.Status == f.Status) {
				list = append(list, r.Run)
			}
		}
		slices.SortFunc(list, func(a, b journal.Run) int {
			return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.ID, a.ID))
		})
		list = list[:min(len(list), journal.Limit(f.Limit))]
		return nil
	})
	return list, err
}

// Records implements journal.Store.
func (s *Store) Records(
	ctx context.Context, owner journal.Owner, id string, from int64,
) (recs []journal.Record, err error) {
	err = s.look(ctx, func() error {
		r, err := s.run(owner, id)
		if err != nil {
			return err
		}
		recs = copied(r.records[min(max(from, 0), r.Records):])
		return nil
	})
	return recs, err
}

// Blob implements journal.Store.
func (s *Store) Blob(ctx context.Context, hash string) (content []byte, err error) {
	err = s.look(ctx, func() error {
		found, ok := s.blobs[hash]
		if !ok {
			return fmt.Errorf("blob %q: %w", hash, journal.ErrNotFound)
		}
		content = bytes.Clone(found)
		return nil
	})
	return content, err
}

// Acquire implements journal.Store.
func (s *Store) Acquire(
	ctx context.Context, owner journal.Owner, id, holder string, now, until time.Time,
) error {
	return s.change(ctx, func() error {
		r, err := s.run(owner, id)
		if err != nil {
			return err
		}
		if err := r.AllowAcquire(holder, now); err != nil {
			return err
		}
		r.LeaseHolder, r.LeaseUntil = holder, journal.Millis(until)
		return nil
	})
}

// Release implements journal.Store.
func (s *Store) Release(ctx context.Context, owner journal.Owner, id, holder string) error {
	return s.change(ctx, func() error {
		r, err := s.run(owner, id)
		if err != nil {
			return err
		}
		if r.LeaseHolder == holder {
			r.LeaseHolder, r.LeaseUntil = "", time.Time{}
		}
		return nil
	})
}

// copied returns the records as they are kept, sharing no memory with recs. Data without a byte is nil.
func copied(recs []journal.Record) []journal.Record {
	kept := slices.Clone(recs)
	for i := range kept {
		kept[i].At = journal.Millis(kept[i].At)
		kept[i].Data = append(json.RawMessage(nil), kept[i].Data...)
	}
	return kept
}
