package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/store/pgtest"
)

// throughBouncer is the address of an empty database through a PgBouncer, and the direct one.
func throughBouncer(t *testing.T, mode string, settings ...string) (through, direct string) {
	t.Helper()
	direct = pgtest.New(t)
	server := assert.Must(pgtest.Shared(t.Context()))(t)
	return server.PgBouncer(t, direct, mode, settings...), direct
}

// tables lists the schemas in which there are tables.
func tables(t *testing.T, dsn string) string {
	t.Helper()
	return one[string](t, serverAt(t, dsn).DB, `SELECT string_agg(DISTINCT schemaname::text, ',') FROM pg_tables
		WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`)
}

func TestPoolerThatSharesSessionsOrNotChangesNothing(t *testing.T) {
	for _, mode := range []string{"session", "transaction"} {
		for name, settings := range map[string]string{"": "", "and simple statements": "&default_query_exec_mode=simple_protocol"} {
			t.Run(mode+" mode "+name, func(t *testing.T) {
				through, direct := throughBouncer(t, mode, "default_pool_size = 3", "server_round_robin = 1")
				if mode == "session" {
					through += "&pool_max_conns=3"
				}
				db := serverAt(t, through+settings+"&lock_timeout=4321ms")
				assert.Equalf(t, tables(t, direct), "sibyl", "the schemas with tables")
				for name, want := range map[string]string{"search_path": "sibyl", "lock_timeout": "4321ms",
					"statement_timeout": "15s", "synchronous_commit": "on", "client_min_messages": "warning",
					"idle_in_transaction_session_timeout": "3s", "application_name": "sibyl"} {
					assert.Equalf(t, one[string](t, db.DB, `SELECT current_setting($1)`, name), want, "%s of a read", name)
					err := db.write(t.Context(), func(tx *tx) error {
						for range 2 { // of each statement in a transaction
							got, err := queryRows(tx, scanValue[string], `SELECT current_setting($1)`, name)
							if err != nil {
								return err
							}
							assert.Equalf(t, got[0], want, "%s of a write", name)
						}
						return nil
					})
					assert.NoError(t, err)
				}
				workAtOnce(t, db)
				sound(t, db.DB)
				err := db.Announced(t.Context(), func(bool) {}, func(journal.Key) {})
				assert.That(t, errors.Is(err, journal.ErrUnannounced), "listening gives %v", err)
				closeDB(t, db.DB)
				// What other programs of the pooler get is as it was.
				other := assert.Must(pgx.Connect(t.Context(), strings.Replace(through, "&pool_max_conns=3", "", 1)+
					"&default_query_exec_mode=exec"))(t)
				defer func() { _ = other.Close(context.WithoutCancel(t.Context())) }()
				for range 6 {
					var path, limit string
					assert.NoError(t, other.QueryRow(t.Context(),
						`SELECT current_setting('search_path'), current_setting('statement_timeout')`).Scan(&path, &limit))
					assert.Equalf(t, path+" "+limit, `"$user", public 0`, "the settings of another program")
				}
			})
		}
	}
}

// workAtOnce has several write at once, each in a session of its own and all in one.
func workAtOnce(t *testing.T, db *Server) {
	t.Helper()
	begin(t, db.DB, 1, []byte("tree"))
	var all sync.WaitGroup
	for worker := range 6 {
		all.Go(func() {
			for round := range 10 {
				id := fmt.Sprintf("%d-%d", worker, round)
				b := beginning(journal.Session{ID: "session " + id, Owner: "ada", Title: "it's \\ 'quoted' ä"})
				b.Records, b.Blobs = []journal.Record{{Data: []byte(`{"a": "\u00e4\\"}`)}}, [][]byte{[]byte("tree"), {0, 1, 255}}
				err := db.Begin(t.Context(), b)
				assert.Nilf(t, err, "Begin")
				err = db.Append(t.Context(), "ada", b.Run.ID, []journal.Record{{Seq: 1, Kind: "end"}},
					&journal.End{Status: journal.Done, At: time.UnixMilli(9)})
				assert.Nilf(t, err, "Append")
				err = db.RenameSession(t.Context(), "ada", "session", id)
				assert.Nilf(t, err, "RenameSession")
				recs, err := db.Records(t.Context(), "ada", b.Run.ID, 0)
				assert.That(t, err == nil && len(recs) == 2 && string(recs[0].Data) == string(b.Records[0].Data),
					"the records are %+v, error %v", recs, err)
				_, err = db.Now(t.Context())
				assert.Nilf(t, err, "Now")
			}
		})
	}
	all.Wait()
}

func TestTimeoutsHoldBehindAPooler(t *testing.T) {
	through, _ := throughBouncer(t, "transaction")
	db := serverAt(t, through+"&statement_timeout=300ms&lock_timeout=200ms")
	begin(t, db.DB, 1)
	_, err := readRows(t.Context(), db.DB, scanValue[string], `SELECT pg_sleep(60)::text`)
	assert.That(t, serverCode(err) == queryCanceled, "a read that takes long: %v", err)
	err = db.write(t.Context(), func(t *tx) error {
		t.run(`SELECT pg_sleep(60)`)
		return nil
	})
	assert.That(t, serverCode(err) == queryCanceled, "a write that takes long: %v", err)
	err = db.write(t.Context(), func(tx *tx) error {
		tx.run(`UPDATE session SET title = 'one'`)
		if err := tx.send(); err != nil {
			return err
		}
		err := db.RenameSession(t.Context(), "ada", "session", "two")
		assert.That(t, errors.Is(err, journal.ErrLocked), "a write that waits for another: %v", err)
		return nil
	})
	assert.NoError(t, err)
}

