package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"sibyl/internal/journal"
)

func (s *Store) Begin(ctx context.Context, b journal.Beginning) error {
	b, err := journal.NewBeginning(b)
	if err != nil {
		return err
	}
	begun := &run{Run: b.Run, records: copied(b.Records)}
	contents := make(map[owned][]byte, len(b.Blobs))
	for _, content := range b.Blobs {
		blob := owned{b.Run.Owner, journal.BlobHash(content)}
		begun.blobs = append(begun.blobs, blob)
		contents[blob] = bytes.Clone(content)
	}
	return s.change(ctx, func() error {
		if err := s.allowBegin(b); err != nil {
			return err
		}
		if b.Session != nil {
			s.sessions[b.Session.ID] = *b.Session
		}
		delete(s.pending, b.Run.Session)
		maps.Copy(s.blobs, contents)
		for _, key := range b.Claims {
			s.claims[owned{b.Run.Owner, key}] = b.Run.ID
		}
		s.runs[b.Run.ID] = begun
		s.touch(b.Run.Session, b.Run.StartedAt)
		return nil
	})
}

// allowBegin says whether a run may begin so.
func (s *Store) allowBegin(b journal.Beginning) error {
	if b.Session != nil {
		_, taken := s.sessions[b.Session.ID]
		if _, was := s.graves[b.Session.ID]; taken || was {
			return fmt.Errorf("session %q: %w", b.Session.ID, journal.ErrExists)
		}
	} else if _, err := s.session(b.Run.Owner, b.Run.Session); err != nil {
		return err
	}
	if _, taken := s.runs[b.Run.ID]; taken {
		return fmt.Errorf("run %q: %w", b.Run.ID, journal.ErrExists)
	}
	for _, id := range b.Consume {
		if !slices.ContainsFunc(s.pending[b.Run.Session], func(p journal.Pending) bool { return p.ID == id && p.Open(b.Run.StartedAt) }) {
			return journal.Consumed(id)
		}
	}
	for _, key := range b.Claims {
		if holder, taken := s.claims[owned{b.Run.Owner, key}]; taken {
			return &journal.ClaimedError{Key: key, Run: holder}
		}
	}
	return nil
}

func (s *Store) Append(ctx context.Context, owner journal.Owner, id string, recs []journal.Record, end *journal.End) error {
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
		if end != nil {
			if err := s.end(r, *end); err != nil {
				return err
			}
		}
		r.records = append(r.records, recs...)
		r.Records = int64(len(r.records))
		return nil
	})
}

