package app

import (
	"context"
	"fmt"
	"iter"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/journal"
	"sibyl/internal/store"
	"sibyl/internal/store/pgtest"
)

// perRun is what a run of the bench adds to each database, in a session of its own, once its tree and prompts are known.
var perRun = map[string]int64{"session": 1, "run": 1, "record": 8} // start, 3 turns, 2 calls, trace, end

// TestRunAddsTheSameRowsToEveryDatabaseInFewRoundTrips tells what docs/scaling.md says of rows, bytes and round trips.
func TestRunAddsTheSameRowsToEveryDatabaseInFewRoundTrips(t *testing.T) {
	const runs = 50
	plays := func(t *testing.T, b *bench) {
		for range runs {
			if err := b.once(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		b := newBench(t)
		plays(t, b)
		before := content(t, b)
		plays(t, b)
		wantRows(t, content(t, b).less(before), runs)
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := pgtest.New(t)
		wire := tap(t, dsn)
		b := newBenchOn(t, wire.dsn)
		plays(t, b)
		before, turns := content(t, b), wire.turns()
		plays(t, b)
		turns = wire.turns() - turns
		wantRows(t, content(t, b).less(before), runs)
		// Each of the seven writes is two: what it writes, and its commit. The rest is for runs that take longer than a heartbeat.
		if most := 16; turns > most*runs {
			t.Errorf("%d round trips in %d runs, more than %d each", turns, runs, most)
		}
		t.Logf("%.1f round trips a run", float64(turns)/runs)
	})
}

// sums are the rows of each table, and the bytes in them.
type sums struct {
	rows  map[string]int64
	bytes int64
}

func content(tb testing.TB, b *bench) sums {
	tb.Helper()
	all := sums{rows: map[string]int64{}}
	db, ok := b.Store.(store.Database)
	if !ok {
		tb.Fatalf("%T can't be read as a whole", b.Store)
	}
	err := db.ReadAll(tb.Context(), func(rows func(store.Table) iter.Seq2[store.Row, error]) error {
		for _, table := range store.Tables() {
			for row, err := range rows(table) {
				if err != nil {
					return err
				}
				all.rows[table.Name]++
				for _, v := range row {
					switch v := v.(type) {
					case string:
						all.bytes += int64(len(v))
					case []byte:
						all.bytes += int64(len(v))
					case int64:
						all.bytes += 8
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func (s sums) less(before sums) sums {
	for table, n := range before.rows {
		if s.rows[table] -= n; s.rows[table] == 0 {
			delete(s.rows, table)
		}
	}
	s.bytes -= before.bytes
	return s
}

func wantRows(t *testing.T, got sums, runs int64) {
	t.Helper()
	for table, n := range perRun {
		if got.rows[table] != n*runs {
			t.Errorf("%d runs add %d rows to %s; want %d each", runs, got.rows[table], table, n)
		}
	}
	for table := range got.rows {
		if perRun[table] == 0 {
			t.Errorf("%d runs add %d rows to %s; want none", runs, got.rows[table], table)
		}
	}
	t.Logf("%v rows in %d runs, %d bytes a run", got.rows, runs, got.bytes/runs)
}

// wire stands between the program and PostgreSQL, and counts how often it waited for an answer.
type wire struct {
	dsn string

	mu    sync.Mutex
	total int
}

func (w *wire) turns() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.total
}

// tap listens in front of the server of a DSN.
func tap(t *testing.T, dsn string) *wire {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	folder, err := os.MkdirTemp("", "tap") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	const socket = ".s.PGSQL.5432"
	server := filepath.Join(q.Get("host"), socket)
	q.Set("host", folder)
	u.RawQuery = q.Encode()
	l, err := net.Listen("unix", filepath.Join(folder, socket))
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{dsn: u.String()}
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
		_ = os.RemoveAll(folder)
	})
	all.Go(func() {
		for {
			program, err := l.Accept()
			if err != nil {
				return
			}
			database, err := net.Dial("unix", server)
			if err != nil {
				t.Error(err)
				_ = program.Close()
				return
			}
			all.Go(func() { w.carry(program, database) })
		}
	})
	return w
}

// carry passes on what both sides say. A round trip is an answer after something was said.
func (w *wire) carry(program, database net.Conn) {
	var both sync.WaitGroup
	var mu sync.Mutex
	asked, told := false, false
	pass := func(to, from net.Conn, note func(said []byte)) {
		defer func() { _, _ = to.Close(), from.Close() }()
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			mu.Lock()
			note(buf[:n])
			mu.Unlock()
			if _, writeErr := to.Write(buf[:n]); err != nil || writeErr != nil {
				return
			}
		}
	}
	both.Go(func() {
		pass(database, program, func(said []byte) {
			asked, told = len(said) > 0, told || strings.Contains(string(said), "pg_notify")
		})
	})
	both.Go(func() {
		pass(program, database, func([]byte) {
			if asked && !told { // the connection that tells other processes is beside the way of a run
				w.mu.Lock()
				w.total++
				w.mu.Unlock()
			}
			asked = false
		})
	})
	both.Wait()
}

// work is what a PostgreSQL server has done since a moment.
type work struct {
	conn *pgx.Conn
	cpu  float64
	wal  int64
	size int64
}

func watchWork(b *testing.B, dsn string) *work {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(context.WithoutCancel(b.Context())) })
	w := &work{conn: conn}
	w.cpu, w.wal, w.size = w.now(b)
	return w
}

// report adds the work since then, by so many runs, to what a benchmark reports.
func (w *work) report(b *testing.B, runs int) {
	b.Helper()
	cpu, wal, size := w.now(b)
	b.ReportMetric((cpu-w.cpu)/float64(runs)*1000, "db-cpu-s/1000-runs")
	b.ReportMetric(float64(wal-w.wal)/float64(runs)/1024, "wal-KiB/run")
	b.ReportMetric(float64(size-w.size)/float64(runs)/1024, "disk-KiB/run")
}

// now is the processor time that the server's processes took, those that are gone too, the position in its log, and the size of the database.
func (w *work) now(b *testing.B) (cpu float64, wal, size int64) {
	b.Helper()
	if err := w.conn.QueryRow(b.Context(), `SELECT pg_current_wal_lsn() - '0/0'::pg_lsn, pg_database_size(current_database())`).Scan(&wal, &size); err != nil {
		b.Fatal(err)
	}
	rows, err := w.conn.Query(b.Context(), `SELECT pid FROM pg_stat_activity`)
	if err != nil {
		b.Fatal(err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		b.Fatal(err)
	}
	parents := map[int]bool{}
	for _, pid := range pids {
		own, _, parent := processorTimes(pid)
		cpu += own
		parents[parent] = true
	}
	for parent := range parents {
		own, gone, _ := processorTimes(parent)
		cpu += own + gone
	}
	return cpu, wal, size
}

// processorTimes are the seconds that a process and its children that are gone have taken; 0 where the system does not tell.
func processorTimes(pid int) (own, gone float64, parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, 0
	}
	fields := strings.Fields(string(text[slices.Index(text, ')')+1:]))
	const ticks = 100 // a second
	at := func(i int) float64 {
		n, _ := strconv.ParseFloat(fields[i], 64)
		return n
	}
	return (at(11) + at(12)) / ticks, (at(13) + at(14)) / ticks, int(at(1))
}

// BenchmarkUpkeep tells what a node asks of its database beside its runs: once a second how they stand and which runs nobody drives, and
// every third of a lease that the leases last.
func BenchmarkUpkeep(b *testing.B) {
	server := pgtest.Start(b, pgtest.Options{Durable: true})
	for _, database := range []string{"sqlite", "postgres"} {
		for _, running := range []int{100, 1000, 4000} {
			dsn := ""
			if database == "postgres" {
				dsn = server.New(b)
			}
			db := newBenchOn(b, dsn).Store
			keys := begun(b, db, running)
			now := time.Now()
			for _, ask := range []struct {
				what string
				do   func() error
			}{
				{"renew", func() error { return db.Renew(b.Context(), "bench", keys[:min(running, 1000)], now.Add(time.Hour)) }},
				{"standing", func() error { return ignoring(db.Standing(b.Context(), keys[:min(running, 1000)])) }},
				{"stranded", func() error { return ignoring(db.Stranded(b.Context(), journal.When{Now: now}, 16)) }},
			} {
				b.Run(fmt.Sprintf("%s/%s/%d", database, ask.what, running), func(b *testing.B) {
					var w *work
					if dsn != "" {
						w = watchWork(b, dsn)
					}
					before := cpuSeconds(b)
					for b.Loop() {
						if err := ask.do(); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric((cpuSeconds(b)-before)/float64(b.N)*1e6, "cpu-µs/op")
					if w != nil {
						cpu, wal, _ := w.now(b)
						b.ReportMetric((cpu-w.cpu)/float64(b.N)*1e6, "db-cpu-µs/op")
						b.ReportMetric(float64(wal-w.wal)/float64(b.N)/1024, "wal-KiB/op")
					}
				})
			}
		}
	}
}

func ignoring[T any](_ T, err error) error { return err }

// begun begins runs that are driven, of 100 owners.
func begun(b *testing.B, db journal.Store, n int) []journal.Key {
	b.Helper()
	keys := make([]journal.Key, n)
	var all sync.WaitGroup
	for part := range 16 {
		all.Go(func() {
			for i := part; i < n; i += 16 {
				now := time.Now()
				keys[i] = journal.Key{Owner: journal.Owner(fmt.Sprintf("user-%d", i%100)), Run: fmt.Sprintf("run-%d", i)}
				session := journal.Session{ID: "session of " + keys[i].Run, Owner: keys[i].Owner, CreatedAt: now, UpdatedAt: now}
				if err := db.Begin(b.Context(), journal.Beginning{Session: &session, Run: journal.Run{ID: keys[i].Run, Session: session.ID, Owner: keys[i].Owner, StartedAt: now,
					LeaseHolder: "bench", LeaseUntil: now.Add(time.Hour)}}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	return keys
}
