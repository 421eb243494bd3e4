package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/server/user"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/task"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestDatabaseIsCopiedWhole(t *testing.T) {
	p := schemas{dsn: pgtest.New(t)}
	file := func(t *testing.T) *DB { return fresh(t) }
	server := func(t *testing.T) *DB { return openedAt(t, p.take(t)) }
	t.Run("from file to file", func(t *testing.T) { copies(t, file, file) })
	t.Run("from file to server", func(t *testing.T) { copies(t, file, server) })
	t.Run("from server to file", func(t *testing.T) { copies(t, server, file) })
	t.Run("from server to server", func(t *testing.T) { copies(t, server, server) })
}

// copies checks copies between databases that open gives, an empty one each time, and those that other gives.
func copies(t *testing.T, open, other func(t *testing.T) *DB) {
	t.Run("AllThatIsThereIsCopiedAndGoesOn", func(t *testing.T) { copied(t, open(t), other(t)) })
	t.Run("CopyBackIsTheSame", func(t *testing.T) {
		first, there, back := open(t), other(t), open(t)
		fill(t, first)
		assert.NoError(t, errOf(Copy(t.Context(), first, there, noon.Add(time.Hour))))
		assert.NoError(t, errOf(Copy(t.Context(), there, back, noon.Add(time.Hour))))
		assert.NoDiff(t, cmp.Diff(rowsOf(t, first), rowsOf(t, back)), "there and back (-was +is)")
	})
	t.Run("FullDatabaseIsNotWrittenTo", func(t *testing.T) {
		from, to := open(t), other(t)
		fill(t, from)
		fill(t, to)
		before := rowsOf(t, to)
		refused(t, from, to, noon.Add(time.Hour), ErrNotEmpty)
		assert.NoDiff(t, cmp.Diff(before, rowsOf(t, to)), "changed by a refused copy")
	})
	t.Run("RunThatIsDrivenKeepsFromCopying", func(t *testing.T) {
		from, to := open(t), other(t)
		fill(t, from)
		refused(t, from, to, noon, ErrInUse)
		holdsNothing(t, to)
	})
	t.Run("BrokenOffCopyLeavesNothing", func(t *testing.T) {
		from, to := open(t), other(t)
		fill(t, from)
		refused(t, breaking{from, 9}, to, noon.Add(time.Hour), errBroken)
		holdsNothing(t, to)
		assert.NoError(t, errOf(Copy(t.Context(), from, to, noon.Add(time.Hour))))
	})
	t.Run("SecretIsMadeOnceForAllWhoAskAtOnce", func(t *testing.T) { secrets(t, open(t), other(t)) })
	t.Run("EveryTableButThoseOfProcessesIsCopied", func(t *testing.T) {
		schema := columnsOf(t, open(t))
		var known []string
		for _, table := range Tables() {
			for _, c := range table.Columns {
				known = append(known, table.Name+"."+c)
			}
		}
		schema = slices.DeleteFunc(schema, func(column string) bool {
			return slices.ContainsFunc([]string{"node.", "duty."}, func(p string) bool {
				return len(column) > len(p) && column[:len(p)] == p
			})
		})
		slices.Sort(schema)
		slices.Sort(known)
		assert.NoDiff(t, cmp.Diff(schema, known), "columns of the database, and those that are copied (-there +copied)")
	})
}

