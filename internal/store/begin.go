package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"sibyl/internal/journal"
)

// Begin implements journal.Store. It locks each row that a decision depends on. The order of locks is session, blobs,
// run, pending rows, claims, which avoids deadlocks between writes.
func (db *DB) Begin(ctx context.Context, b journal.Beginning) error {
	b, err := journal.NewBeginning(b)
	if err != nil {
		return err
	}
	if err = db.reserve(); err != nil {
		return err
	}
	err = db.write(ctx, func(t *tx) error { return t.beginRun(b) })
	if err == nil {
		db.announce(journal.Key{Owner: b.Run.Owner, Run: b.Run.ID})
	}
	return db.explainNoSession(ctx, b.Run.Owner, b.Run.Session, err)
}

func (t *tx) beginRun(b journal.Beginning) error {
	// Nobody else can have begun this run, so its row alone proves the commit.
	t.setProof(`SELECT 1 FROM run WHERE id = $1 AND owner = $2`, b.Run.ID, string(b.Run.Owner))
	t.beginSession(b)
	t.checkPlace(b.Run)
	// keepBlobs sends the queued statements: if there is no session, the write fails before it locks anything else.
	hashes, err := t.keepBlobs(b.Run, b.Blobs)
	if err != nil {
		return err
	}
	r, numbers := b.Run, `'[]'`
	if len(hashes) > 0 {
		numbers = `(SELECT CAST(json_agg(no) AS text) FROM blob WHERE owner = $3 AND hash IN (` +
			placeholders(12, len(hashes)) + `))`
	}
	follows := `CAST($11 AS text)`
	if r.Replaces == "" && r.Follows == "" {
		follows = `coalesce((SELECT id FROM run WHERE session = $2 ORDER BY started_at DESC, id DESC LIMIT 1), $11)`
	}
	// Runs of a session are ordered by their start, so a new one starts after all others, whatever the clock says.
	t.requireRow(existsError("run", r.ID), `
		INSERT INTO run (id, session, owner, assistant, title, status, started_at,
			lease_holder, lease_until, replaces, follows, blobs)
		VALUES ($1, $2, $3, $4, $5, $6,
			coalesce((SELECT max(started_at) + 1 FROM run WHERE session = $2 HAVING max(started_at) >= $7), $7),
			$8, $9, $10, `+follows+`, `+numbers+`) ON CONFLICT (id) DO NOTHING RETURNING id`,
		append([]any{r.ID, r.Session, string(r.Owner), r.Assistant, r.Title, string(r.Status), r.StartedAt.UnixMilli(),
			r.LeaseHolder,
			timeOrNull(r.LeaseUntil), r.Replaces, r.Follows}, hashes...)...)
	t.appendRecords(r.Owner, r.ID, b.Records)
	t.consumePending(b)
	t.claimKeys(b)
	return nil
}

// beginSession adds the new session of a beginning, or locks the existing one and updates its time.
func (t *tx) beginSession(b journal.Beginning) {
	started, s := b.Run.StartedAt.UnixMilli(), b.Session
	if s == nil {
		t.requireRow(errNoSession, `UPDATE session SET updated_at = greatest(updated_at, $3) WHERE id = $1 AND owner = $2 RETURNING id`,
			b.Run.Session, string(b.Run.Owner), started)
		return
	}
	t.requireRow(existsError("session", s.ID), `
		INSERT INTO session (id, owner, assistant, title, place, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO NOTHING RETURNING id`,
		s.ID, string(s.Owner), s.Assistant, s.Title, s.Place, s.CreatedAt.UnixMilli(),
		max(s.UpdatedAt.UnixMilli(), started))
	// If a session of this id was removed while the insert waited, only a later statement sees its tombstone.
	t.requireRow(existsError("session", s.ID), `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM tombstone WHERE id = $1)`, s.ID)
}

// checkPlace requires that the run that r replaces or follows is in its session and, if it replaces it, has ended. The
// caller has locked the session, so that it is not removed meanwhile.
func (t *tx) checkPlace(r journal.Run) {
	named, ended := r.Follows, ""
	if r.Replaces != "" {
		named, ended = r.Replaces, ` AND status <> 'running'`
	}
	if named == "" {
		return
	}
	t.requireRow(fmt.Errorf("run %q: %w", named, journal.ErrNoPlace),
		`SELECT 1 FROM run WHERE id = $1 AND session = $2 AND owner = $3`+ended, named, r.Session, string(r.Owner))
}

