package main

import (
	"database/sql"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"sibyl/internal/app"
)

// backdate moves all that is in the journal so many days into the past, as if nobody had used it since.
func backdate(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: backdate DAYS")
	}
	days, err := strconv.Atoi(args[0])
	ts.Check(err)
	db, err := sql.Open("sqlite", app.DatabaseFile(filepath.Clean(ts.Getenv("SIBYL_DATA"))))
	ts.Check(err)
	back := (time.Duration(days) * 24 * time.Hour).Milliseconds()
	for _, change := range []string{
		`UPDATE session SET created_at = created_at - ?1, updated_at = updated_at - ?1`,
		`UPDATE run SET started_at = started_at - ?1, ended_at = ended_at - ?1, lease_until = lease_until - ?1`,
		`UPDATE record SET at = at - ?1`,
	} {
		_, err := db.Exec(change, back)
		ts.Check(err)
	}
	ts.Check(db.Close())
}

// later has the journal look as if a later version of the program had changed its tables.
func later(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: later DATA")
	}
	db, err := sql.Open("sqlite", app.DatabaseFile(ts.MkAbs(args[0])))
	ts.Check(err)
	_, err = db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`)
	ts.Check(err)
	ts.Check(db.Close())
}

// word sets a variable to a word of the last standard output, counted from 1.
func word(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: word NAME NUMBER")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	words := strings.Fields(ts.ReadFile("stdout"))
	if n < 1 || n > len(words) {
		ts.Fatalf("standard output has %d words, not %d", len(words), n)
	}
	ts.Setenv(args[0], words[n-1])
}
