package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sibyl/internal/journal"
)

// nextRecord selects the number of a run's next record. A record's key is run.no << 24 | its number, since
// journal.MaxRecords is 1 << 24.
const nextRecord = `(
	SELECT coalesce(max(key) + 1 - (run.no << 24), 0) FROM record WHERE key >= run.no << 24 AND key < (run.no + 1) << 24)`

// mostAtOnce limits the records that one statement adds.
const mostAtOnce = 200

// Append implements journal.Store. If the disk is full, it spends the reserve and tries once more.
func (db *DB) Append(
	ctx context.Context, owner journal.Owner, run string, recs []journal.Record, end *journal.End,
) error {
	if err := journal.CheckAppend(recs, end); err != nil {
		return fmt.Errorf("run %q: %w", run, err)
	}
	write := func(t *tx) error {
		if end != nil {
			// The session is locked first, as in DeleteSession, to avoid deadlocks.
			t.run(`
				UPDATE session SET updated_at = greatest(updated_at, $3)
				WHERE id = (SELECT session FROM run WHERE id = $1 AND owner = $2)`,
				run, string(owner), end.At.UnixMilli())
		}
		t.appendRecords(owner, run, recs)
		if end != nil {
			t.endRun(owner, run, *end)
		}
		return nil
	}
	err := db.write(ctx, write)
	if errors.Is(err, journal.ErrFull) && db.spendReserve() { // the records tell of effects that were already performed
		err = db.write(ctx, write)
	}
	if errors.Is(err, errNotAppended) {
		return db.whyNotAppended(ctx, owner, run, recs[0].Seq)
	}
	if err == nil {
		db.announce(journal.Key{Owner: owner, Run: run})
	}
	return err
}

// errNotAppended says that no records were appended; whyNotAppended finds the reason.
var errNotAppended = errors.New("not appended")

// added is the key of an added record, and the id of the transaction; "" in SQLite.
type added struct {
	key int64
	xid string
}

func scanAdded(r row, a *added) error { return r.Scan(&a.key, &a.xid) }

// appendRecords adds all records if the run is running and its last record is the one before them. Otherwise, also if
// another writer was first, fewer rows come back, and the transaction fails with errNotAppended. It locks the run
// against removal.
func (t *tx) appendRecords(owner journal.Owner, run string, recs []journal.Record) {
	for some := range slices.Chunk(recs, mostAtOnce) {
		args := []any{run, string(owner), some[0].Seq}
		for _, rec := range some {
			args = append(args, rec.Seq, rec.At.UnixMilli(), rec.Kind, notNull(rec.Data))
		}
		check := func(all []added) error {
			if len(all) < len(some) {
				return errNotAppended
			}
			// The proof also compares content: after a crash of the server, another transaction may get the same id and
			// add the same key.
			t.proof = proof{all[0].xid, `
				SELECT 1 FROM record WHERE key = $1 AND xmin = $2::text::xid8::xid AND at = $3 AND kind = $4 AND data = $5`,
				[]any{all[0].key, all[0].xid, some[0].At.UnixMilli(), some[0].Kind, notNull(some[0].Data)}}
			return nil
		}
		queryChecked(t, scanAdded, check, `
			INSERT INTO record (key, at, kind, data)
			SELECT no << 24 | column1, column2, column3, column4
			FROM run, (VALUES `+tuples(4, len(some), "bigint", "bigint", "text", "bytea")+`) AS given
			WHERE id = $1 AND owner = $2 AND status = 'running'
			AND ($3 = 0 OR $3 > 0 AND EXISTS (SELECT 1 FROM record WHERE key = (no << 24) + $3 - 1))
			FOR KEY SHARE OF run ON CONFLICT (key) DO NOTHING RETURNING key, `+thisTransaction, args...)
	}
}

// whyNotAppended returns why Append refused records from number next on. It never returns nil.
func (db *DB) whyNotAppended(ctx context.Context, owner journal.Owner, run string, next int64) error {
	r, err := db.Run(ctx, owner, run)
	if err == nil {
		err = r.AllowAppend(next)
	}
	if err == nil {
		err = fmt.Errorf("run %q: another was about to append record %d: %w", run, next, journal.ErrConflict)
	}
	return err
}

// endRun ends a run, not before its start; adds its pending rows, and frees its claims. appendRecords checks the run.
func (t *tx) endRun(owner journal.Owner, run string, end journal.End) {
	t.run(`
		UPDATE run SET status = $3, ended_at = CASE WHEN started_at > $4 THEN started_at ELSE $4 END,
			lease_holder = '', lease_until = NULL, tries = 0, reason = $5, summary = $6, counted = $7
		WHERE id = $1 AND owner = $2`, run, string(owner), string(end.Status), timeOrNull(end.At), end.Reason,
		notNull(end.Summary), oneIf(end.Used != nil))
	t.addUsed(owner, run, end.Used)
	for _, p := range end.Left(journal.Run{ID: run, Owner: owner}) {
		t.requireRow(existsError("pending row", p.ID), `
			INSERT INTO pending (id, owner, session, run, kind, data, created_at, expires_at)
			SELECT $1, owner, session, id, $3, CAST($4 AS bytea), CAST($5 AS bigint), CAST($6 AS bigint) FROM run WHERE id = $2
			ON CONFLICT (session, id) DO NOTHING RETURNING id`,
			p.ID, p.Run, p.Kind, notNull(p.Data), p.CreatedAt.UnixMilli(), timeOrNull(p.ExpiresAt))
	}
	t.run(`
		DELETE FROM claim WHERE owner = $2
		AND key IN (SELECT key FROM claim WHERE run = $1 AND owner = $2 ORDER BY key FOR UPDATE)`,
		run, string(owner))
}

// Records implements journal.Store.
func (db *DB) Records(ctx context.Context, owner journal.Owner, run string, from int64) ([]journal.Record, error) {
	from = max(from, 0)
	scan := func(r row, rec *journal.Record) error {
		return r.Scan(&rec.Seq, millis{&rec.At}, &rec.Kind, data{&rec.Data})
	}
	recs, err := readRows(ctx, db, scan, `
		SELECT key - (no << 24), at, kind, data FROM run JOIN record ON key >= (no << 24) + $3 AND key < (no + 1) << 24
		WHERE id = $1 AND owner = $2 ORDER BY key`, run, string(owner), min(from, journal.MaxRecords))
	if err != nil {
		return nil, err
	}
	if len(recs) == 0 {
		_, err := db.Run(ctx, owner, run)
		return nil, err
	}
	for i, rec := range recs {
		if want := from + int64(i); rec.Seq != want {
			return nil, db.corruptError(fmt.Errorf("run %q has no record %d, but has record %d", run, want, rec.Seq))
		}
	}
	return recs, nil
}

// Blob implements journal.Store. It returns journal.ErrCorrupt if the content does not match its hash.
func (db *DB) Blob(ctx context.Context, owner journal.Owner, hash string) ([]byte, error) {
	found, err := readRows(ctx, db, scanValue[[]byte], `
		SELECT content FROM blob JOIN blob_content ON blob_content.blob = blob.no WHERE owner = $1 AND hash = $2`,
		string(owner), hash)
	content, err := onlyRow(found, err, notFoundError("blob", hash))
	if err != nil {
		return nil, err
	}
	if journal.BlobHash(content) != hash {
		return nil, db.corruptError(fmt.Errorf("the content of blob %q has changed", hash))
	}
	return content, nil
}
