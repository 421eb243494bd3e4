package store

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"modernc.org/sqlite"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/store/pgtest"
)

// group is a file whose writes wait for each other as a test has them wait.
type group struct {
	*testing.T
	db      *DB
	commits int  // of the connection that writes
	refuse  bool // commits, from the first that counts
}

// grouped passes a test in a bubble, so that synctest.Wait returns when all writes wait. The file has the runs of the
// sessions a to e, without records.
func grouped(t *testing.T, test func(t *testing.T, g *group)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := &group{T: t, db: fresh(t)}
		for id := range strings.SplitSeq("a b c d e", " ") {
			assert.NoError(t, g.db.Begin(t.Context(), beginning(journal.Session{ID: id, Owner: "ada"})))
		}
		rawConn(t, inFile(t, g.db).writer, func(c *fileConn) {
			c.driverConn.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 {
				g.commits++
				return int32(oneIf(g.refuse && g.commits > 0))
			})
		})
		test(t, g)
	})
}

// rawConn calls do with an idle connection of a pool.
func rawConn(t *testing.T, pool *sql.DB, do func(*fileConn)) {
	t.Helper()
	conn := assert.Must(pool.Conn(t.Context()))(t)
	defer func() { _ = conn.Close() }()
	assert.NoError(t, conn.Raw(func(c any) error {
		do(c.(*fileConn))
		return nil
	}))
}

// hold begins a write that ends when release is called, and then has the error of writes that are asked for meanwhile,
// one after the other. g.commits then counts those of these writes.
func (g *group) hold(writes ...func() error) (release func() []error) {
	g.Helper()
	var all sync.WaitGroup
	free := make(chan struct{})
	all.Go(func() {
		err := g.db.write(g.Context(), func(*tx) error {
			<-free
			return nil
		})
		assert.That(g, err == nil, "the first write: %v", err)
	})
	synctest.Wait()
	errs := make([]error, len(writes))
	for i, write := range writes {
		all.Go(func() { errs[i] = write() })
		synctest.Wait()
	}
	return func() []error {
		g.commits = -1 // that of the first write
		close(free)
		all.Wait()
		return errs
	}
}

// adds is a write that adds a record to the run of a session.
func (g *group) adds(session string, seq int64, data ...byte) func() error {
	return func() error {
		return g.db.Append(g.Context(), "ada", "run of "+session, []journal.Record{{Seq: seq, Data: data}}, nil)
	}
}

// matches wants errors to match these.
func (g *group) matches(errs []error, want ...error) {
	g.Helper()
	for i, err := range want {
		assert.That(g, errors.Is(errs[i], err), "write %d: %v, want %v", i, errs[i], err)
	}
}

// has wants the runs of sessions to have so many records.
func (g *group) has(want map[string]int64) {
	g.Helper()
	for session, n := range want {
		r, err := g.db.Run(g.Context(), "ada", "run of "+session)
		assert.That(g, err == nil && r.Records == n, "run of %s: %d records, %v, want %d", session, r.Records, err, n)
	}
}

func TestWritesThatWaitTogetherShareACommitInTheirOrder(t *testing.T) {
	grouped(t, func(t *testing.T, g *group) {
		var writes []func() error
		for seq := range int64(10) {
			writes = append(writes, g.adds("a", seq), g.adds("b", seq))
		}
		if err := errors.Join(g.hold(writes...)()...); err != nil {
			t.Error(err) // a record before its turn would be refused
		}
		g.has(map[string]int64{"a": 10, "b": 10})
		assert.That(t, g.commits == 1, "%d writes took %d commits, not one", len(writes), g.commits)
		g.commits = 0
		for seq := range int64(3) {
			assert.Nil(t, g.adds("c", seq)())
		}
		assert.That(t, g.commits == 3,
			"three writes one after the other took %d commits: one was told to be done before it was on the disk", g.commits)
	})
}

func TestWritesThatShareATransactionFailByThemselves(t *testing.T) {
	grouped(t, func(t *testing.T, g *group) {
		half := beginning(journal.Session{ID: "half", Owner: "ada"})
		half.Consume = []string{"unknown"} // found after its session and its run were written
		errs := g.hold(g.adds("a", 0), func() error { return g.db.Begin(t.Context(), half) }, g.adds("a", 0),
			g.adds("a", 1), g.adds("b", 0))()
		g.matches(errs, nil, journal.ErrConsumed, journal.ErrConflict, nil, nil)
		g.has(map[string]int64{"a": 2, "b": 1})
		_, err := g.db.Session(t.Context(), "ada", "half")
		assert.That(t, errors.Is(err, journal.ErrNotFound), "session of the beginning that failed: %v, want ErrNotFound", err)
		assert.That(t, g.commits == 1, "%d commits, want 1", g.commits)
		sound(t, g.db)
	})
}

