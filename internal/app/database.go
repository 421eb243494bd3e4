package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"sibyl/internal/config"
	"sibyl/internal/journal"
	"sibyl/internal/server/node"
	"sibyl/internal/server/user"
	"sibyl/internal/service"
	"sibyl/internal/store"
	"sibyl/internal/task"
)

// Database stores everything.
type Database interface {
	journal.Store
	user.Store
	task.Store
	node.Registry
	store.Secrets
	store.Database
	HasRoom() error
	SharedPlace() string
}

// DatabaseFile returns the path of the SQLite file in a data folder.
func DatabaseFile(dataDir string) string { return filepath.Join(dataDir, "sibyl.db") }

// DatabaseName returns a name for people of these settings' database, without a password.
func DatabaseName(cfg config.Config) string {
	if where := cfg.Database.Where(); where != "" {
		return where
	}
	return DatabaseFile(cfg.DataDir)
}

// Trial has the folder of a new database tried by two processes, or at each opening if this process serves.
func (o Options) Trial() store.FileOption { return store.WithTrial(o.Again, o.Serving != nil) }

// Witness is what this program does as the other process of a trial of locks. It returns false if it is none.
func Witness(ctx context.Context) bool { return store.Witness(ctx) }

// TryLocks tries by two processes whether locks hold where the database is, if it is a file and this program can be
// started again. The error says that they do not; untried says why that is not known.
func (a *App) TryLocks(ctx context.Context) (untried, err error) {
	if a.options.Again == nil || a.Config.Database.Postgres.Reveal() != "" {
		return nil, nil
	}
	err = store.Try(ctx, cmp.Or(a.Config.Database.File, DatabaseFile(a.Config.DataDir)), a.options.Again)
	if errors.Is(err, store.ErrNotHeld) {
		return nil, err
	}
	return err, nil
}

// OpenDatabase opens the database of these settings, and creates what is missing.
func OpenDatabase(ctx context.Context, cfg config.Config, opts ...store.FileOption) (db Database, err error) {
	if dsn := cfg.Database.Postgres.Reveal(); dsn != "" {
		db, err = store.OpenServer(ctx, dsn)
	} else {
		db, err = store.OpenFile(ctx, cmp.Or(cfg.Database.File, DatabaseFile(cfg.DataDir)), opts...)
	}
	if errors.Is(err, store.ErrShared) {
		err = fmt.Errorf("%w; a data folder that this machine alone has needs no lock "+
			"(SIBYL_DATA, --data or the setting data)", err)
	}
	if errors.Is(err, store.ErrNotHeld) {
		err = fmt.Errorf("%w; choose a data folder on a disk of this machine (SIBYL_DATA, --data or the setting data)",
			err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	return db, nil
}

// Copied is how many rows of a table were copied.
type Copied = store.Copied

// CopyDatabase copies a whole database into an empty one. It returns a service.UsageError if that is impossible.
func CopyDatabase(ctx context.Context, from, to Database) ([]Copied, error) {
	now, err := from.Now(ctx)
	if err != nil {
		return nil, err
	}
	all, err := store.Copy(ctx, from, to, now)
	if errors.Is(err, store.ErrInUse) || errors.Is(err, store.ErrNotEmpty) {
		err = &service.UsageError{Err: err}
	}
	return all, err
}

// OpenToRead opens the database of these settings for reading if it is an existing file on this machine. It creates and
// migrates nothing, and contacts no server.
func OpenToRead(ctx context.Context, cfg config.Config) (Database, error) {
	if cfg.Database.Postgres.Reveal() != "" {
		return nil, fmt.Errorf("%w: it is on a server", ErrJournal)
	}
	db, err := store.OpenFileToRead(ctx, cmp.Or(cfg.Database.File, DatabaseFile(cfg.DataDir)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	return db, nil
}
