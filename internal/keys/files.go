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
	if s.at.Folder == "" || s.at.File == "" {
		return nil, errors.New("there is no place for keys, since the home folder is unknown: set HOME")
	}
	if err := os.MkdirAll(s.at.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("the folder for keys: %w", err)
	}
	root, err := os.OpenRoot(s.at.Folder)
	if err != nil {
		return nil, fmt.Errorf("the folder for keys: %w", err)
	}
	defer func() { _ = root.Close() }() // the lock file stays open without it
	const name = "keys.lock"
	unlock, err = files.Lock(ctx, root, name, lockWait)
	if refused, ok := errors.AsType[*files.Error](err); ok && refused.Reason == files.Busy {
		path := filepath.Join(s.at.Folder, name)
		return nil, fmt.Errorf("another program has been writing keys for %s (%s is locked): try again when it has ended", lockWait, path)
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

// index is the list of the names whose keys are in the keyring, which cannot be asked for them. Names are no secret.
type index struct{ path string }

func indexIn(folder string) index { return index{filepath.Join(folder, "keys-in-keyring.txt")} }

// read returns the names, sorted.
func (i index) read() ([]string, error) {
	text, err := os.ReadFile(i.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the names of the keys in the keyring: %w", err)
	}
	names := strings.Fields(string(text))
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (i index) add(name string) error {
	names, err := i.read()
	if err != nil || slices.Contains(names, name) {
		return err
	}
	return i.write(append(names, name))
}

// remove says whether the name was there.
func (i index) remove(name string) (was bool, err error) {
	names, err := i.read()
	if err != nil || !slices.Contains(names, name) {
		return false, err
	}
	return true, i.write(slices.DeleteFunc(names, func(n string) bool { return n == name }))
}

func (i index) write(names []string) error {
	return replaceFile(i.path, []byte(strings.Join(append(names, ""), "\n")))
}
