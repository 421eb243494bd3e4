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

// shelf keeps what writes to notes replace.
func (a *App) shelf() *files.Shelf {
	return &files.Shelf{Folder: filepath.Join(a.Config.DataDir, "replaced"), MaxAge: replacedAge,
		MaxBytes: replacedBytes, Now: time.Now}
}

// ExpireWrites removes what is kept of writes and was kept for longer than it has to be at that time, as Settled gives
// it.
func (a *App) ExpireWrites(ctx context.Context, at time.Time) error { return a.shelf().Expire(ctx, at) }

// ErrNoWrite says that no write can be undone, or none of that id.
var ErrNoWrite = errors.New("there is no write to undo")

// Writes lists the writes of an owner to notes of which it is kept what they replaced, the last one first.
func (a *App) Writes(ctx context.Context, owner journal.Owner) ([]files.Replaced, error) {
	return a.shelf().List(ctx, string(owner))
}

// LastWrite is the last write of an owner that is not taken back yet; ErrNoWrite without one.
func (a *App) LastWrite(ctx context.Context, owner journal.Owner) (files.Replaced, error) {
	return a.writeOf(ctx, owner, "")
}

// Undo takes a write of an owner back, the last one that is not taken back yet where id is empty; the beginning of an
// id is enough. Done is false where it was undone before. A note that was changed since is left as it is, with a
// *files.UndoError.
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

// Written gives what a write of an owner replaced, and the note as it is now; files.ErrNotKept where the first is kept
// no longer. Secrets are taken out of both.
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

// writeOf finds a write of an owner that can be taken back.
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
