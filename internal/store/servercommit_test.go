package store

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/server/node"
	"sibyl/internal/server/user"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/task"
)

func isCommit(message []byte) bool {
	return message[0] == 'Q' && strings.Contains(string(message), "COMMIT")
}

// everyWrite is a write of each kind, on what prepare makes, with what it gives.
func everyWrite() map[string]func(context.Context, *Server) error {
	noon := time.UnixMilli(1_000_000)
	token := user.Token{ID: "t", User: "ada", Kind: user.Bearer, Scope: user.Read, CreatedAt: noon,
		ExpiresAt: noon.Add(time.Hour)}
	return map[string]func(context.Context, *Server) error{
		"Begin": func(ctx context.Context, db *Server) error {
			b := beginning(journal.Session{ID: "new", Owner: "ada"})
			b.Records, b.Blobs, b.Claims = []journal.Record{{}}, [][]byte{[]byte("tree")}, []string{"key"}
			return db.Begin(ctx, b)
		},
		"Begin that consumes": func(ctx context.Context, db *Server) error {
			return db.Begin(ctx, journal.Beginning{Run: journal.Run{ID: "second", Session: "asks", Owner: "ada"},
				Consume: []string{"p"}})
		},
		"Append": func(ctx context.Context, db *Server) error {
			return db.Append(ctx, "ada", "run", []journal.Record{{Seq: 1}, {Seq: 2}}, nil)
		},
		"end": func(ctx context.Context, db *Server) error {
			return db.Append(ctx, "ada", "run", []journal.Record{{Seq: 1}}, &journal.End{Status: journal.Done, At: noon,
				Pending: []journal.Pending{{ID: "q"}}})
		},
		"RenameSession": func(ctx context.Context, db *Server) error {
			return db.RenameSession(ctx, "ada", "session", "renamed")
		},
		"DeleteSession": func(ctx context.Context, db *Server) error {
			return db.DeleteSession(ctx, "ada", "session", journal.ByPerson, noon)
		},
		"Retire": func(ctx context.Context, db *Server) error {
			left, err := db.Retire(ctx, "ada", journal.IdleFilter{Before: noon, Now: noon, Limit: 1})
			if err == nil && len(left) != 1 {
				err = errors.New("it says that nothing was removed")
			}
			return err
		},
		"Acquire": func(ctx context.Context, db *Server) error {
			return db.Acquire(ctx, "ada", "run", "here", noon, noon.Add(time.Hour))
		},
		"Release": func(ctx context.Context, db *Server) error {
			return db.Release(ctx, "ada", "leased", "there", noon)
		},
		"Renew": func(ctx context.Context, db *Server) error {
			return db.Renew(ctx, "there", []journal.Key{{Owner: "ada", Run: "leased"}}, noon.Add(2*time.Hour))
		},
		"AddUser": func(ctx context.Context, db *Server) error {
			return db.AddUser(ctx, user.User{Name: "ada", Scope: user.Read, CreatedAt: noon}, token,
				user.HashOf("secret"))
		},
		"AddToken": func(ctx context.Context, db *Server) error {
			return db.AddToken(ctx, user.Token{ID: "u", User: "bob", Kind: user.Cookie, Scope: user.Read,
				CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)}, user.HashOf("other"))
		},
		"EndToken": func(ctx context.Context, db *Server) error {
			_, err := db.EndToken(ctx, user.HashOf("bob's"), user.SignIn, noon)
			return err
		},
		"RevokeUser": func(ctx context.Context, db *Server) error { return db.RevokeUser(ctx, "bob", noon) },
		"TakeDuty": func(ctx context.Context, db *Server) error {
			taken, err := db.TakeDuty(ctx, "retention", noon, time.Hour)
			if err == nil && !taken {
				err = errors.New("it says that another has the duty")
			}
			return err
		},
		"Keep": func(ctx context.Context, db *Server) error {
			return db.Keep(ctx, node.Node{Holder: "here", SeenAt: noon})
		},
		"Apply that adds": func(ctx context.Context, db *Server) error {
			_, again, err := tasksIn(db).Add(ctx, task.By{Owner: "ada", Key: "k"}, "added", nil)
			return anew(again, err)
		},
		"Apply that adds without a key": func(ctx context.Context, db *Server) error {
			_, again, err := tasksIn(db).Add(ctx, task.By{Owner: "ada"}, "added", nil)
			return anew(again, err)
		},
		"Apply that changes": func(ctx context.Context, db *Server) error {
			_, already, err := tasksIn(db).Complete(ctx, task.By{Owner: "ada"}, 1, 1)
			return anew(already, err)
		},
		"Apply that deletes": func(ctx context.Context, db *Server) error {
			_, again, err := tasksIn(db).Delete(ctx, task.By{Owner: "ada"}, 1, 1)
			return anew(again, err)
		},
		"Apply that undoes": func(ctx context.Context, db *Server) error {
			_, err := tasksIn(db).Undo(ctx, task.By{Owner: "ada"})
			return err
		},
	}
}

