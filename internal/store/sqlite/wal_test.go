package sqlite

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"sibyl/internal/journal"
)

// onSync is what the syncs of WALs of an observed database do in place of waiting for the disk.
var onSync func() int32

var observedVFS = sync.OnceValue(func() *vfs {
	return register("observed", address(func(*libc.TLS, uintptr, int32) int32 { return onSync() }))
})

// observed opens a database with a run that has one record; each sync of its WAL calls do.
func observed(t *testing.T, do func() int32) *DB {
	onSync = func() int32 { return sqlite3.SQLITE_OK }
	db := openAt(t, newPath(t), func(db *DB) { db.vfs = observedVFS() })
	begin(t, db, 1)
	onSync = do
	t.Cleanup(func() { onSync = func() int32 { return sqlite3.SQLITE_OK } }) // before it is closed
	return db
}

func TestWriteReturnsAfterASyncOfAllThatItWrote(t *testing.T) {
	var path string
	var synced []bool // with the record in the WAL
	db := observed(t, func() int32 {
		wal, err := os.ReadFile(path + "-wal")
		synced = append(synced, err == nil && bytes.Contains(wal, []byte("quinces")) && bytes.Contains(wal, []byte("medlars")))
		return sqlite3.SQLITE_OK
	})
	path = db.path
	recs := []journal.Record{{Seq: 1, Data: []byte("quinces")}, {Seq: 2, Data: bytes.Repeat([]byte("x"), 1<<20)}, {Seq: 3, Data: []byte("medlars")}}
	if err := db.Append(t.Context(), "ada", "run", recs, nil); err != nil {
		t.Fatal(err)
	}
	if len(synced) == 0 || !synced[len(synced)-1] {
		t.Errorf("the WAL was synced with all records in it: %v, want it at last", synced)
	}
}

func TestCommitThatCannotBeSyncedFailsAndLeavesNothing(t *testing.T) {
	code := int32(sqlite3.SQLITE_IOERR_FSYNC)
	db := observed(t, func() int32 { return code })
	if err := db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1}}, nil); err == nil || !strings.Contains(err.Error(), db.path) {
		t.Errorf("error is %v, want one that names the file", err)
	}
	if recs, err := db.Records(t.Context(), "ada", "run", 0); err != nil || len(recs) != 1 {
		t.Errorf("%d records, error %v, want 1", len(recs), err)
	}
	code = sqlite3.SQLITE_OK
	if err := db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1}}, nil); err != nil {
		t.Errorf("the next append: %v", err)
	}
}

// Pages that the cache cannot hold are written before the commit, read again, and written anew.
func TestTransactionLargerThanTheCacheIsWhole(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path)
	execute(t, db, `PRAGMA cache_size = 20`)
	begin(t, db, 1)
	recs := make([]journal.Record, 2000)
	for i := range recs {
		recs[i] = journal.Record{Seq: int64(1 + i), Data: dataOf(int64(i))}
	}
	half := errors.New("half")
	err := db.write(t.Context(), func(tx tx) error {
		err := tx.append("ada", "run", recs[:1000])
		for i := len(recs)/2 - 1; i >= 0; i-- {
			found, readErr := rows(tx, func(r row) []byte { return r.bytes(0) }, `SELECT data FROM record WHERE key & 0xffffff = ?`, recs[i].Seq)
			if readErr != nil || !bytes.Equal(found[0], recs[i].Data) {
				t.Fatalf("record %d is another before the commit, error %v", i, readErr)
			}
		}
		return errors.Join(err, half)
	})
	if !errors.Is(err, half) {
		t.Fatal(err)
	}
	if err := db.Append(t.Context(), "ada", "run", recs, nil); err != nil {
		t.Fatal(err)
	}
	for _, db := range []*DB{db, openAt(t, path)} {
		if whole := value(t, db.writer, `PRAGMA integrity_check`).text(0); whole != "ok" {
			t.Errorf("the file is %s", whole)
		}
		found, err := db.Records(t.Context(), "ada", "run", 1)
		if err != nil || len(found) != len(recs) {
			t.Fatalf("%d records, error %v, want %d", len(found), err, len(recs))
		}
		for i := range recs {
			if !bytes.Equal(found[i].Data, recs[i].Data) {
				t.Fatalf("record %d is another", i)
			}
		}
	}
}
