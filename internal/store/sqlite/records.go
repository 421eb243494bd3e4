package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sibyl/internal/journal"
)

// nextRecord is the number with which a run goes on.
const nextRecord = `(SELECT coalesce(max(key) + 1 - (run.no << 24), 0) FROM record WHERE key >= run.no << 24 AND key < (run.no + 1) << 24)`

// Append implements journal.Store.
func (db *DB) Append(
	ctx context.Context, owner journal.Owner, run string, recs []journal.Record, end *journal.End,
) error {
	if err := journal.CheckAppend(recs, end); err != nil {
		return fmt.Errorf("run %q: %w", run, err)
	}
	return db.write(ctx, func(t tx) error {
		if err := t.append(owner, run, recs); err != nil || end == nil {
			return err
		}
		return t.finish(owner, run, *end)
	})
}

// append adds records to a run that is running and has come that far.
func (t tx) append(owner journal.Owner, run string, recs []journal.Record) error {
	if len(recs) == 0 {
		return nil
	}
	at, err := t.running(owner, run, recs[0].Seq)
	if err != nil {
		return err
	}
	for _, rec := range recs {
		if err := t.run(`INSERT INTO record (key, at, kind, data) VALUES (?, ?, ?, ?)`,
			at.no<<24|rec.Seq, rec.At.UnixMilli(), rec.Kind, notNull(rec.Data)); err != nil {
			return err
		}
	}
	at.next += int64(len(recs))
	t.known.keepRunning(run, at)
	return nil
}

// running returns where a run stands that may go on with the record of that number.
func (t tx) running(owner journal.Owner, run string, next int64) (place, error) {
	if at, ok := t.known.running[run]; ok && at.owner == owner && at.next == next {
		return at, nil
	}
	r, err := t.theRun(owner, run)
	if err == nil {
		err = r.AllowAppend(next)
	}
	if err != nil {
		return place{}, err
	}
	no, err := rows(t, firstInt, `SELECT no FROM run WHERE id = ?`, run)
	if err != nil {
		return place{}, err
	}
	return place{owner, no[0], next}, nil
}

// finish ends a run that records were just appended to.
func (t tx) finish(owner journal.Owner, run string, end journal.End) error {
	var no any = t.known.running[run].no
	delete(t.known.running, run)
	if err := t.run(`
		UPDATE run SET status = ?, ended_at = ?, lease_holder = '', lease_until = NULL, tries = 0, reason = ?, summary = ? WHERE no = ?`,
		string(end.Status), maybe(end.At), end.Reason, notNull(end.Summary), no); err != nil {
		return err
	}
	if err := t.run(`DELETE FROM claim WHERE run = ?`, run); err != nil {
		return err
	}
	if len(end.Pending) > 0 {
		r, err := t.theRun(owner, run)
		if err != nil {
			return err
		}
		for _, p := range end.Left(r) {
			if err := t.insertPending(p); err != nil {
				return err
			}
		}
	}
	return t.run(`UPDATE session SET updated_at = ? WHERE id = (SELECT session FROM run WHERE no = ?) AND updated_at < ?`,
		end.At.UnixMilli(), no, end.At.UnixMilli())
}

// Records implements journal.Store.
func (db *DB) Records(ctx context.Context, owner journal.Owner, run string, from int64) ([]journal.Record, error) {
	from = max(from, 0)
	recs, err := read(ctx, db, everything, scanRecord, `
		SELECT key - (no << 24), at, kind, data FROM run JOIN record ON key >= (no << 24) + ? AND key < (no + 1) << 24
		WHERE id = ? AND owner = ? ORDER BY key`, min(from, journal.MaxRecords), run, string(owner))
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

func scanRecord(r row) journal.Record {
	return journal.Record{Seq: r.int(0), At: r.time(1), Kind: r.text(2), Data: r.bytes(3)}
}

// keepBlobs counts one run more that names these contents, and returns their numbers as a JSON array.
func (t tx) keepBlobs(owner journal.Owner, contents [][]byte) (string, error) {
	var numbers []int64
	for _, bytes := range contents {
		no, err := t.blob(owner, bytes)
		if err != nil {
			return "", err
		}
		if slices.Contains(numbers, no) {
			continue
		}
		numbers = append(numbers, no)
		if err := t.run(`UPDATE blob SET runs = runs + 1 WHERE no = ?`, no); err != nil {
			return "", err
		}
	}
	array, err := json.Marshal(numbers)
	return string(array), err
}

// blob returns the number of a blob, which it makes if there is none.
func (t tx) blob(owner journal.Owner, bytes []byte) (no int64, err error) {
	if no, ok := t.known.blobs[blobKey{owner, string(bytes)}]; ok {
		return no, nil
	}
	hash := journal.BlobHash(bytes)
	found, err := rows(t, firstInt, `SELECT no FROM blob WHERE owner = ? AND hash = ?`, string(owner), hash)
	switch {
	case err != nil:
		return 0, err
	case len(found) > 0:
		no = found[0]
	default:
		if no, _, err = t.insert(`INSERT INTO blob (owner, hash, runs) VALUES (?, ?, 0)`, string(owner), hash); err != nil {
			return 0, err
		}
		if err := t.run(`INSERT INTO blob_content (blob, content) VALUES (?, ?)`, no, notNull(bytes)); err != nil {
			return 0, err
		}
	}
	t.known.keepBlob(owner, bytes, no)
	return no, nil
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
	found, err := read(ctx, db, everything, func(r row) []byte { return r.bytes(0) }, `
		SELECT content FROM blob JOIN blob_content ON blob_content.blob = blob.no WHERE owner = ? AND hash = ?`, string(owner), hash)
	content, err := only(found, err, "blob", hash)
	if err != nil {
		return nil, err
	}
	if journal.BlobHash(content) != hash {
		return nil, db.corrupt(fmt.Errorf("the content of blob %q has changed", hash))
	}
	return content, nil
}

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// maybe is the value of a time that may be unset: NULL.
func maybe(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}
