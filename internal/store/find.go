package store

import (
	"context"
	"strings"

	"sibyl/internal/journal"
)

func scanFound(r row, f *journal.Found) error {
	return r.Scan(&f.Session, &f.Run, &f.Assistant, &f.Title, millis{&f.At})
}

const (
	foundSession = `SELECT id, '', assistant, title, updated_at FROM session `
	foundRun     = `SELECT session, id, assistant, title, started_at FROM run `
)

// Find implements journal.Store. It scans the words of all rows that match the other conditions, so that writes need no
// index. It omits runs of sessions whose title has all the words.
func (db *DB) Find(ctx context.Context, owner journal.Owner, s journal.Search) ([]journal.Found, error) {
	q := listing{owner: owner, by: "started_at", after: s.After, limit: s.Limit}
	from := foundRun
	if s.Titles {
		q.by, from = "updated_at", foundSession
	}
	q.where("assistant = ", s.Assistant)
	q.whereBetween(q.by, s.From, s.To)
	var has, titled []string
	for _, word := range s.Words {
		at := "CAST(" + q.arg(word) + ` AS text) COLLATE "C") > 0`
		has, titled = append(has, "strpos(words, "+at), append(titled, "strpos(session.words, "+at)
	}
	if len(has) > 0 {
		q.conditions += " AND " + strings.Join(has, " AND ")
	}
	if len(has) > 0 && !s.Titles {
		q.conditions += " AND NOT EXISTS (SELECT 1 FROM session WHERE session.id = run.session AND " +
			strings.Join(titled, " AND ") + ")"
	}
	return listRows(ctx, db, scanFound, from, q)
}

// Unread implements journal.Store.
func (db *DB) Unread(ctx context.Context, owner journal.Owner, limit int) (all []journal.Found, err error) {
	for _, query := range []string{
		foundSession + `WHERE owner = $1 AND words IS NULL ORDER BY updated_at DESC, id DESC LIMIT $2`,
		foundRun + `WHERE owner = $1 AND words IS NULL AND status <> 'running' ORDER BY started_at DESC, id DESC LIMIT $2`,
	} {
		some, err := readRows(ctx, db, scanFound, query, string(owner), int64(journal.Limit(limit)-len(all)))
		if all = append(all, some...); err != nil || len(all) >= journal.Limit(limit) {
			return all, err
		}
	}
	return all, nil
}

// KeepWords implements journal.Store.
func (db *DB) KeepWords(ctx context.Context, owner journal.Owner, all []journal.Wording) error {
	return db.write(ctx, func(t *tx) error {
		for _, w := range all {
			if w.Run != "" {
				t.run(`UPDATE run SET words = $3 WHERE id = $1 AND owner = $2 AND words IS NULL`, w.Run, string(owner),
					w.Words)
			} else {
				t.run(`UPDATE session SET words = $4 WHERE id = $1 AND owner = $2 AND title = $3 AND words IS NULL`,
					w.Session, string(owner), w.Title, w.Words)
			}
		}
		return nil
	})
}
