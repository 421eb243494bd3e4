package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
		return t.end(owner, run, *end)
	})
}

// append adds records to a run that is running and has come that far. The key of the first is the fence.
func (t tx) append(owner journal.Owner, run string, recs []journal.Record) error {
	for _, rec := range recs {
		var seq any = rec.Seq
		added, err := t.change(`
			INSERT INTO record (key, at, kind, data)
			SELECT (no << 24) + ?, ?, ?, ? FROM run
			WHERE id = ? AND owner = ? AND status = 'running'
			  AND (? = 0 OR EXISTS (SELECT 1 FROM record WHERE key = (run.no << 24) + ? - 1))
			ON CONFLICT (key) DO NOTHING`,
			seq, rec.At.UnixMilli(), rec.Kind, notNull(rec.Data), run, string(owner), seq, seq)
		if err != nil {
			return err
		}
		if added == 0 {
			return t.refused(owner, run, rec.Seq)
		}
	}
	return nil
}

// refused says why a record was not added.
func (t tx) refused(owner journal.Owner, run string, next int64) error {
	r, err := t.theRun(owner, run)
	if err == nil {
		err = r.AllowAppend(next)
	}
	return err
}

// end ends a run.
func (t tx) end(owner journal.Owner, run string, end journal.End) error {
	var id any = run
	if err := t.run(`
		UPDATE run SET status = ?, ended_at = ?, lease_holder = '', lease_until = NULL, reason = ?, summary = ? WHERE id = ?`,
		string(end.Status), maybe(end.At), end.Reason, notNull(end.Summary), id); err != nil {
		return err
	}
	if err := t.run(`DELETE FROM claim WHERE run = ?`, id); err != nil {
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
	return t.run(`UPDATE session SET updated_at = ? WHERE id = (SELECT session FROM run WHERE id = ?) AND updated_at < ?`,
		end.At.UnixMilli(), id, end.At.UnixMilli())
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

// blob is a content and its name.
type blob struct {
	hash    string
	content []byte
}

// blobsOf returns contents, each once.
func blobsOf(contents [][]byte) []blob {
	blobs := make([]blob, 0, len(contents))
	for _, content := range contents {
		hash := journal.BlobHash(content)
		if !slices.ContainsFunc(blobs, func(b blob) bool { return b.hash == hash }) {
			blobs = append(blobs, blob{hash, content})
		}
	}
	return blobs
}

// keepBlobs counts one run more that names these contents, and returns their hashes as a JSON array.
func (t tx) keepBlobs(owner journal.Owner, blobs []blob) (string, error) {
	hashes := make([]string, len(blobs))
	for i, b := range blobs {
		hashes[i] = strconv.Quote(b.hash)
		known, err := t.change(`UPDATE blob SET runs = runs + 1 WHERE owner = ? AND hash = ?`, string(owner), b.hash)
		if err == nil && known == 0 {
			err = t.insertBlob(owner, b)
		}
		if err != nil {
			return "", err
		}
	}
	return "[" + strings.Join(hashes, ",") + "]", nil
}

func (t tx) insertBlob(owner journal.Owner, b blob) error {
	result, err := t.exec(`INSERT INTO blob (owner, hash, runs) VALUES (?, ?, 1)`, string(owner), b.hash)
	if err != nil {
		return err
	}
	no, err := result.LastInsertId()
	if err != nil {
		return err
	}
	return t.run(`INSERT INTO blob_content (blob, content) VALUES (?, ?)`, no, notNull(b.content))
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
