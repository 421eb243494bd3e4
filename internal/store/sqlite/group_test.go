package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"modernc.org/sqlite"

	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
)

// together makes calls that write, all of which wait for the token before any is carried out, and returns their errors.
func together(t *testing.T, db *DB, calls ...func(context.Context) error) []error {
	t.Helper()
	errs := make([]error, len(calls))
	var all sync.WaitGroup
	db.writing <- struct{}{}
	for i, call := range calls {
		all.Go(func() { errs[i] = call(t.Context()) })
		awaitQueue(t, db, i+1)
	}
	<-db.writing
	all.Wait()
	return errs
}

// awaitQueue returns when so many writes wait.
func awaitQueue(t *testing.T, db *DB, n int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		db.queue.mu.Lock()
		waiting := len(db.queue.waiting)
		db.queue.mu.Unlock()
		if waiting == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited for %d writes in the queue, there are %d", n, waiting)
		}
	}
}

// onCommit has do called at each commit of db, which fails unless do returns 0.
func onCommit(t *testing.T, db *DB, do func() int32) {
	t.Helper()
	hooks, ok := db.writer.raw.(sqlite.HookRegisterer)
	if !ok {
		t.Fatal("the driver has no hook of commits")
	}
	hooks.RegisterCommitHook(do)
	t.Cleanup(func() { hooks.RegisterCommitHook(nil) })
}

func counted(t *testing.T, db *DB) *int {
	commits := new(int)
	onCommit(t, db, func() int32 { *commits++; return 0 })
	return commits
}

// runs begins so many runs without records, and returns a call for each that appends one.
func runs(t *testing.T, db *DB, n int) (calls []func(context.Context) error) {
	t.Helper()
	for i := range n {
		b := beginning(journal.Session{ID: fmt.Sprint(i), Owner: "ada"})
		if err := db.Begin(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, func(ctx context.Context) error {
			return db.Append(ctx, "ada", b.Run.ID, []journal.Record{{}}, nil)
		})
	}
	return calls
}

func lengths(t *testing.T, db *DB, n int) (lengths []int64) {
	t.Helper()
	for i := range n {
		r, err := db.Run(t.Context(), "ada", fmt.Sprint("run of ", i))
		if err != nil {
			t.Fatal(err)
		}
		lengths = append(lengths, r.Records)
	}
	return lengths
}

func TestWritesThatWaitShareOneCommitAndFailByThemselves(t *testing.T) {
	db := openAt(t, newPath(t), unsynced)
	calls := runs(t, db, 16)
	half := beginning(journal.Session{ID: "half", Owner: "ada"})
	half.Consume = []string{"unknown"} // found after its session and its run were written
	calls = append(calls, calls[3], func(ctx context.Context) error { return db.Begin(ctx, half) }, calls[5])
	commits := counted(t, db)
	errs := together(t, db, calls...)
	if *commits != 1 {
		t.Errorf("%d writes took %d commits, want 1", len(calls), *commits)
	}
	for i, err := range errs {
		want := map[int]error{16: journal.ErrConflict, 17: journal.ErrConsumed, 18: journal.ErrConflict}[i]
		if !errors.Is(err, want) {
			t.Errorf("write %d: %v, want %v", i, err, want)
		}
	}
	if _, err := db.Session(t.Context(), "ada", "half"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("session of the beginning that failed: %v, want ErrNotFound", err)
	}
	for i, n := range lengths(t, db, 16) {
		if n != 1 {
			t.Errorf("run %d has %d records, want 1", i, n)
		}
	}
}

func TestFailingCommitFailsAllThatShareItAndLeavesNothing(t *testing.T) {
	db := openAt(t, newPath(t), unsynced)
	calls := runs(t, db, 3)
	onCommit(t, db, func() int32 { return 1 })
	for i, err := range together(t, db, calls...) {
		if err == nil {
			t.Errorf("write %d succeeded", i)
		}
	}
	onCommit(t, db, func() int32 { return 0 })
	for i, n := range lengths(t, db, 3) {
		if n != 0 {
			t.Errorf("run %d has %d records, want none", i, n)
		}
	}
	if err := calls[0](t.Context()); err != nil {
		t.Errorf("the next write: %v", err)
	}
}

