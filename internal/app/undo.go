package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sibyl/internal/files"
	"sibyl/internal/journal"
	"sibyl/internal/tool/vault"
)

// What writes to notes replace is kept for so long, and so much of it.
const (
	replacedAge   = 30 * 24 * time.Hour
	replacedBytes = 256 << 20
)

// shelf returns the shelf, which keeps what writes to notes replaced.
func (a *App) shelf() *files.Shelf {
	return &files.Shelf{Folder: filepath.Join(a.Config.DataDir, "replaced"), MaxAge: replacedAge,
		MaxBytes: replacedBytes, Now: time.Now}
}

// ExpireWrites removes replaced notes that have outlived their retention at that time, as returned by Settled.
func (a *App) ExpireWrites(ctx context.Context, at time.Time) error { return a.shelf().Expire(ctx, at) }

// ErrNoWrite reports that no write, or none of that id, can be undone.
var ErrNoWrite = errors.New("there is no write to undo")

// Writes lists an owner's writes to notes whose replaced text is kept, the latest first.
func (a *App) Writes(ctx context.Context, owner journal.Owner) ([]files.Replaced, error) {
	return a.shelf().List(ctx, string(owner))
}

// LastWrite returns an owner's last write that is not undone; ErrNoWrite if there is none.
func (a *App) LastWrite(ctx context.Context, owner journal.Owner) (files.Replaced, error) {
	return a.writeOf(ctx, owner, "")
}

// Undo reverts an owner's write, by the beginning of its id; an empty id means the last one not undone. done is false
// if it was undone before. A note that has changed since remains, with a *files.UndoError.
func (a *App) Undo(ctx context.Context, owner journal.Owner, id string) (w files.Replaced, done bool, err error) {
	if w, err = a.writeOf(ctx, owner, id); err != nil {
		return w, false, err
	}
	v, err := vault.Open(w.Folder, a.shelf(), nil)
	if err != nil {
		return w, false, err
	}
	done, err = v.Undo(ctx, w)
	return w, done, errors.Join(err, v.Close())
}

// Written returns what an owner's write replaced, and the note now, both redacted; files.ErrNotKept if the former is
// gone.
func (a *App) Written(ctx context.Context, owner journal.Owner, id string) (before, now []byte, err error) {
	w, err := a.writeOf(ctx, owner, id)
	if err != nil {
		return nil, nil, err
	}
	if w.Before != "" {
		if before, err = a.shelf().Text(w); err != nil {
			return nil, nil, err
		}
	}
	folder, err := os.OpenRoot(w.Folder)
	if err != nil {
		return nil, nil, err
	}
	now, err = folder.ReadFile(filepath.FromSlash(w.Path))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return a.secrets.bytes(before), a.secrets.bytes(now), errors.Join(err, folder.Close())
}

// writeOf returns an owner's write that can be undone.
func (a *App) writeOf(ctx context.Context, owner journal.Owner, id string) (w files.Replaced, err error) {
	all, err := a.Writes(ctx, owner)
	if err != nil {
		return w, err
	}
	found := 0
	for _, one := range all {
		switch {
		case one.Action == files.ActionUndo:
		case id == "" && one.Undone == "":
			return one, nil
		case id != "" && strings.HasPrefix(one.ID, id):
			w = one
			found++
		}
	}
	switch {
	case found == 1:
		return w, nil
	case id != "":
		return w, fmt.Errorf("%w: %d ids begin with “%s”", ErrNoWrite, found, id)
	}
	return w, ErrNoWrite
}