// anew wants a change to be told as one that was made by this call.
func anew(again bool, err error) error {
	if err == nil && again {
		err = errors.New("it says that it was made before")
	}
	return err
}

func tasksIn(db *Server) *task.Service {
	return task.New(db, func() time.Time { return time.UnixMilli(1_000_000) }, nil)
}

// prepare makes what everyWrite works on.
func prepare(t *testing.T, db *Server) {
	t.Helper()
	begin(t, db.DB, 1, []byte("tree"))
	leased := beginning(journal.Session{ID: "leased", Owner: "ada", UpdatedAt: time.UnixMilli(2_000_000)})
	leased.Run.ID, leased.Run.LeaseHolder, leased.Run.LeaseUntil = "leased", "there", time.UnixMilli(3_000_000)
	asks := beginning(journal.Session{ID: "asks", Owner: "ada", UpdatedAt: time.UnixMilli(2_000_000)})
	bob := user.Token{ID: "b", User: "bob", Kind: user.SignIn, Scope: user.Read, CreatedAt: time.UnixMilli(1),
		ExpiresAt: time.UnixMilli(9_000_000)}
	assert.NoError(t, errors.Join(db.Begin(t.Context(), leased), db.Begin(t.Context(), asks),
		db.Append(t.Context(), "ada", asks.Run.ID, []journal.Record{{}}, &journal.End{Status: journal.NeedsUser,
			Pending: []journal.Pending{{ID: "p"}}}),
		db.AddUser(t.Context(), user.User{Name: "bob", Scope: user.Read}, bob, user.HashOf("bob's"))))
	_, _, err := tasksIn(db).Add(t.Context(), task.By{Owner: "ada"}, "to do", nil)
	assert.NoError(t, err)
}

// state is all rows of a database, as text, but for the numbers that a sequence gives: those are not given twice.
func state(t *testing.T, db *Server) (all map[string]string) {
	t.Helper()
	all = map[string]string{}
	for name, query := range map[string]string{
		"session": `SELECT id, owner, title, updated_at`,
		"run":     `SELECT id, session, status, ended_at, lease_holder, lease_until, reason`,
		"pending": `SELECT session, id, run`, "claim": `SELECT key, run`, "tombstone": `SELECT id, reason, runs`,
		"blob":   `SELECT hash, runs`,
		"person": `SELECT name, revoked_at`, "token": `SELECT id, person, revoked_at`, "duty": `SELECT name, due_at`,
		"node": `SELECT holder, seen_at`,
		"task": `SELECT owner, title, status, version, gone`, "task_change": `SELECT owner, key, action, undoes, at`,
		"record": `SELECT (SELECT id FROM run WHERE no = key >> 24) AS run, key & 16777215, kind`,
	} {
		all[name] = one[string](t, db.DB, `SELECT coalesce(json_agg(r ORDER BY r::text)::text, '') FROM (`+query+
			` FROM `+name+`) AS r`)
	}
	return all
}

