package keys

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sibyl/internal/files"
)

const lockWait = 5 * time.Second

// lock keeps other writers out, of this program and others, until unlock is called or the program ends.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if s.places.Folder == "" || s.places.File == "" {
		return nil, errors.New("there is no place for keys, since the home folder is unknown: set HOME")
	}
	if err := os.MkdirAll(s.places.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("the folder for keys: %w", err)
	}
	root, err := os.OpenRoot(s.places.Folder)
	if err != nil {
		return nil, fmt.Errorf("the folder for keys: %w", err)
	}
	defer func() { _ = root.Close() }() // the lock file stays open without it
	const name = "keys.lock"
	unlock, err = files.Lock(ctx, root, name, lockWait)
	if refused, ok := errors.AsType[*files.Error](err); ok && refused.Reason == files.Busy {
		path := filepath.Join(s.places.Folder, name)
		return nil, fmt.Errorf("another program has been writing keys for %s (%s is locked): try again when it has ended",
			lockWait, path)
	}
	if err != nil {
		return nil, fmt.Errorf("the keys can't be locked for writing: %w", err)
	}
	return unlock, nil
}

// replaceFile writes a file whole or not at all, for the person alone.
func replaceFile(path string, text []byte) error {
	if err := files.Replace(path, text, 0o600); err != nil {
		return fmt.Errorf("%s can't be written, and is as it was: %w", path, err)
	}
	return nil
}

// indexPath is the list of the names whose keys are in the keyring, which cannot be asked for them. Names are no
// secret.
func (s *Store) indexPath() string { return filepath.Join(s.places.Folder, "keys-in-keyring.txt") }

// namesInKeyring returns the names whose keys are in the keyring, sorted.
func (s *Store) namesInKeyring() ([]string, error) {
	text, err := os.ReadFile(s.indexPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the names of the keys in the keyring: %w", err)
	}
	names := strings.Fields(string(text))
	slices.Sort(names)
	return slices.Compact(names), nil
}

// updateIndex notes in the index whether the key of a name is in the keyring, and says whether it was.
func (s *Store) updateIndex(name string, is bool) (was bool, err error) {
	names, err := s.namesInKeyring()
	if was = slices.Contains(names, name); err != nil || was == is {
		return was, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	if is {
		names = append(names, name)
	}
	return was, replaceFile(s.indexPath(), []byte(strings.Join(append(names, ""), "\n")))
}
