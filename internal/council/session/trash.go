package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"sibyl/internal/files"
)

// Delete moves a session, even a damaged one, to the trash, and gives its absolute path there. Moving the folder back
// restores the session.
func (s *Store) Delete(ctx context.Context, id string) (where string, err error) {
	root, unlock, err := s.lockSession(ctx, id, "deleting it")
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := files.MakeFolder(root, trashFolder, 0o700); err != nil {
		return "", errorWhile(id, "deleting it", err)
	}
	name, err := freeName(root, trashFolder, id, id+".%d")
	if err != nil {
		return "", errorWhile(id, "deleting it", err)
	}
	target := path.Join(trashFolder, name)
	if err := s.reachStep("move to trash"); err != nil {
		return "", err
	}
	if err := root.Rename(id, target); err != nil {
		return "", errorWhile(id, "deleting it", err)
	}
	where = filepath.Join(s.folder, filepath.FromSlash(target))
	return where, errors.Join(s.reachStep("moved to trash"), syncFolder(root, trashFolder), syncFolder(root, "."))
}

// freeName gives a name that does not exist in the folder: first, or else next formatted with a number from 2.
func freeName(root *os.Root, folder, first, next string) (string, error) {
	name := first
	for n := 2; ; n++ {
		if _, err := root.Lstat(path.Join(folder, name)); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
		name = fmt.Sprintf(next, n)
	}
}
