package index

import (
	"context"
	"database/sql"
	"path/filepath"
)

// Damaged lists the files of the store that can't be used as they are, or not all of them: what reads one makes it anew. All pieces of all files are
// read, or as many as there is time for by the context, whose end is the error.
func (s *Caches) Damaged(ctx context.Context) (damaged []Kept, err error) {
	all, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range all {
		sound := k.Root != "" && isSound(ctx, filepath.Join(s.dir, filepath.Base(k.File)))
		if ctx.Err() != nil {
			return damaged, ctx.Err()
		}
		if !sound {
			damaged = append(damaged, k)
		}
	}
	return damaged, nil
}

// isSound says that all pieces of a file are as they were written. One that somebody writes to is taken for sound.
func isSound(ctx context.Context, path string) bool {
	db, err := connect(ctx, path)
	if err != nil {
		return isBusy(err)
	}
	defer func() { _ = db.Close() }() // it was only read
	if _, err := meta(ctx, db, "catalogue"); err != nil {
		return isBusy(err)
	}
	for _, table := range []string{"segment", "words", "lists", "notes"} {
		if err := eachPiece(ctx, db, table); err != nil {
			return isBusy(err)
		}
	}
	return true
}

// eachPiece reads the pieces of a table.
func eachPiece(ctx context.Context, db *sql.DB, table string) (err error) {
	rows, err := db.QueryContext(ctx, `SELECT id, piece FROM `+table)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // its error is that of Err
	var id int64
	var piece sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&id, &piece); err != nil {
			return err
		}
		if _, err := unsealed(row(table, id), piece); err != nil {
			return err
		}
	}
	return rows.Err()
}