func TestErrorOfACommitIsThatOfAllItsWrites(t *testing.T) {
	grouped(t, func(t *testing.T, g *group) {
		g.refuse = true
		for i, err := range g.hold(g.adds("a", 0), g.adds("b", 0), g.adds("c", 1))() {
			if i < 2 && (err == nil || !strings.Contains(err.Error(), "constraint failed")) {
				t.Errorf("write %d: %v, want the error of the commit", i, err)
			} else if i == 2 && !errors.Is(err, journal.ErrConflict) {
				t.Errorf("the write that had failed before: %v, want ErrConflict", err)
			}
		}
		g.has(map[string]int64{"a": 0, "b": 0, "c": 0})
		g.refuse = false
		assert.Nilf(t, g.adds("a", 0)(), "the next write")
	})
}

func TestWriteWhoseCallerGivesUpWhileItWaitsIsNotWritten(t *testing.T) {
	grouped(t, func(t *testing.T, g *group) {
		ctx, cancel := context.WithCancel(t.Context())
		told := false
		release := g.hold(g.adds("a", 0), func() error {
			err := g.db.Append(ctx, "ada", "run of b", []journal.Record{{Seq: 0}}, nil)
			told = true
			return err
		}, g.adds("c", 0))
		cancel()
		synctest.Wait()
		assert.That(t, told, "the caller waits on, for a transaction that it has no part in")
		g.matches(release(), nil, context.Canceled, nil)
		g.has(map[string]int64{"a": 1, "b": 0, "c": 1})
	})
}

func TestCallerThatGivesUpInATransactionIsToldWhatCameOfItsWrite(t *testing.T) {
	grouped(t, func(t *testing.T, g *group) {
		ctx, cancel := context.WithCancel(t.Context())
		late := func(do func(*tx) error) func() error { return func() error { return g.db.write(ctx, do) } }
		add := func(session string) func(*tx) error {
			return func(t *tx) error {
				t.appendRecords("ada", "run of "+session, []journal.Record{{Seq: 0}})
				return nil
			}
		}
		errs := g.hold(late(func(write *tx) error {
			cancel()
			return add("a")(write)
		}), late(add("b")), g.adds("c", 0))()
		g.matches(errs, nil, context.Canceled, nil) // the second was not performed before its context ended
		g.has(map[string]int64{"a": 1, "b": 0, "c": 1})
	})
}

func TestWritesBesideOneThatFillsTheDiskAreKept(t *testing.T) {
	grouped(t, func(t *testing.T, g *group) {
		pragma(t, g.db, fmt.Sprintf(`PRAGMA max_page_count = %d`,
			one[int](t, g.db, `SELECT page_count FROM pragma_page_count`)+10))
		large := beginning(journal.Session{ID: "large", Owner: "ada"})
		large.Blobs = [][]byte{bytes.Repeat([]byte("x"), 1_000_000)} // SQLite undoes the transaction with this statement
		errs := g.hold(g.adds("a", 0), func() error { return g.db.Begin(t.Context(), large) }, g.adds("c", 0))()
		g.matches(errs, nil, journal.ErrFull, nil)
		g.has(map[string]int64{"a": 1, "c": 1})
	})
}

func TestWritesThatFindTheDiskFullTogetherShareTheReserve(t *testing.T) {
	grouped(t, func(t *testing.T, g *group) {
		f := inFile(t, g.db)
		assert.NoError(t, os.WriteFile(f.reserveName(), nil, 0o600))
		pragma(t, g.db, fmt.Sprintf(`PRAGMA max_page_count = %d`,
			one[int](t, g.db, `SELECT page_count FROM pragma_page_count`)))
		g.db.dialect = filling{f, t}
		answer := bytes.Repeat([]byte("an answer "), 2000)
		assert.Nilf(t, errors.Join(g.hold(g.adds("a", 0, answer...), g.adds("b", 0, answer...))()...), "an answer is lost")
		g.has(map[string]int64{"a": 1, "b": 1})
	})
}