func TestFullDiskFailsAllThatShareATransactionAndLeavesNothing(t *testing.T) {
	db := openAt(t, newPath(t), unsynced)
	calls := runs(t, db, 3)
	calls[1] = func(ctx context.Context) error {
		return db.Append(ctx, "ada", "run of 1", []journal.Record{{Data: bytes.Repeat([]byte("x"), 1_000_000)}}, nil)
	}
	execute(t, db, fmt.Sprintf(`PRAGMA max_page_count = %d`, value(t, db.writer, `PRAGMA page_count`).int(0)+10))
	for i, err := range together(t, db, calls...) {
		if written := lengths(t, db, 3)[i] > 0; written == (err != nil) || err != nil && !errors.Is(err, journal.ErrFull) {
			t.Errorf("write %d: error is %v, and it is written: %v", i, err, written)
		}
	}
	execute(t, db, `PRAGMA max_page_count = 1000000`)
	if err := calls[1](t.Context()); err != nil {
		t.Errorf("the write with space again: %v", err)
	}
}

func TestWritesThatShareWithOneThatPanicsFail(t *testing.T) {
	db := openAt(t, newPath(t), unsynced)
	calls := runs(t, db, 2)
	first := make(chan struct{})
	leader := make(chan any)
	db.writing <- struct{}{}
	go func() {
		defer func() { leader <- recover() }()
		_ = db.write(t.Context(), func(tx) error { close(first); panic("stop") })
	}()
	awaitQueue(t, db, 1)
	errs := make(chan error)
	w := &write{do: func(tx) error { return nil }, done: make(chan struct{})}
	db.queue.add(w)
	go func() { <-w.done; errs <- w.err }()
	<-db.writing
	<-first
	if stopped, err := <-leader, <-errs; stopped != "stop" || !errors.Is(err, errAborted) {
		t.Errorf("recovered %v, the other write: %v, want errAborted", stopped, err)
	}
	if err := calls[0](t.Context()); err != nil {
		t.Errorf("the next write: %v", err)
	}
}

// What a run costs that does not depend on the machine: commits, pages written, and allocations of an append.
func TestRunWritesFewPagesInFewCommits(t *testing.T) {
	const n, most = 200, 25
	db := openAt(t, newPath(t), unsynced)
	status, ok := db.writer.raw.(sqlite.DBStatus)
	if !ok {
		t.Fatal("the driver does not count pages")
	}
	commits := counted(t, db)
	before, _, err := status.Status(sqlite.DBStatusCacheWrite, false)
	for i := range n {
		err = errors.Join(err, journaltest.Whole(t, db, fmt.Sprintf("%010d", i)))
	}
	after, _, statusErr := status.Status(sqlite.DBStatusCacheWrite, false)
	if err := errors.Join(err, statusErr); err != nil {
		t.Fatal(err)
	}
	if *commits != 7*n || after-before > most*n {
		t.Errorf("a run of 7 writes takes %.2f commits and writes %.2f pages, want 7 and at most %d",
			float64(*commits)/n, float64(after-before)/n, most)
	}
}

func TestAppendAllocatesLittle(t *testing.T) {
	const most = 17
	db := openAt(t, newPath(t), unsynced)
	begin(t, db, 0)
	recs := []journal.Record{{At: time.Now(), Kind: "completion", Data: bytes.Repeat([]byte("x"), 400)}}
	ctx := t.Context()
	got := testing.AllocsPerRun(1000, func() {
		if err := db.Append(ctx, "ada", "run", recs, nil); err != nil {
			t.Error(err)
		}
		recs[0].Seq++
	})
	if got > most {
		t.Errorf("an append makes %v allocations, want at most %d", got, most)
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