func TestWriteOfWhichTheConnectionIsLostAtCommitIsDoneOnce(t *testing.T) {
	database := pgtest.New(t)
	for name, write := range everyWrite() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := serverAt(t, newSchema(t, database))
			prepare(t, want)
			assert.NoError(t, write(t.Context(), want))
			for where, what := range map[string]cut{"before it arrives": beforeIt, "before it is answered": afterIt,
				"before the answer arrives": afterTheAnswer} {
				dsn := newSchema(t, database)
				direct := serverAt(t, dsn)
				prepare(t, direct)
				var done atomic.Bool
				_, through := before(t, dsn, func(message []byte) cut {
					if isCommit(message) && done.CompareAndSwap(false, true) {
						return what
					}
					return nothing
				})
				assert.Nilf(t, write(t.Context(), serverAt(t, through)), "%s", where)
				assert.That(t, done.Load(), "%s: nothing was cut", where)
				assert.NoDiff(t, cmp.Diff(state(t, want), state(t, direct)), "%s (-want +got)", where)
				sound(t, direct.DB)
			}
		})
	}
}

func TestWriteOfWhichTheConnectionIsLostAgainFailsAndLeavesNothing(t *testing.T) {
	for name, lost := range map[string]func([]byte) bool{
		"at commit": isCommit,
		"before the records": func(message []byte) bool {
			return message[0] == 'B' && strings.Contains(string(message), "unlucky")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := pgtest.New(t)
			direct := serverAt(t, dsn)
			begin(t, direct.DB, 1)
			was := state(t, direct)
			var broken atomic.Bool
			var times atomic.Int32
			_, through := before(t, dsn, func(message []byte) cut {
				if broken.Load() && lost(message) {
					times.Add(1)
					return beforeIt
				}
				return nothing
			})
			db := serverAt(t, through)
			broken.Store(true)
			err := db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1, Kind: "unlucky"}}, nil)
			assert.That(t, err != nil && strings.Contains(err.Error(), db.server.name) &&
				strings.Contains(err.Error(), "try again"), "error is %v, want one that tells of the lost connection", err)
			n := times.Load()
			assert.That(t, n == 2, "it was tried %d times, want 2", n)
			broken.Store(false)
			assert.NoDiff(t, cmp.Diff(was, state(t, direct)), "a write that failed has left (-want +got)")
			err = db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1}}, nil)
			assert.That(t, err == nil, "with connections again: %v", err)
		})
	}
}

func TestCommitOfWhichNothingIsKnownSaysSo(t *testing.T) {
	dsn := pgtest.New(t)
	direct := serverAt(t, dsn)
	begin(t, direct.DB, 1)
	p, through := before(t, dsn, func(message []byte) cut {
		if isCommit(message) {
			return afterItForGood
		}
		return nothing
	})
	db := serverAt(t, through)
	db.server.commitPatience = 200 * time.Millisecond
	err := db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1}}, nil)
	assert.That(t, err != nil && errors.Is(err, journal.ErrUnsure) && strings.Contains(err.Error(), db.server.name),
		"error is %v, want one that says that it is not known", err)
	p.letIn()
	run, err := db.Run(t.Context(), "ada", "run")
	assert.That(t, err == nil && run.Records <= 2, "the run is %+v, error %v", run, err)
}

// The first try may have been committed, whatever the second says.
func TestWriteThatIsRepeatedInVainIsUnsure(t *testing.T) {
	dsn := pgtest.New(t)
	begin(t, serverAt(t, dsn).DB, 1)
	_, through := before(t, dsn, func(message []byte) cut {
		if isCommit(message) {
			return afterItForGood
		}
		return nothing
	})
	err := serverAt(t, through).RenameSession(t.Context(), "ada", "session", "renamed")
	assert.That(t, errors.Is(err, journal.ErrUnsure), "error is %v, want ErrUnsure", err)
}