// fill has a bit of everything in it: an ended run and one that is driven until a minute after noon, blobs that are
// shared, a claim, a pending row and a session that was removed; a user with a token, and one that is revoked; two
// secrets; a task that is completed, and one that was deleted, under keys and without.
func fill(t *testing.T, s *DB) {
	t.Helper()
	ctx := t.Context()
	begin := func(owner journal.Owner, session, run string, claims ...string) {
		r := journal.Run{ID: run, Session: session, Owner: owner, Assistant: "a", Title: "Ünï🦉 ‘x’\n\\",
			StartedAt: noon, LeaseHolder: "h", LeaseUntil: noon.Add(time.Minute)}
		b := journal.Beginning{Run: r, Session: &journal.Session{ID: session, Owner: owner, Assistant: "a", Title: "t",
			CreatedAt: noon, UpdatedAt: noon},
			Blobs: [][]byte{[]byte("shared"), {0, 0xff}, {}}, Claims: claims,
			Records: []journal.Record{{Seq: 0, At: noon, Kind: "start", Data: []byte{0, 1, 0xff}},
				{Seq: 1, At: noon, Kind: "k", Data: nil}}}
		assert.NoError(t, s.Begin(ctx, b))
	}
	begin("ada", "s1", "r1")
	begin("ada", "s2", "r2", "k1", "k2")
	begin("bob", "s3", "r3")
	begin("ada", "s4", "r4")
	assert.NoError(t, s.Append(ctx, "ada", "r1", []journal.Record{
		{Seq: 2, At: noon, Kind: "end", Data: []byte(`{"b":1, "a":2}`)}},
		&journal.End{Status: journal.NeedsUser, At: noon, Reason: "asks", Summary: []byte("\x00s"),
			Used:    []journal.Used{{Model: "m:y", Input: 3, Cached: 1, Output: 2}, {Model: "m:x"}},
			Pending: []journal.Pending{{ID: "p", Kind: "k", Data: []byte("d")}}}))
	assert.NoError(t, s.Append(ctx, "ada", "r4", []journal.Record{{Seq: 2, At: noon, Kind: "end"}},
		&journal.End{Status: journal.Done, At: noon}))
	assert.NoError(t, s.DeleteSession(ctx, "ada", "s4", journal.ByPerson, noon))
	for _, name := range []string{"ada", "bob"} {
		token := user.Token{ID: "t", User: name, Kind: user.Bearer, Scope: user.Read, CreatedAt: noon,
			ExpiresAt: noon.Add(time.Hour)}
		assert.NoError(t, s.AddUser(ctx, user.User{Name: name, Scope: user.Read, CreatedAt: noon}, token,
			user.HashOf("secret of "+name)))
	}
	assert.NoError(t, s.RevokeUser(ctx, "bob", noon))
	for _, name := range []string{"one", "two"} {
		assert.Must(s.Secret(ctx, name))(t)
	}
	tasks, by := tasksOver(s), task.By{Owner: "ada", Actor: "cli", Key: "k"}
	done, _, err := tasks.Add(ctx, by, "Ünï🦉 ‘x’\\", nil)
	assert.NoError(t, err)
	by.Key = ""
	_, _, err = tasks.Complete(ctx, by, done.ID, 0)
	assert.NoError(t, err)
	gone, _, err := tasks.Add(ctx, by, "two", &done.Title)
	assert.NoError(t, err)
	_, _, err = tasks.Delete(ctx, by, gone.ID, 0)
	assert.NoError(t, err)
}

// secrets wants those of two databases.
func secrets(t *testing.T, here, there *DB) {
	var all sync.WaitGroup
	found := make([][]byte, 8)
	for i := range found {
		all.Go(func() {
			var err error
			found[i], err = here.Secret(t.Context(), "one")
			assert.Nil(t, err)
		})
	}
	all.Wait()
	for _, one := range found {
		assert.Require(t, len(one) == SecretSize && bytes.Equal(one, found[0]),
			"the same secret has %d bytes, and %d", len(one), len(found[0]))
	}
	two := assert.Must(here.Secret(t.Context(), "two"))(t)
	foreign := assert.Must(there.Secret(t.Context(), "one"))(t)
	assert.That(t, !bytes.Equal(found[0], two) && !bytes.Equal(found[0], foreign), "two secrets are the same")
}

func TestProcessesAgreeOnTheFirstValueOfAName(t *testing.T) {
	db := fresh(t)
	none := assert.Must(db.Agreed(t.Context(), "one", nil))(t)
	assert.That(t, none == nil, "before anybody stores one it is %q", none)
	var all sync.WaitGroup
	found := make([][]byte, 8)
	for i := range found {
		all.Go(func() {
			var err error
			found[i], err = db.Agreed(t.Context(), "one", fmt.Append(nil, "of ", i))
			assert.Nil(t, err)
		})
	}
	all.Wait()
	kept := assert.Must(db.Agreed(t.Context(), "one", nil))(t)
	for i, one := range found {
		assert.That(t, bytes.Equal(one, kept) && len(kept) > 0, "process %d has %q, and %q is kept", i, one, kept)
	}
}

func tasksOver(s task.Store) *task.Service { return task.New(s, func() time.Time { return noon }, nil) }

