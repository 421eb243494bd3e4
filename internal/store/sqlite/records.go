package sqlite

import (
	"context"
	"fmt"

	"sibyl/internal/journal"
)

// Append implements journal.Store.
func (db *DB) Append(
	ctx context.Context, owner journal.Owner, run string, recs []journal.Record, end *journal.End,
) error {
	if err := journal.CheckAppend(recs, end); err != nil {
		return fmt.Errorf("run %q: %w", run, err)
	}
	return db.write(ctx, func(t *tx) error {
		found, err := all(t, scanHead, `SELECT no, session, status, `+nextRecord+` FROM run WHERE id = ? AND owner = ?`,
			run, string(owner))
		head, err := only(found, err, "run", run)
		if err != nil {
			return err
		}
		head.ID = run
		if err := head.AllowAppend(recs[0].Seq); err != nil {
			return err
		}
		if err := t.insertRecords(head.no, recs); err != nil {
			return err
		}
		if end == nil {
			return nil
		}
		head.Owner = owner
		return t.end(head, *end)
	})
}

func (t *tx) end(head head, end journal.End) error {
	if err := t.exec(`
		UPDATE run SET status = ?, ended_at = ?, lease_holder = '', lease_until = NULL, reason = ?, summary = ? WHERE no = ?`,
		string(end.Status), maybe(end.At), end.Reason, notNull(end.Summary), head.no); err != nil {
		return err
	}
	if err := t.exec(`DELETE FROM claim WHERE run = ?`, head.no); err != nil {
		return err
	}
	for _, p := range end.Left(head.Run) {
		if err := t.insertPending(p); err != nil {
			return err
		}
	}
	return t.touch(head.Session, end.At)
}

// head is as much of a run as Append needs.
type head struct {
	no int64
	journal.Run
}

func scanHead(row row) (h head, err error) {
	err = row.Scan(&h.no, &h.Session, &h.Status, &h.Records)
	return h, err
}

func (t *tx) insertRecords(run int64, recs []journal.Record) error {
	for _, rec := range recs {
		if err := t.exec(`INSERT INTO record (run, seq, at, kind, data) VALUES (?, ?, ?, ?, ?)`,
			run, rec.Seq, rec.At.UnixMilli(), rec.Kind, notNull(rec.Data)); err != nil {
			return err
		}
	}
	return nil
}

// Records implements journal.Store.
func (db *DB) Records(ctx context.Context, owner journal.Owner, run string, from int64) ([]journal.Record, error) {
	from = max(from, 0)
	recs, err := read(ctx, db, scanRecord, `
		SELECT seq, at, kind, data FROM run JOIN record ON record.run = run.no
		WHERE run.id = ? AND run.owner = ? AND seq >= ? ORDER BY seq`, run, string(owner), from)
	if err != nil {
		return nil, err
	}
	if len(recs) == 0 {
		_, err := db.Run(ctx, owner, run)
		return nil, err
	}
	for i, rec := range recs {
		if want := from + int64(i); rec.Seq != want {
			return nil, db.corrupt(fmt.Errorf("run %q has no record %d, but has record %d", run, want, rec.Seq))
		}
	}
	return recs, nil
}

func scanRecord(row row) (journal.Record, error) {
	var rec journal.Record
	var at int64
	err := row.Scan(&rec.Seq, &at, &rec.Kind, (*[]byte)(&rec.Data))
	rec.At = instant(at)
	return rec, err
}

// linkBlob notes that a run refers to content, and keeps content if no run did before.
func (t *tx) linkBlob(run int64, content []byte) error {
	hash := journal.BlobHash(content)
	known, err := all(t, scanInt, `SELECT no FROM blob WHERE hash = ?`, hash)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		result, err := t.result(`INSERT INTO blob (hash, content) VALUES (?, ?)`, hash, notNull(content))
		if err != nil {
			return err
		}
		no, err := result.LastInsertId()
		if err != nil {
			return err
		}
		known = append(known, no)
	}
	return t.exec(`INSERT OR IGNORE INTO run_blob (run, blob) VALUES (?, ?)`, run, known[0])
}

// notNull keeps a nil slice from becoming NULL.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Blob implements journal.Store. Content that no longer has its hash is reported as journal.ErrCorrupt.
func (db *DB) Blob(ctx context.Context, owner journal.Owner, hash string) ([]byte, error) {
	found, err := read(ctx, db, scanBytes, `
		SELECT content FROM blob
		WHERE hash = ? AND EXISTS (SELECT 1 FROM run_blob JOIN run ON run.no = run_blob.run
		                           WHERE run_blob.blob = blob.no AND run.owner = ?)`, hash, string(owner))
	content, err := only(found, err, "blob", hash)
	if err != nil {
		return nil, err
	}
	if journal.BlobHash(content) != hash {
		return nil, db.corrupt(fmt.Errorf("the content of blob %q has changed", hash))
	}
	return content, nil
}

func scanBytes(row row) (content []byte, err error) {
	err = row.Scan(&content)
	return content, err
}