// keepBlobs sends the queued statements, counts one more run for each content, and stores the new contents. It returns
// their hashes, each once, in the order in which it locks them: sorted, so that two runs do not deadlock.
func (t *tx) keepBlobs(r journal.Run, contents [][]byte) ([]any, error) {
	byHash := map[string][]byte{}
	for _, content := range contents {
		byHash[journal.BlobHash(content)] = content
	}
	hashes := asArgs(slices.Sorted(maps.Keys(byHash)))
	if len(hashes) == 0 {
		return nil, t.send()
	}
	type blob struct {
		no   int64
		hash string
		runs int64
	}
	scan := func(r row, b *blob) error { return r.Scan(&b.no, &b.hash, &b.runs) }
	named, err := queryRows(t, scan, `
		INSERT INTO blob (owner, hash, runs)
		SELECT owner, column1, 1 FROM session, (VALUES `+tuples(3, len(hashes), "text")+
		`) AS given WHERE id = $1 AND owner = $2
		ON CONFLICT (owner, hash) DO UPDATE SET runs = blob.runs + 1 RETURNING no, hash, runs`,
		append([]any{r.Session, string(r.Owner)}, hashes...)...)
	if err != nil {
		return nil, err
	}
	for _, b := range named {
		if b.runs == 1 {
			t.run(`INSERT INTO blob_content (blob, content) VALUES ($1, $2)`, b.no, notNull(byHash[b.hash]))
		}
	}
	return hashes, nil
}

// consumePending removes all pending rows of a session that are not declined. The write fails if one in b.Consume is
// missing or expired.
func (t *tx) consumePending(b journal.Beginning) {
	if b.Session != nil && len(b.Consume) == 0 {
		return // a new session has no pending rows
	}
	scan := func(r row, p *journal.Pending) error { return r.Scan(&p.ID, millis{&p.ExpiresAt}) }
	check := func(removed []journal.Pending) error {
		for _, id := range b.Consume {
			isIt := func(p journal.Pending) bool { return p.ID == id && p.Open(b.Run.StartedAt) }
			if !slices.ContainsFunc(removed, isIt) {
				return journal.ConsumedError(id)
			}
		}
		return nil
	}
	queryChecked(t, scan, check, `
		DELETE FROM pending WHERE session = $1 AND kind <> '`+journal.Declined+`' RETURNING id, expires_at`, b.Run.Session)
}

// claimKeys claims the keys of a beginning. If another run holds one, the write fails with a ClaimedError that names
// that run.
func (t *tx) claimKeys(b journal.Beginning) {
	for _, key := range b.Claims {
		check := func(holder []string) error {
			if holder[0] != b.Run.ID {
				return &journal.ClaimedError{Key: key, Run: holder[0]}
			}
			return nil
		}
		queryChecked(t, scanValue[string], check, `
			INSERT INTO claim (owner, key, run) VALUES ($1, $2, $3) ON CONFLICT (owner, key) DO UPDATE SET run = claim.run RETURNING run`,
			string(b.Run.Owner), key, b.Run.ID)
	}
}

// Claimed implements journal.Store.
func (db *DB) Claimed(ctx context.Context, owner journal.Owner, key string) (run string, err error) {
	found, err := readRows(ctx, db, scanValue[string], `SELECT run FROM claim WHERE key = $1 AND owner = $2`, key,
		string(owner))
	return onlyRow(found, err, notFoundError("claim", key))
}

// Pending implements journal.Store.
func (db *DB) Pending(
	ctx context.Context, owner journal.Owner, session string, now time.Time,
) ([]journal.Pending, error) {
	scan := func(r row, p *journal.Pending) error {
		return r.Scan(&p.ID, &p.Owner, &p.Session, &p.Run, &p.Kind, data{&p.Data}, millis{&p.CreatedAt},
			millis{&p.ExpiresAt})
	}
	return readRows(ctx, db, scan, `
		SELECT id, owner, session, run, kind, data, created_at, expires_at FROM pending
		WHERE session = $1 AND owner = $2 AND (expires_at IS NULL OR expires_at > $3) ORDER BY created_at, id`,
		session, string(owner), now.UnixMilli())
}

// Void implements journal.Store.
func (db *DB) Void(ctx context.Context, owner journal.Owner, run string) error {
	return db.write(ctx, func(t *tx) error {
		t.requireRow(notFoundError("run", run), `SELECT 1 FROM run WHERE id = $1 AND owner = $2`, run, string(owner))
		t.run(`UPDATE pending SET kind = '`+journal.Declined+`', data = $3, expires_at = created_at WHERE run = $1 AND owner = $2`,
			run, string(owner), notNull(nil))
		return nil
	})
}
