package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

// Words of a session must not outlive it in pages that SQLite holds free.
func TestWordsOfARemovedSessionAreNotInTheFileAnyMore(t *testing.T) {
	secrets := map[string]string{"title": "quinces", "question": "medlars", "short record": "loquats",
		"long record": strings.Repeat("damsons ", 5000), "blob": strings.Repeat("sloes ", 5000),
		"reason": "greengages", "summary": strings.Repeat("bullaces ", 5000), "pending row": "mulberries"}
	for name, remove := range map[string]func(*DB) error{
		"deleted": func(db *DB) error {
			return db.DeleteSession(t.Context(), "ada", "s", journal.ByPerson, time.Now())
		},
		"retired": func(db *DB) error {
			_, err := db.Retire(t.Context(), "ada", journal.IdleFilter{Before: time.Now(), Now: time.Now()})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			db := openAt(t, path)
			begin(t, db, 1)
			first := beginning(journal.Session{ID: "s", Owner: "ada", Title: secrets["title"]})
			first.Run.Title, first.Blobs = secrets["question"], [][]byte{[]byte(secrets["blob"])}
			first.Records = []journal.Record{{Seq: 0, Data: []byte(secrets["short record"])},
				{Seq: 1, Data: []byte(secrets["long record"])}}
			end := &journal.End{Status: journal.NeedsUser, Reason: secrets["reason"],
				Summary: []byte(secrets["summary"]),
				Pending: []journal.Pending{{ID: "p", Data: []byte(secrets["pending row"])}}}
			assert.NoError(t, errors.Join(
				db.Begin(t.Context(), first),
				db.Append(t.Context(), "ada", first.Run.ID, []journal.Record{{Seq: 2}}, end),
				db.RenameSession(t.Context(), "ada", "session", "kept")))
			closeDB(t, db)
			db = openAt(t, path)
			assert.NoError(t, remove(db))
			closeDB(t, db)
			file := content(t, path)
			for what, words := range secrets {
				word, _, _ := strings.Cut(words, " ")
				assert.That(t, !strings.Contains(file, word), "the %s is still in the file", what)
			}
		})
	}
}

// The file grows to what is kept at once, not with what was ever kept.
func TestSpaceOfRemovedSessionsIsUsedAgain(t *testing.T) {
	db := openAt(t, newPath(t), Unsynced())
	pages := func() int64 { return one[int64](t, db, `SELECT page_count FROM pragma_page_count`) }
	var first int64
	for round := range 10 {
		for i := range 5 {
			leave(t, db, fmt.Sprintf("%d-%d", round, i), time.UnixMilli(int64(round)), 1, 20)
		}
		left, err := db.Retire(t.Context(), "ada", journal.IdleFilter{Before: time.UnixMilli(int64(round + 1)),
			Now: time.UnixMilli(int64(round + 1))})
		assert.Require(t, err == nil && len(left) == 5, "%d sessions were removed, error %v", len(left), err)
		if round == 0 {
			first = pages()
		}
	}
	last := pages()
	assert.That(t, last <= first+first/4, "%d pages after ten rounds, %d after the first", last, first)
}

// leave makes a session with so many runs, each of so many records of 2 KB, last used at that moment.
func leave(t testing.TB, db *DB, id string, at time.Time, runs, records int) {
	t.Helper()
	recs := make([]journal.Record, records)
	for i := range recs {
		recs[i] = journal.Record{Seq: int64(i), At: at, Kind: "completion", Data: fmt.Appendf(nil, "%02000d", i)}
	}
	shared, own := []byte(strings.Repeat("tree ", 4000)), []byte(strings.Repeat(id, 1000))
	var err error
	for n := range runs {
		b := beginning(journal.Session{ID: id, Owner: "ada", Title: id, CreatedAt: at, UpdatedAt: at})
		b.Run.ID, b.Blobs, b.Records = fmt.Sprintf("%s/%d", id, n), [][]byte{shared, own}, recs
		if n > 0 {
			b.Session = nil
		}
		end := &journal.End{Status: journal.Done, At: at}
		err = errors.Join(err, db.Begin(t.Context(), b),
			db.Append(t.Context(), "ada", b.Run.ID, []journal.Record{{Seq: int64(records), At: at}}, end))
	}
	assert.NoError(t, err)
}
