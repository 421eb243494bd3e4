package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/journal"
)

// Begin implements journal.Store.
func (db *DB) Begin(ctx context.Context, b journal.Beginning) error {
	b, err := journal.NewBeginning(b)
	if err != nil {
		return err
	}
	contents := db.contentsOf(b)
	err = db.write(ctx, func(t *tx) error { return t.begin(b, contents) })
	if err != nil {
		return db.ofSession(ctx, b.Run.Owner, b.Run.Session, err)
	}
	for _, c := range contents {
		db.known.keep(b.Run.Owner, c.bytes, c.hash)
	}
	db.crier.tell(journal.Key{Owner: b.Run.Owner, Run: b.Run.ID})
	return nil
}

// content is what a run names as a blob.
type content struct {
	hash  string
	bytes []byte
	had   bool // by the database, when it was asked last
}

// contentsOf are the contents that a run names, each once, by their hashes: so that two runs that name the same wait for each other in turn.
func (db *DB) contentsOf(b journal.Beginning) (all []content) {
	for _, bytes := range b.Blobs {
		hash, had := db.known.hash(b.Run.Owner, bytes)
		all = append(all, content{hash, bytes, had})
	}
	slices.SortFunc(all, func(a, b content) int { return strings.Compare(a.hash, b.hash) })
	return slices.CompactFunc(all, func(a, b content) bool { return a.hash == b.hash })
}

// What a beginning does with its session first, whose row that locks: makes it, or moves it.
const (
	makeSession = `
		INSERT INTO session (id, owner, assistant, title, place, created_at, updated_at)
		SELECT $2, $3, $16, $17, $18, $19, greatest($20::bigint, $6::bigint) WHERE NOT EXISTS (SELECT FROM tombstone WHERE id = $2)
		ON CONFLICT (id) DO NOTHING RETURNING id`
	moveSession = `UPDATE session SET updated_at = greatest(updated_at, $6::bigint) WHERE id = $2 AND owner = $3 RETURNING id`
)

// beginRun is a whole beginning after what it does with its session, without which nothing of it is done. A claim that another run holds is
// locked, so that it can be told who that is.
const beginRun = `
	), named AS (
		INSERT INTO blob (owner, hash, runs) SELECT $3, hash, 1 FROM here, unnest($9::text[]) AS hash
		ON CONFLICT (owner, hash) DO UPDATE SET runs = blob.runs + 1
		RETURNING no, hash, runs
	), made AS (
		SELECT no, hash, content FROM named JOIN unnest($9::text[], $10::bytea[]) AS given (hash, content) USING (hash) WHERE runs = 1
	), kept AS (
		INSERT INTO blob_content (blob, content) SELECT no, content FROM made WHERE content IS NOT NULL
	), begun AS (
		INSERT INTO run (id, session, owner, assistant, title, status, started_at, lease_holder, lease_until, blobs)
		SELECT $1, here.id, $3, $4, $5, 'running', $6::bigint, $7, $8, (SELECT coalesce(json_agg(no), '[]')::text FROM named) FROM here
		ON CONFLICT (id) DO NOTHING
		RETURNING no, id, session
	), recorded AS (
		INSERT INTO record (key, at, kind, data)
		SELECT no << 24 | seq, at, kind, data
		FROM begun, unnest($11::bigint[], $12::bigint[], $13::text[], $14::bytea[]) AS given (seq, at, kind, data)
	), used AS (
		DELETE FROM pending USING begun WHERE pending.session = begun.session RETURNING pending.id, expires_at
	), claimed AS (
		INSERT INTO claim (owner, key, run) SELECT $3, key, id FROM begun, unnest($15::text[]) AS key
		ON CONFLICT (owner, key) DO UPDATE SET run = claim.run
		RETURNING key, run
	)
	SELECT EXISTS (SELECT FROM here), EXISTS (SELECT FROM begun),
	       array(SELECT id FROM used WHERE expires_at IS NULL OR expires_at > $6::bigint),
	       coalesce((SELECT json_object_agg(key, run) FROM claimed WHERE run <> $1), '{}'),
	       array(SELECT hash FROM made WHERE content IS NULL)`

// begun is what came of a beginning.
type begun struct {
	here, begun bool              // the session was made or moved, the run added
	open        []string          // pending rows that were open, and are removed
	taken       map[string]string // claims that other runs hold, with these
	lacks       []string          // hashes of contents that the database lacks
}

func scanBegun(r pgx.CollectableRow) (b begun, err error) {
	return b, r.Scan(&b.here, &b.begun, &b.open, &b.taken, &b.lacks)
}

// begin adds a run. Contents that the database had before are sent only if it lacks them.
func (t *tx) begin(b journal.Beginning, contents []content) error {
	// Of a run that nobody else can have begun, it is enough that it is there.
	t.provable(`SELECT FROM run WHERE id = $1 AND owner = $2`, b.Run.ID, string(b.Run.Owner))
	r, c := b.Run, columnsOf(b.Records)
	var hashes []string
	var sent [][]byte
	for _, c := range contents {
		hashes = append(hashes, c.hash)
		if c.had {
			sent = append(sent, nil)
		} else {
			sent = append(sent, notNull(c.bytes))
		}
	}
	args := []any{r.ID, r.Session, string(r.Owner), r.Assistant, r.Title, r.StartedAt.UnixMilli(), r.LeaseHolder, maybe(r.LeaseUntil), hashes, sent,
		c.seqs, c.ats, c.kinds, c.data, b.Claims}
	first := moveSession
	if s := b.Session; s != nil {
		first, args = makeSession, append(args, s.Assistant, s.Title, s.Place, s.CreatedAt.UnixMilli(), s.UpdatedAt.UnixMilli())
	}
	var lacks []string
	rows(t, scanBegun, func(found []begun) error {
		lacks = found[0].lacks
		return found[0].refusal(b)
	}, `WITH here AS (`+first+beginRun, args...)
	if b.Session != nil {
		// Whoever removed a session of that id while this waited for it left a tombstone, which only a later statement sees.
		rows(t, pgx.RowTo[string], none[string](taken("session", r.Session)), `SELECT id FROM tombstone WHERE id = $1`, r.Session)
	}
	if err := t.send(); err != nil {
		return err
	}
	for _, c := range contents {
		if slices.Contains(lacks, c.hash) {
			t.change(nil, `INSERT INTO blob_content (blob, content) SELECT no, $3 FROM blob WHERE owner = $1 AND hash = $2`,
				string(r.Owner), c.hash, notNull(c.bytes))
		}
	}
	return nil
}

// refusal says why a run did not begin, or nil.
func (f begun) refusal(b journal.Beginning) error {
	switch {
	case !f.here && b.Session != nil:
		return taken("session", b.Session.ID)
	case !f.here:
		return errNoSession
	case !f.begun:
		return taken("run", b.Run.ID)
	}
	for _, id := range b.Consume {
		if !slices.Contains(f.open, id) {
			return journal.Consumed(id)
		}
	}
	for _, key := range b.Claims {
		if holder, held := f.taken[key]; held {
			return &journal.ClaimedError{Key: key, Run: holder}
		}
	}
	return nil
}

func taken(kind, id string) error { return fmt.Errorf("%s %q: %w", kind, id, journal.ErrExists) }
