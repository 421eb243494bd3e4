package store

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	isMisled()
	if Witness(context.Background()) || beAnotherProcess() {
		return
	}
	goleak.VerifyTestMain(pgtest.Main(m))
}

// fresh is an empty file, which does not wait for the disk: a test that ends with its process need not do so.
func fresh(t testing.TB) *DB { return openAt(t, newPath(t), Unsynced()) }

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "sibyl.db") }

// openAt opens a file and closes it after the test.
func openAt(t testing.TB, path string, opts ...FileOption) *DB {
	t.Helper()
	db := assert.Must(OpenFile(t.Context(), path, opts...))(t)
	t.Cleanup(func() { closeDB(t, db) })
	return db
}

// serverAt opens a database on a server and closes it after the test.
func serverAt(t testing.TB, dsn string, opts ...ServerOption) *Server {
	t.Helper()
	db := assert.Must(OpenServer(t.Context(), dsn, opts...))(t)
	t.Cleanup(func() { closeDB(t, db.DB) })
	return db
}

func closeDB(t testing.TB, db *DB) {
	t.Helper()
	assert.Nilf(t, db.Close(), "Close")
}

// opened opens the database of an address: a path, or a DSN.
func opened(ctx context.Context, address string) (*DB, error) {
	if !strings.HasPrefix(address, "postgres:") {
		return OpenFile(ctx, address, Unsynced())
	}
	db, err := OpenServer(ctx, address)
	if err != nil {
		return nil, err
	}
	return db.DB, nil
}

// openedAt opens the database of an address and closes it after the test.
func openedAt(t testing.TB, address string) *DB {
	t.Helper()
	db := assert.Must(opened(t.Context(), address))(t)
	t.Cleanup(func() { closeDB(t, db) })
	return db
}

// both passes a test on each kind of database, with what gives an empty one, as an address.
func both(t *testing.T, test func(t *testing.T, place func(testing.TB) string)) {
	t.Run("SQLite", func(t *testing.T) { test(t, newPath) })
	t.Run("PostgreSQL", func(t *testing.T) {
		// in which text is ordered otherwise
		p := &schemas{dsn: pgtest.New(t, "LOCALE_PROVIDER icu ICU_LOCALE 'de-u-kn' LOCALE 'C'")}
		test(t, p.take)
	})
}

// newSchema makes an empty place in a database, which costs less than an empty database.
func newSchema(t testing.TB, dsn string) string {
	t.Helper()
	name := strings.ToLower("test_" + rand.Text()[:12])
	assert.Must(connect(t, dsn).Exec(t.Context(), "CREATE SCHEMA "+name))(t)
	return dsn + "&search_path=" + name
}

// schemas are places in a database, for one test after another: to empty one costs less than to make one.
type schemas struct {
	dsn  string
	mu   sync.Mutex
	free []string
}

// take gives a test an empty place, which no other has meanwhile.
func (p *schemas) take(t testing.TB) string {
	t.Helper()
	p.mu.Lock()
	var place string
	if n := len(p.free); n > 0 {
		place, p.free = p.free[n-1], p.free[:n-1]
	}
	p.mu.Unlock()
	if place == "" {
		place = newSchema(t, p.dsn)
	} else {
		empty(t, openedAt(t, place))
	}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free = append(p.free, place)
	})
	return place
}

// empty removes all rows.
func empty(t testing.TB, db *DB) {
	t.Helper()
	statements := []string{"SET LOCAL session_replication_role = replica"} // tables in any order
	for _, table := range append(Tables(), Table{Name: "node"}, Table{Name: "duty"}) {
		statements = append(statements, "DELETE FROM "+table.Name)
	}
	execute(t, db, statements...)
}

// connect opens a connection beside a store, for as long as the test goes on.
func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	conn := assert.Must(pgx.Connect(t.Context(), dsn))(t)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	assert.Must(conn.Exec(t.Context(), "SET search_path = sibyl, public"))(t)
	return conn
}

// execute executes statements in a transaction.
func execute(t testing.TB, db *DB, statements ...string) {
	t.Helper()
	err := db.write(t.Context(), func(t *tx) error {
		for _, s := range statements {
			t.run(s)
			if err := t.send(); err != nil {
				return err
			}
		}
		return nil
	})
	assert.NoErrorf(t, err, "%s", statements)
}

// one returns the one value of a query.
func one[T any](t testing.TB, db *DB, query string, args ...any) T {
	t.Helper()
	found, err := readRows(t.Context(), db, scanValue[T], query, args...)
	assert.Require(t, err == nil && len(found) == 1, "%s gives %d rows, error %v", query, len(found), err)
	return found[0]
}

func content(t *testing.T, path string) string {
	t.Helper()
	bytes := assert.Must(os.ReadFile(path))(t)
	return string(bytes)
}

// begin makes a session with run "run" of ada's, with n records and blobs.
func begin(t testing.TB, db *DB, n int, blobs ...[]byte) {
	t.Helper()
	recs := make([]journal.Record, n)
	for i := range recs {
		recs[i] = journal.Record{Seq: int64(i), Kind: "begun"}
	}
	b := beginning(journal.Session{ID: "session", Owner: "ada"})
	b.Run.ID, b.Blobs, b.Records = "run", blobs, recs
	assert.NoError(t, db.Begin(t.Context(), b))
}

// beginning is that of a session with one run, which began when the session was updated.
func beginning(s journal.Session) journal.Beginning {
	return journal.Beginning{Run: journal.Run{ID: "run of " + s.ID, Session: s.ID, Owner: s.Owner,
		StartedAt: s.UpdatedAt}, Session: &s}
}

// sound wants what is kept twice to agree: how many runs name a blob, and the records, claims and contents that belong
// to something.
func sound(t testing.TB, db *DB) {
	t.Helper()
	for what, query := range map[string]string{
		"blobs that are miscounted": `
			SELECT count(*) FROM blob WHERE runs <> (SELECT count(*) FROM run, ` + eachBlob +
			` WHERE CAST(given.value AS bigint) = blob.no)`,
		"blobs without a content":             `SELECT count(*) FROM blob LEFT JOIN blob_content ON blob = no WHERE content IS NULL`,
		"records of no run":                   `SELECT count(*) FROM record LEFT JOIN run ON no = key >> 24 WHERE no IS NULL`,
		"claims of runs that ended":           `SELECT count(*) FROM claim JOIN run ON run.id = claim.run WHERE status <> 'running'`,
		"runs with gaps":                      `SELECT count(*) FROM (SELECT key >> 24 FROM record GROUP BY key >> 24 HAVING count(*) <> max(key & 16777215) + 1) AS gappy`,
		"sessions that are there and removed": `SELECT count(*) FROM session JOIN tombstone ON session.id = tombstone.id`,
	} {
		assert.Equalf(t, one[int64](t, db, query), 0, "%s", what)
	}
}