func TestCopyBehindAPoolerSeesOneMoment(t *testing.T) {
	through, _ := throughBouncer(t, "transaction")
	db, to := serverAt(t, through), fresh(t)
	begin(t, db.DB, 3, []byte("tree"))
	ended := &journal.End{Status: journal.Done, At: time.UnixMilli(9)}
	assert.NoError(t, db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 3}}, ended))
	_, err := Copy(t.Context(), db, to, time.UnixMilli(1))
	assert.NoError(t, err)
	back, _ := throughBouncer(t, "transaction")
	_, err = Copy(t.Context(), to, serverAt(t, back), time.UnixMilli(1))
	assert.NoError(t, err)
}

func TestSessionsOfAPoolerCanBeUsedAsOnesOwn(t *testing.T) {
	through, _ := throughBouncer(t, "session")
	db := serverAt(t, through+"&default_query_exec_mode=cache_statement&pool_max_conns=4")
	assert.Equalf(t, one[string](t, db.DB, `SELECT current_setting('statement_timeout')`), "15s", "statement_timeout")
	workAtOnce(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	heard := make(chan journal.Key, 16)
	go func() { _ = db.Announced(ctx, func(bool) {}, func(k journal.Key) { heard <- k }) }()
	for deadline := time.After(time.Minute); ; {
		db.announce(journal.Key{Owner: "ada", Run: "run"})
		select {
		case k := <-heard:
			assert.Equalf(t, k.Run, "run", "what is heard")
			return
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			t.Fatal("waited for an announcement")
		}
	}
}

func TestWhatAPoolerRefusesIsExplained(t *testing.T) {
	t.Run("prepared statements where sessions are shared", func(t *testing.T) {
		through, direct := throughBouncer(t, "transaction", "server_round_robin = 1", "default_pool_size = 3")
		serverAt(t, direct)
		var said error
		db, err := OpenServer(t.Context(), through+"&default_query_exec_mode=cache_statement")
		if said = err; err == nil {
			t.Cleanup(func() { closeDB(t, db.DB) })
			for try := 0; try < 100 && said == nil; try++ {
				var all sync.WaitGroup
				errs := make(chan error, 4)
				for range 4 {
					all.Go(func() { errs <- db.RenameSession(t.Context(), "ada", "none", "x") })
				}
				all.Wait()
				close(errs)
				for err := range errs {
					if !errors.Is(err, journal.ErrNotFound) {
						said = err
					}
				}
			}
		}
		assert.That(t, said != nil && strings.Contains(said.Error(), "default_query_exec_mode"),
			"error is %v, want one that names the setting", said)
	})
	t.Run("a parameter", func(t *testing.T) {
		through, _ := throughBouncer(t, "transaction")
		_, err := OpenServer(t.Context(), through+"&work_mem=64MB")
		assert.That(t, err != nil, "it was opened")
		assert.Contains(t, "the error", err.Error(), "work_mem", "PgBouncer", "ALTER ROLE")
	})
	t.Run("transactions", func(t *testing.T) {
		through, _ := throughBouncer(t, "statement")
		_, err := OpenServer(t.Context(), through)
		assert.That(t, err != nil, "it was opened")
		assert.Contains(t, "the error", err.Error(), "PgBouncer", "transaction blocks not allowed")
	})
	t.Run("more connections", func(t *testing.T) {
		through, _ := throughBouncer(t, "transaction", "max_client_conn = 1")
		db := serverAt(t, through)
		begin(t, db.DB, 1)
		conn := assert.Must(db.server.acquire(t.Context()))(t)
		defer conn.Release()
		err := db.RenameSession(t.Context(), "ada", "session", "x")
		assert.That(t, errors.Is(err, journal.ErrUnreachable) && !errors.Is(err, journal.ErrUnsure) &&
			strings.Contains(err.Error(), "nothing was sent"), "error is %v, want ErrUnreachable", err)
	})
}

// A pooler says in the server's words that it has lost it. That is no answer to a COMMIT.
func TestCommitBehindAPoolerIsUnsureWhenItsSessionEnds(t *testing.T) {
	p := newReplicated(t)
	through := p.primary.PgBouncer(t, p.primary.DSN(p.name), "transaction")
	db := serverAt(t, through)
	assert.NoError(t, p.add(t.Context(), db, "with a standby"))
	p.standby.Stop(t)
	impatient(db)
	direct := p.direct()
	for _, end := range []string{"", "pg_cancel_backend", "pg_terminate_backend"} {
		added := make(chan error)
		go func() { added <- p.add(t.Context(), db, fmt.Sprintf("ended by %q", end)) }()
		awaitWaiting(t, direct, 1)
		if end != "" {
			assert.Must(direct.Exec(t.Context(), `SELECT `+end+`(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`))(t)
		}
		unsure(t, <-added, "ended by %q", end)
		assert.Must(direct.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`))(t)
		awaitWaiting(t, direct, 0)
	}
	p.failOver()
	p.kept(p.open(""))
}