func (s *Store) end(r *run, end journal.End) error {
	pending := s.pending[r.Session]
	for _, p := range end.Left(r.Run) {
		if slices.ContainsFunc(pending, func(other journal.Pending) bool { return other.ID == p.ID }) {
			return fmt.Errorf("pending row %q: %w", p.ID, journal.ErrExists)
		}
		pending = append(pending, p)
	}
	slices.SortFunc(pending, func(a, b journal.Pending) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	s.pending[r.Session] = pending
	r.Status, r.EndedAt, r.Reason, r.Summary = end.Status, journal.Millis(end.At), end.Reason, append(r.Summary, end.Summary...)
	r.LeaseHolder, r.LeaseUntil, r.Tries = "", time.Time{}, 0
	s.free(r)
	s.touch(r.Session, r.EndedAt)
	return nil
}

// free frees what a run claims.
func (s *Store) free(r *run) {
	maps.DeleteFunc(s.claims, func(c owned, holder string) bool { return c.owner == r.Owner && holder == r.ID })
}

// listed returns a run as lists show it, sharing no memory with it.
func (r *run) listed(summary bool) journal.Run {
	found := r.Run
	found.Summary = nil
	if summary {
		found.Summary = bytes.Clone(r.Summary)
	}
	return found
}

func (s *Store) Run(ctx context.Context, owner journal.Owner, id string) (journal.Run, error) {
	return look(ctx, s, func() (journal.Run, error) {
		r, err := s.run(owner, id)
		if err != nil {
			return journal.Run{}, err
		}
		return r.listed(true), nil
	})
}

func (s *Store) Runs(ctx context.Context, owner journal.Owner, f journal.Filter) ([]journal.Run, error) {
	return look(ctx, s, func() (list []journal.Run, err error) {
		for _, r := range latest(s.runs, f.After, f.Limit, func(r *run) bool {
			return r.Owner == owner && (f.Session == "" || r.Session == f.Session) &&
				(f.Assistant == "" || r.Assistant == f.Assistant) && (f.Status == "" || r.Status == f.Status)
		}) {
			list = append(list, r.listed(f.Summaries))
		}
		return list, nil
	})
}

func (s *Store) Records(ctx context.Context, owner journal.Owner, id string, from int64) ([]journal.Record, error) {
	return look(ctx, s, func() ([]journal.Record, error) {
		r, err := s.run(owner, id)
		if err != nil {
			return nil, err
		}
		return copied(r.records[min(max(from, 0), r.Records):]), nil
	})
}

func (s *Store) Blob(ctx context.Context, owner journal.Owner, hash string) ([]byte, error) {
	return look(ctx, s, func() ([]byte, error) {
		if found, ok := s.blobs[owned{owner, hash}]; ok {
			return bytes.Clone(found), nil
		}
		return nil, fmt.Errorf("blob %q: %w", hash, journal.ErrNotFound)
	})
}

func (s *Store) Pending(ctx context.Context, owner journal.Owner, session string, now time.Time) ([]journal.Pending, error) {
	return look(ctx, s, func() (list []journal.Pending, err error) {
		for _, p := range s.pending[session] {
			if p.Owner == owner && p.Open(now) {
				p.Data = bytes.Clone(p.Data)
				list = append(list, p)
			}
		}
		return list, nil
	})
}

func (s *Store) Claimed(ctx context.Context, owner journal.Owner, key string) (string, error) {
	return look(ctx, s, func() (string, error) {
		if id, held := s.claims[owned{owner, key}]; held {
			return id, nil
		}
		return "", fmt.Errorf("claim %q: %w", key, journal.ErrNotFound)
	})
}

func (s *Store) Acquire(ctx context.Context, owner journal.Owner, id, holder string, now, until time.Time) error {
	return s.change(ctx, func() error {
		r, err := s.run(owner, id)
		if err != nil {
			return err
		}
		if err := r.AllowAcquire(holder, now); err != nil {
			return err
		}
		r.Run = r.Taken(holder, until)
		return nil
	})
}

func (s *Store) Release(ctx context.Context, owner journal.Owner, id, holder string, rest time.Time) error {
	return s.change(ctx, func() error {
		r, err := s.run(owner, id)
		if err == nil && holder != "" && r.LeaseHolder == holder {
			r.LeaseHolder, r.LeaseUntil, r.Tries = "", time.Time{}, max(r.Tries-1, 0)
			if !rest.IsZero() {
				r.LeaseUntil = journal.Millis(rest)
			}
		}
		return err
	})
}

func (s *Store) Settle(ctx context.Context, owner journal.Owner, id, holder string) error {
	return s.change(ctx, func() error {
		r, err := s.run(owner, id)
		if err == nil && holder != "" && r.LeaseHolder == holder {
			r.Tries = 0
		}
		return err
	})
}

func (s *Store) Renew(ctx context.Context, holder string, runs []journal.Key, until time.Time) error {
	if err := journal.CheckHolder(holder); err != nil {
		return err
	}
	return s.change(ctx, func() error {
		for _, k := range runs {
			if r, err := s.run(k.Owner, k.Run); err == nil && r.LeaseHolder == holder {
				r.LeaseUntil = journal.Millis(until)
			}
		}
		return nil
	})
}

func (s *Store) Standing(ctx context.Context, runs []journal.Key) ([]journal.Standing, error) {
	return look(ctx, s, func() (list []journal.Standing, err error) {
		for _, k := range runs {
			if r, err := s.run(k.Owner, k.Run); err == nil {
				list = append(list, journal.Standing{Key: k, Records: r.Records, Status: r.Status, LeaseHolder: r.LeaseHolder})
			}
		}
		return list, nil
	})
}

func (s *Store) Stranded(ctx context.Context, at journal.When, limit int) ([]journal.Run, error) {
	return look(ctx, s, func() (list []journal.Run, err error) {
		driven := make(map[journal.Owner]int)
		for _, r := range s.runs {
			switch {
			case r.Stranded(at):
				list = append(list, r.listed(false))
			case r.Driven(at):
				driven[r.Owner]++
			}
		}
		journal.Turns(list, driven)
		return list[:min(len(list), journal.Limit(limit))], nil
	})
}

// Census implements journal.Store.
func (s *Store) Census(ctx context.Context, at journal.When) ([]journal.Count, error) {
	return look(ctx, s, func() ([]journal.Count, error) {
		return journal.Counted(func(yield func(journal.Run) bool) {
			for _, r := range s.runs {
				if !yield(r.Run) {
					return
				}
			}
		}, at), nil
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
