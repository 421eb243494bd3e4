package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrShared says that a database file can't be used because of its file system, which other machines or other mounts
// may write to.
var ErrShared = errors.New("other machines or mounts may write to it")

// place is where a file lies, as far as locks and shared memory depend on it. SQLite's WAL needs both, and on a network
// file system another machine sees neither: what it writes overwrites what this one wrote. See
// https://sqlite.org/wal.html.
type place struct {
	system string // the name of the file system, such as ext4 or fuse.sshfs
	mount  string // tells it from other mounts on this machine
	shared bool   // others may write to it without seeing locks and memory of this mount
}

// String says what people should know of a shared place; "" if there is nothing.
func (p place) String() string {
	if !p.shared {
		return ""
	}
	return "other machines or mounts may write to it (" + p.system + "), so that one process at a time can use it"
}

const (
	// placeTimeout bounds the look at a file system. A network mount whose server is gone answers never.
	placeTimeout = 10 * time.Second
	// mostLinks bounds the links from one name to the next.
	mostLinks = 255
)

// findPlace finds the place of a file that need not exist, nor its folders. look looks at an existing path, and follows
// links.
func findPlace(ctx context.Context, path string, look func(path string) (place, error)) (place, error) {
	type found struct {
		place
		err error
	}
	answer := make(chan found, 1) // so that a late answer ends the goroutine
	go func() {
		path, err := existing(path)
		if err != nil {
			answer <- found{err: err}
			return
		}
		p, err := look(path)
		answer <- found{p, err}
	}()
	late := time.NewTimer(placeTimeout)
	defer late.Stop()
	select {
	case f := <-answer:
		return f.place, f.err
	case <-late.C:
		return place{}, fmt.Errorf("%w: it was waited for %s (is its server down?)", errNoAnswer, placeTimeout)
	case <-ctx.Done():
		return place{}, ctx.Err()
	}
}

var errNoAnswer = errors.New("its file system does not answer")

// existing returns the path where a file is or will be made, or else the nearest folder above that exists.
func existing(path string) (string, error) {
	for range mostLinks {
		_, err := os.Stat(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return path, err
		}
		folder := filepath.Dir(path)
		target, err := os.Readlink(path)
		switch {
		case err != nil:
			target = folder
		case !filepath.IsAbs(target):
			target = filepath.Join(folder, target)
		}
		path = target
	}
	return "", errors.New("its links lead nowhere")
}
