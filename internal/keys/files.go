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

	"github.com/gofrs/flock"
)

const (
	lockWait  = 5 * time.Second
	lockPause = 10 * time.Millisecond // between two tries
)

// lock keeps other writers out, of this program and others, until it is let go or the program ends.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if s.at.Folder == "" || s.at.File == "" {
		return nil, errors.New("there is no place for keys, since the home folder is unknown: set HOME")
	}
	if err := os.MkdirAll(s.at.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("the folder for keys: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	path := filepath.Join(s.at.Folder, "keys.lock")
	l := flock.New(path, flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, lockPause); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("another program has been writing keys for %s (%s is locked): try again when it has ended", lockWait, path)
		}
		return nil, fmt.Errorf("the keys can't be locked for writing: %w", err)
	}
	return func() { _ = l.Close() }, nil // the end of the program lets it go as well
}

// replaceFile writes a file whole or not at all, for the person alone. A link is followed, so that it stays one.
func replaceFile(path string, text []byte) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("the folder of %s: %w", path, err)
	}
	f, err := os.CreateTemp(folder, "."+filepath.Base(path)+"-*") // of mode 0600
	if err != nil {
		return fmt.Errorf("%s can't be written: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s can't be written, and is as it was: %w", path, errors.Join(err, os.Remove(f.Name())))
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	syncFolder(folder)
	return nil
}

// syncFolder makes a new name durable. Systems that cannot do without it.
func syncFolder(folder string) {
	if f, err := os.Open(folder); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
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
