package store

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/task"
)

// plans has the server tell how it carries out each statement.
type plans struct {
	mu   sync.Mutex
	told []string
}

func (p *plans) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	told := p.told
	p.told = nil
	return told
}

// planned opens a database whose plans are told.
func planned(t *testing.T, dsn string) (*Server, *plans) {
	t.Helper()
	p := &plans{}
	db := serverAt(t, dsn+"&session_preload_libraries=auto_explain&auto_explain.log_min_duration=0&auto_explain.log_level=warning")
	config := db.server.pool.Config()
	prepare := config.BeforeConnect
	config.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
		err := prepare(ctx, c)
		notice := c.OnNotice
		c.OnNotice = func(conn *pgconn.PgConn, n *pgconn.Notice) {
			notice(conn, n)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.told = append(p.told, n.Message)
		}
		return err
	}
	db.server.pool.Close()
	var err error
	db.server.pool, err = pgxpool.NewWithConfig(t.Context(), config)
	assert.NoError(t, err)
	return db, p
}

// What a call costs must not grow with what others keep.
func TestNoCallReadsAWholeTable(t *testing.T) {
	dsn := pgtest.New(t)
	db, p := planned(t, dsn)
	execute(t, db.DB, `
		INSERT INTO session SELECT 's' || n, 'o' || n % 500, 'a', 't', n, n FROM generate_series(1, 5000) AS n`)
	execute(t, db.DB, `
		INSERT INTO run (id, session, owner, assistant, title, status, started_at, lease_holder, blobs, counted)
		SELECT 'r' || n, 's' || n % 5000 + 1, 'o' || n % 500, 'a', 't', CASE WHEN n % 100 = 0 THEN 'running' ELSE 'done' END, n, '', '[' || n % 5000 + 1 || ']', CASE n % 100 WHEN 0 THEN 0 ELSE 1 END
		FROM generate_series(1, 20000) AS n`)
	execute(t, db.DB, `INSERT INTO used SELECT owner, started_at, no, 'm', 1, 1, 1, 1 FROM run`)
	execute(t, db.DB, `INSERT INTO record SELECT no << 24 | seq, 0, 'k', 'd' FROM run, generate_series(0, 5) AS seq`)
	execute(t, db.DB, `INSERT INTO blob (owner, hash, runs) SELECT 'o' || n % 500, 'h' || n, 4 FROM generate_series(1, 40000) AS n`)
	execute(t, db.DB, `INSERT INTO blob_content SELECT no, 'c' FROM blob`)
	execute(t, db.DB, `INSERT INTO pending SELECT id, 'p', owner, 'r', 'k', '', 0 FROM session`)
	execute(t, db.DB, `INSERT INTO claim SELECT owner, id, id FROM run`)
	execute(t, db.DB, `INSERT INTO tombstone SELECT 'x' || n, 'o' || n % 500, 'a', n, n, n, 1, 'retention' FROM generate_series(1, 5000) AS n`)
	execute(t, db.DB, `INSERT INTO task (owner, title, status, created_at, version, gone) SELECT 'o' || n % 500, 't', 'pending', n, 1, n % 3 / 2 FROM generate_series(1, 20000) AS n`)
	execute(t, db.DB, `INSERT INTO task_change (owner, task, key, action, actor, after, at) SELECT owner, id, 'k' || id, 'add', 'a', '{}', 0 FROM task`)
	execute(t, db.DB, `ANALYZE`)
	now := time.UnixMilli(1_000_000)
	p.take()
	whole := regexp.MustCompile(`Seq Scan on (\w+)`)
	for name, call := range map[string]func(context.Context) error{
		"Session": func(ctx context.Context) error { _, err := db.Session(ctx, "o7", "s7"); return err },
		"Sessions": func(ctx context.Context) error {
			_, err := db.Sessions(ctx, "o7", journal.SessionFilter{})
			return err
		},
		"Sessions after": func(ctx context.Context) error {
			_, err := db.Sessions(ctx, "o7", journal.SessionFilter{Assistant: "a", Limit: 5,
				After: journal.Cursor{At: time.UnixMilli(3000), ID: "s9"}})
			return err
		},
		"RenameSession": func(ctx context.Context) error { return db.RenameSession(ctx, "o7", "s7", "new") },
		"Unused": func(ctx context.Context) error {
			_, err := db.Unused(ctx, "o7", journal.IdleFilter{Before: now, Now: now})
			return err
		},
		"Tombstones": func(ctx context.Context) error {
			_, err := db.Tombstones(ctx, "o7", journal.SessionFilter{})
			return err
		},
		"Begin": func(ctx context.Context) error {
			b := beginning(journal.Session{ID: "new", Owner: "o7"})
			b.Blobs, b.Claims, b.Records = [][]byte{[]byte("x")}, []string{"c"}, []journal.Record{{}}
			return db.Begin(ctx, b)
		},
		"Begin in a session": func(ctx context.Context) error {
			return db.Begin(ctx, journal.Beginning{Run: journal.Run{ID: "new too", Session: "s7", Owner: "o7"},
				Consume: []string{"p"}})
		},
		"Append": func(ctx context.Context) error {
			return db.Append(ctx, "o100", "r100", []journal.Record{{Seq: 6}}, nil)
		},
		"end": func(ctx context.Context) error {
			return db.Append(ctx, "o200", "r200", []journal.Record{{Seq: 6}}, &journal.End{Status: journal.Done,
				Pending: []journal.Pending{{ID: "q"}}})
		},
		"Run":  func(ctx context.Context) error { _, err := db.Run(ctx, "o7", "r7"); return err },
		"Runs": func(ctx context.Context) error { _, err := db.Runs(ctx, "o7", journal.Filter{}); return err },
		"Runs of a session": func(ctx context.Context) error {
			_, err := db.Runs(ctx, "o7", journal.Filter{Session: "s8", Summaries: true})
			return err
		},
		"Runs that run": func(ctx context.Context) error {
			_, err := db.Runs(ctx, "o0", journal.Filter{Status: journal.Running})
			return err
		},
		"Records": func(ctx context.Context) error { _, err := db.Records(ctx, "o7", "r7", 2); return err },
		"Blob":    func(ctx context.Context) error { _, err := db.Blob(ctx, "o7", "h7"); return err },
		"Pending": func(ctx context.Context) error { _, err := db.Pending(ctx, "o9", "s9", now); return err },
		"Claimed": func(ctx context.Context) error { _, err := db.Claimed(ctx, "o300", "r300"); return err },
		"Acquire": func(ctx context.Context) error {
			return db.Acquire(ctx, "o300", "r300", "here", now, now.Add(time.Hour))
		},
		"Renew": func(ctx context.Context) error {
			return db.Renew(ctx, "here", []journal.Key{{Owner: "o300", Run: "r300"}, {Owner: "o400", Run: "r400"}}, now)
		},
		"UsedBetween": func(ctx context.Context) error {
			_, _, err := db.UsedBetween(ctx, "o7", time.UnixMilli(0), now)
			return err
		},
		"UsedBy": func(ctx context.Context) error {
			_, _, err := db.UsedBy(ctx, []journal.Key{{Owner: "o300", Run: "r300"}, {Owner: "o7", Run: "r7"}})
			return err
		},
		"KeepUsed": func(ctx context.Context) error {
			return db.KeepUsed(ctx, map[journal.Key][]journal.Used{{Owner: "o7", Run: "r7"}: {{Model: "m"}}})
		},
		"Snapshots": func(ctx context.Context) error {
			_, err := db.Snapshots(ctx, []journal.Key{{Owner: "o300", Run: "r300"}, {Owner: "o400", Run: "r400"}})
			return err
		},
		"Stranded": func(ctx context.Context) error {
			_, err := db.Stranded(ctx, journal.LeaseTimes{Now: now}, 5)
			return err
		},
		"Nodes": func(ctx context.Context) error { _, err := db.Nodes(ctx, now); return err },
		"Apply": func(ctx context.Context) error {
			_, _, err := tasksIn(db).Update(ctx, task.By{Owner: "o7", Key: "k"}, 7, 0, task.Edit{Title: new("new")})
			return err
		},
		"Tasks": func(ctx context.Context) error {
			_, err := db.Tasks(ctx, "o7", task.Filter{Status: task.Pending, Newest: true, After: 507, Limit: 5})
			return err
		},
		"Tasks by ids": func(ctx context.Context) error {
			_, err := db.Tasks(ctx, "o7", task.Filter{IDs: []int64{7, 507}})
			return err
		},
		"Count":   func(ctx context.Context) error { _, err := db.Count(ctx, "o7", task.Filter{}); return err },
		"Task":    func(ctx context.Context) error { _, err := db.Task(ctx, "o7", 7); return err },
		"History": func(ctx context.Context) error { _, err := db.History(ctx, "o7", 7); return err },
		"Changes": func(ctx context.Context) error { _, err := db.Changes(ctx, "o7", 9); return err },
		"Made":    func(ctx context.Context) error { _, err := db.Made(ctx, "o7", "k7"); return err },
		"DeleteSession": func(ctx context.Context) error {
			return db.DeleteSession(ctx, "o20", "s20", journal.ByPerson, now)
		},
		"Retire": func(ctx context.Context) error {
			_, err := db.Retire(ctx, "o30", journal.IdleFilter{Before: now, Now: now, Limit: 3})
			return err
		},
	} {
		err := call(t.Context())
		told := p.take()
		assert.That(t, len(told) != 0, "%s: no plan is told, error %v", name, err)
		for _, plan := range told {
			for _, found := range whole.FindAllStringSubmatch(plan, -1) {
				if table := found[1]; table != "node" && table != "duty" {
					t.Errorf("%s reads all of %s, error %v:\n%s", name, table, err, strings.TrimSpace(plan))
				}
			}
		}
	}
}
