package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"sibyl/internal/journal"
)

// firstVersion makes a database as the first schema's builds left it, with a session and its run.
func firstVersion(t *testing.T, path string) {
	t.Helper()
	pool, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := pool.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, pool, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.ExecContext(t.Context(), `PRAGMA journal_mode = WAL`); err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.ExecContext(t.Context(), `
		INSERT INTO session VALUES ('s', 'ada', 'oracle', 'a title', 1000, 2000);
		INSERT INTO run VALUES (7, 'r', 's', 'ada', 'oracle', 'a question', 'done', 1000, 2000, '', NULL);
		INSERT INTO record VALUES (7, 0, 1000, 'start', x'7b7d'), (7, 1, 2000, 'end', x'7b7d');
		INSERT INTO blob VALUES (3, '`+journal.BlobHash([]byte("tree"))+`', x'74726565');
		INSERT INTO run_blob VALUES (7, 3)`); err != nil {
		t.Fatal(err)
	}
}

func TestDatabaseOfTheFirstVersionIsMigratedWithAllItHolds(t *testing.T) {
	path := newPath(t)
	firstVersion(t, path)
	db := openAt(t, path)
	session, err := db.Session(t.Context(), "ada", "s")
	want := journal.Session{ID: "s", Owner: "ada", Assistant: "oracle", Title: "a title",
		CreatedAt: instant(1000), UpdatedAt: instant(2000), Runs: 1}
	if diff := cmp.Diff(want, session); err != nil || diff != "" {
		t.Errorf("session, error %v (-want +got):\n%s", err, diff)
	}
	recs, err := db.Records(t.Context(), "ada", "r", 0)
	if err != nil || len(recs) != 2 || string(recs[1].Data) != "{}" {
		t.Errorf("records are %v, error %v", recs, err)
	}
	if blob, err := db.Blob(t.Context(), journal.BlobHash([]byte("tree"))); err != nil || string(blob) != "tree" {
		t.Errorf("blob is %q, error %v", blob, err)
	}
	left, err := db.Retire(t.Context(), "ada", instant(3000), instant(9000), 0)
	wantLeft := []journal.Tombstone{{ID: "s", Owner: "ada", Assistant: "oracle", CreatedAt: instant(1000), UpdatedAt: instant(2000),
		DeletedAt: instant(9000), Runs: 1, Reason: journal.ByRetention}}
	if diff := cmp.Diff(wantLeft, left); err != nil || diff != "" {
		t.Errorf("what it leaves, error %v (-want +got):\n%s", err, diff)
	}
	if check := integrity(t, db); check != "ok" {
		t.Errorf("integrity check: %s", check)
	}
}

// Words of a session must not outlive it in pages that SQLite holds free.
func TestWordsOfARemovedSessionAreNotInTheFileAnyMore(t *testing.T) {
	secrets := map[string]string{"title": "quinces", "question": "medlars", "short record": "loquats",
		"long record": strings.Repeat("damsons ", 5000), "blob": strings.Repeat("sloes ", 5000)}
	for name, remove := range map[string]func(*DB) error{
		"deleted": func(db *DB) error {
			return db.DeleteSession(t.Context(), "ada", "s", journal.ByPerson, time.Now())
		},
		"retired": func(db *DB) error {
			_, err := db.Retire(t.Context(), "ada", time.Now(), time.Now(), 0)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			db := openAt(t, path)
			begin(t, db, 1)
			run := journal.Run{ID: "r", Session: "s", Owner: "ada", Title: secrets["question"]}
			err := errors.Join(
				db.CreateSession(t.Context(), journal.Session{ID: "s", Owner: "ada", Title: secrets["title"]}),
				db.Begin(t.Context(), run, [][]byte{[]byte(secrets["blob"])}, []journal.Record{
					{Seq: 0, Data: []byte(secrets["short record"])}, {Seq: 1, Data: []byte(secrets["long record"])}}),
				db.RenameSession(t.Context(), "ada", "session", "kept"))
			if err != nil {
				t.Fatal(err)
			}
			closed(t, db)
			db = openAt(t, path)
			if err := remove(db); err != nil {
				t.Fatal(err)
			}
			closed(t, db)
			file := content(t, path)
			for what, words := range secrets {
				if word, _, _ := strings.Cut(words, " "); strings.Contains(file, word) {
					t.Errorf("the %s is still in the file", what)
				}
			}
		})
	}
}

// The file grows to what is kept at once, not with what was ever kept.
func TestSpaceOfRemovedSessionsIsUsedAgain(t *testing.T) {
	db := openAt(t, newPath(t), unsynced)
	pages := func() (n int) {
		if err := db.writer.conn.QueryRowContext(t.Context(), `PRAGMA page_count`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	var first int
	for round := range 10 {
		for i := range 5 {
			fill(t, db, fmt.Sprintf("%d-%d", round, i), instant(int64(round)), 1, 20)
		}
		if left, err := db.Retire(t.Context(), "ada", instant(int64(round+1)), instant(int64(round+1)), 0); err != nil || len(left) != 5 {
			t.Fatalf("%d sessions were removed, error %v", len(left), err)
		}
		if round == 0 {
			first = pages()
		}
	}
	if last := pages(); last > first+first/4 {
		t.Errorf("%d pages after ten rounds, %d after the first", last, first)
	}
}

// fill makes a session with so many runs, each of so many records of 2 KB, last used at that moment.
func fill(t testing.TB, db *DB, id string, at time.Time, runs, records int) {
	t.Helper()
	err := db.CreateSession(t.Context(), journal.Session{ID: id, Owner: "ada", Title: id, CreatedAt: at, UpdatedAt: at})
	recs := make([]journal.Record, records)
	for i := range recs {
		recs[i] = journal.Record{Seq: int64(i), At: at, Kind: "completion", Data: fmt.Appendf(nil, "%02000d", i)}
	}
	shared, own := []byte(strings.Repeat("tree ", 4000)), []byte(strings.Repeat(id, 1000))
	for n := range runs {
		run := journal.Run{ID: fmt.Sprintf("%s/%d", id, n), Session: id, Owner: "ada", StartedAt: at}
		end := &journal.End{Status: journal.Done, At: at}
		err = errors.Join(err, db.Begin(t.Context(), run, [][]byte{shared, own}, recs),
			db.Append(t.Context(), "ada", run.ID, []journal.Record{{Seq: int64(records), At: at}}, end))
	}
	if err != nil {
		t.Fatal(err)
	}
}