func copied(t *testing.T, from, to *DB) {
	fill(t, from)
	counts, err := Copy(t.Context(), from, to, noon.Add(time.Hour))
	assert.NoError(t, err)
	want := []string{"session 3", "run 3", "used 2", "record 7", "blob 6", "blob_content 6", "pending 1", "claim 2",
		"tombstone 1", "person 2", "token 2", "secret 2", "task 2", "task_change 4"}
	var got []string
	for _, c := range counts {
		if c.Rows > 0 {
			got = append(got, fmt.Sprint(c.Table, " ", c.Rows))
		}
	}
	assert.NoDiff(t, cmp.Diff(want, got), "copied (-want +got)")
	assert.NoDiff(t, cmp.Diff(rowsOf(t, from), rowsOf(t, to)), "rows (-from +to)")
	known := assert.Must(to.Token(t.Context(), user.HashOf("secret of ada")))(t)
	assert.That(t, known.User == "ada" && known.Live(noon), "the token of ada is %+v", known)
	tasksGoOn(t, to)
	// It goes on as the other would have: numbers that are given out are not given twice.
	ctx := t.Context()
	assert.NoError(t, to.Append(ctx, "bob", "r3", []journal.Record{{Seq: 2, At: noon, Kind: "k"}}, nil))
	again := journal.Run{ID: "r5", Session: "s1", Owner: "ada", Assistant: "a", StartedAt: noon.Add(time.Minute)}
	assert.NoError(t, to.Begin(ctx, journal.Beginning{Run: again, Consume: []string{"p"}, Blobs: [][]byte{[]byte("shared"),
		[]byte("fresh")}, Records: []journal.Record{{At: noon, Kind: "start"}}}))
	shared := assert.Must(to.Blob(ctx, "ada", journal.BlobHash([]byte("shared"))))(t)
	assert.That(t, string(shared) == "shared", "the content that is shared is %q", shared)
}

// tasksGoOn wants tasks that were copied to be used as before, and no id to be given twice.
func tasksGoOn(t *testing.T, to *DB) {
	t.Helper()
	tasks, by := tasksOver(to), task.By{Owner: "ada", Key: "k"}
	done, again, err := tasks.Add(t.Context(), by, "Ünï🦉 ‘x’\\", nil)
	assert.NoError(t, err)
	assert.That(t, again, "the key of a task that was copied is free")
	by.Key = ""
	added, _, err := tasks.Add(t.Context(), by, "three", nil)
	assert.NoError(t, err)
	assert.NoError(t, errOf(tasks.Undo(t.Context(), by)))
	c := assert.Must(tasks.Undo(t.Context(), by))(t)
	assert.That(t, c.After != nil && c.After.Title == "two" && *c.After.Description == done.Title && c.Task != added.ID &&
		c.Task != done.ID, "the task that is back is %+v, with the ids %d and %d beside it", c.After, done.ID, added.ID)
}

func holdsNothing(t *testing.T, db *DB) {
	t.Helper()
	all := rowsOf(t, db)
	assert.That(t, len(all) == 0, "a refused copy has left rows: %v", all)
}

func refused(t *testing.T, from, to Database, now time.Time, want error) {
	t.Helper()
	_, err := Copy(t.Context(), from, to, now)
	assert.That(t, errors.Is(err, want), "Copy gives %v; want %v", err, want)
}

var errBroken = errors.New("broken off")

// breaking is a database that can't be read beyond so many rows.
type breaking struct {
	Database
	after int
}

func (b breaking) ReadAll(ctx context.Context, do func(func(Table) iter.Seq2[Row, error]) error) error {
	return b.Database.ReadAll(ctx, func(rows func(Table) iter.Seq2[Row, error]) error {
		n := 0
		return do(func(t Table) iter.Seq2[Row, error] {
			return func(yield func(Row, error) bool) {
				for row, err := range rows(t) {
					if n++; n > b.after {
						err = errBroken
					}
					if !yield(row, err) || err != nil {
						return
					}
				}
			}
		})
	})
}

// columnsOf are the columns of all tables but those of migrations, as "table.column".
func columnsOf(t *testing.T, db *DB) []string {
	t.Helper()
	query := `SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name <> 'sibyl_version'`
	if _, ok := db.dialect.(*file); ok {
		query = `SELECT m.name || '.' || c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
			WHERE m.type = 'table' AND m.name NOT LIKE 'goose%' AND m.name NOT LIKE 'sqlite%'`
	}
	all := assert.Must(readRows(t.Context(), db, scanValue[string], query))(t)
	return all
}

func errOf[T any](_ T, err error) error { return err }