func TestReadOfWhichTheConnectionIsLostIsRepeatedOnce(t *testing.T) {
	dsn := pgtest.New(t)
	begin(t, serverAt(t, dsn).DB, 1)
	var times atomic.Int32
	_, through := before(t, dsn, func(message []byte) cut {
		if message[0] == 'B' && strings.Contains(string(message), "lost run") && times.Add(1) != 2 {
			return beforeIt
		}
		return nothing
	})
	db := serverAt(t, through)
	_, err := db.Run(t.Context(), "ada", "lost run")
	assert.That(t, errors.Is(err, journal.ErrNotFound), "error is %v, want ErrNotFound after another try", err)
	times.Store(2)
	if _, err := db.Run(t.Context(), "ada", "lost run"); err == nil || !strings.Contains(err.Error(), "try again") {
		t.Errorf("error is %v, want one that tells of the lost connection", err)
	}
	n := times.Load()
	assert.That(t, n == 4, "the read that failed was tried %d times, want 2", n-2)
}

// settleLost settles a commit whose connection is gone.
func settleLost(db *Server, t *tx) error {
	return db.server.settle(t, answer{err: errCut}, &openCommit{over: true})
}

// A commit that is still under way when it is asked about is waited for.
func TestCommitUnderWayIsWaitedFor(t *testing.T) {
	dsn := pgtest.New(t)
	db := serverAt(t, dsn)
	begin(t, db.DB, 1)
	other := assert.Must(connect(t, dsn).Begin(t.Context()))(t)
	under := &tx{ctx: t.Context(), proof: proof{query: `SELECT FROM session WHERE title = 'late'`}}
	assert.NoError(t,
		other.QueryRow(t.Context(), `UPDATE session SET title = 'late' RETURNING pg_current_xact_id()::text`).
			Scan(&under.proof.xid))
	settled := make(chan error)
	go func() { settled <- settleLost(db, under) }()
	select {
	case err := <-settled:
		t.Fatalf("it was not waited for: %v", err)
	case <-time.After(3 * settlePause):
	}
	assert.NoError(t, other.Commit(t.Context()))
	err := <-settled
	assert.That(t, err == nil, "error is %v after the commit", err)
}

// A server that crashed gives the numbers of transactions that it lost to others.
func TestNumberThatAnotherTransactionHasIsNoProof(t *testing.T) {
	db := serverAt(t, pgtest.New(t))
	begin(t, db.DB, 1)
	xid := one[string](t, db.DB, `SELECT xmin::text FROM session`)
	lost := &tx{ctx: t.Context(), proof: proof{xid: xid, query: `SELECT FROM record WHERE key = -1`}}
	var f *failure
	err := settleLost(db, lost)
	assert.That(t, errors.As(err, &f) && f.unsure, "error is %v, want one that says that it is not known", err)
	lost.proof.xid = "4000000000"
	err = settleLost(db, lost)
	assert.That(t, isLost(err), "error is %v, want one that says that the server does not know the transaction", err)
}

// After a crash the first to write to a run that several write to gets the number and the place of the write that was
// lost.
func TestRecordOfAnotherWithTheSameNumberAndPlaceIsNoProof(t *testing.T) {
	db := serverAt(t, pgtest.New(t))
	begin(t, db.DB, 1)
	for kind, written := range map[string]bool{"ours": false, "theirs": true} {
		run := assert.Must(db.Run(t.Context(), "ada", "run"))(t)
		conn := assert.Must(db.server.acquire(t.Context()))(t)
		lost := db.server.tx(t.Context(), conn)
		lost.run("BEGIN")
		lost.appendRecords("ada", "run", []journal.Record{{Seq: run.Records, Kind: kind}})
		assert.NoError(t, lost.send())
		lost.run("ROLLBACK")
		assert.NoError(t, lost.send())
		conn.Release()
		assert.NoError(t, db.Append(t.Context(), "ada", "run",
			[]journal.Record{{Seq: run.Records, Kind: "theirs"}}, nil))
		lost.proof.xid = one[string](t, db.DB, `SELECT xmin::text FROM record ORDER BY key DESC LIMIT 1`)
		lost.proof.args[1] = lost.proof.xid
		var f *failure
		err := settleLost(db, lost)
		unsure := errors.As(err, &f) && f.unsure
		assert.That(t, written == (err == nil) && (written || unsure), "of %s: %v", kind, err)
	}
}