func TestCloseWaitsForWritesThatWait(t *testing.T) {
	grouped(t, func(t *testing.T, g *group) {
		path := inFile(t, g.db).path
		release := g.hold(g.adds("a", 0), g.adds("b", 0), g.adds("a", 1))
		closed := make(chan error)
		go func() { closed <- g.db.Close() }()
		closing(g.db)
		assert.Nil(t, errors.Join(release()...))
		err := <-closed
		assert.Nil(t, err)
		g.db = openAt(t, path, Unsynced())
		g.has(map[string]int64{"a": 2, "b": 1})
	})
}

// closing returns when a call of Close waits for other calls.
func closing(db *DB) {
	for db.use.TryRLock() {
		db.use.RUnlock()
		runtime.Gosched()
	}
}

// counted is a connection that counts how often each statement was prepared.
type counted struct {
	driverConn
	times map[string]int
}

func (c counted) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	c.times[text]++
	return c.driverConn.PrepareContext(ctx, text)
}

// asks calls the store in many ways. What it writes for each n is its own.
func asks(t *testing.T, db *DB, n int) {
	t.Helper()
	id := fmt.Sprint("session ", n)
	b := beginning(journal.Session{ID: id, Owner: "ada"})
	b.Blobs, b.Records = [][]byte{[]byte(id), []byte("same")}, []journal.Record{{Seq: 0}, {Seq: 1}}
	add := func(seq int64, end *journal.End) error {
		return db.Append(t.Context(), "ada", b.Run.ID, []journal.Record{{Seq: seq}}, end)
	}
	assert.NoError(t, errors.Join(db.Begin(t.Context(), b), add(2, nil), add(3, &journal.End{Status: journal.Done})))
	err := db.Begin(t.Context(), b)
	assert.That(t, errors.Is(err, journal.ErrExists), "begun twice: %v, want ErrExists", err)
	err = add(3, nil)
	assert.That(t, errors.Is(err, journal.ErrEnded), "added after the end: %v, want ErrEnded", err)
	recs, err := db.Records(t.Context(), "ada", b.Run.ID, 0)
	assert.That(t, err == nil && len(recs) == 4, "%d records, %v, want 4", len(recs), err)
}

func TestNoStatementIsPreparedTwiceOnAConnectionToAFile(t *testing.T) {
	db := fresh(t)
	f := inFile(t, db)
	f.readers.SetMaxOpenConns(1)
	times := map[*sql.DB]map[string]int{f.writer: {}, f.readers: {}}
	for pool, times := range times {
		rawConn(t, pool, func(c *fileConn) { c.driverConn = counted{c.driverConn, times} })
	}
	for n := range 3 {
		asks(t, db, n)
	}
	for pool, times := range times {
		assert.That(t, len(times) != 0, "nothing was counted, writes: %v", pool == f.writer)
		for text, n := range times {
			assert.That(t, n <= 1, "prepared %d times: %s", n, text)
		}
	}
}

func TestConnectionToAFileKeepsABoundedNumberOfStatements(t *testing.T) {
	db := fresh(t)
	pool := inFile(t, db).readers
	pool.SetMaxOpenConns(1)
	for n := range mostKept + 1 {
		got := one[int](t, db, fmt.Sprintf("SELECT %d + $1", n), 1)
		assert.Require(t, got == n+1, "%d + 1 is %d", n, got)
	}
	rawConn(t, pool, func(c *fileConn) {
		assert.That(t, len(c.kept) <= mostKept, "%d statements are kept", len(c.kept))
	})
	assert.Equalf(t, one[int](t, db, "SELECT 1 + $1", 1), 2, "a statement that was given up")
}

func TestNoStatementIsParsedTwiceOnAConnectionToAServer(t *testing.T) {
	var mu sync.Mutex
	times := map[string]int{}
	_, through := before(t, newSchema(t, pgtest.New(t)), func(message []byte) cut {
		if message[0] == 'P' { // Parse: the name, the text, and its types
			mu.Lock()
			defer mu.Unlock()
			times[string(bytes.Split(message[5:], []byte{0})[1])]++
		}
		return nothing
	})
	db := serverAt(t, through+"&pool_max_conns=1")
	mu.Lock()
	clear(times) // the migrations'
	mu.Unlock()
	for n := range 3 {
		asks(t, db.DB, n)
	}
	mu.Lock()
	defer mu.Unlock()
	assert.That(t, len(times) != 0, "nothing was counted")
	for text, n := range times {
		assert.That(t, n <= 1, "parsed %d times: %s", n, text)
	}
}
