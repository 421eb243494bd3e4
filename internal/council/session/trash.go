package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"sibyl/internal/files"
)

// TakeBack removes a session in which there is nothing, as when that is refused for which it was begun. One that holds something stays as it is.
func (s *Store) TakeBack(ctx context.Context, id string) error {
	root, err := s.find(id)
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx, root, id, "taking it back")
	if err != nil {
		return err
	}
	defer unlock()
	m, _, err := s.load(root, id)
	if err != nil || len(m.Audio)+len(m.Answers) > 0 {
		return err
	}
	for _, folder := range []string{audioFolder, transcriptFolder, responseFolder} {
		infos, err := files.List(root, path.Join(id, folder)) // also what somebody is adding in this moment
		if err != nil && !errors.Is(err, fs.ErrNotExist) || len(infos) > 0 {
			return err
		}
	}
	if err := root.RemoveAll(id); err != nil {
		return fmt.Errorf("taking session %s back: %w", id, err)
	}
	return syncFolder(root, ".")
}

// Delete moves a session to the trash, whole, and says where it lies: an absolute path. Nothing is removed; moved back, it is there again. A damaged
// session can be deleted as well.
func (s *Store) Delete(ctx context.Context, id string) (where string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	root, err := s.find(id)
	if err != nil {
		return "", err
	}
	unlock, err := s.lock(ctx, root, id, "deleting it")
	if err != nil {
		return "", err
	}
	defer unlock()
	if root, err = s.find(id); err != nil { // somebody else may have been first
		return "", err
	}
	if err := files.MakeFolder(root, trashFolder, 0o700); err != nil {
		return "", fmt.Errorf("delete session %s: %w", id, err)
	}
	target := path.Join(trashFolder, id)
	for n := 2; ; n++ {
		_, err := root.Lstat(target)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("delete session %s: %w", id, err)
		}
		target = path.Join(trashFolder, fmt.Sprintf("%s.%d", id, n))
	}
	if err := s.at("move to trash"); err != nil {
		return "", err
	}
	if err := root.Rename(id, target); err != nil {
		return "", fmt.Errorf("delete session %s: %w", id, err)
	}
	where = filepath.Join(s.folder, filepath.FromSlash(target))
	return where, errors.Join(s.at("moved to trash"), syncFolder(root, trashFolder), syncFolder(root, "."))
}
