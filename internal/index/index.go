// Package index keeps, in one cache file for each folder, which words stand in its texts, how often, and a note on each text, so that a search need not
// read them all again. What a word is, which texts there are and what is noted is decided by those who use it.
//
// Guarantees:
//   - It is a cache. A file that is damaged, of another version or of another folder is removed and counts as none; nothing that it holds is needed.
//   - A reading sees one state: what was committed before it began, whatever is written meanwhile, in this process or another.
//   - What is committed is whole: after a crash the file holds whole commits only, and each piece that is read is checked by its sum.
//   - At most one process adds to a file. Others read meanwhile, and are refused with ErrBusy when they want to add.
//   - Folders are made for the owner only (0700), and so are files (0600).
//   - All files together stay below a bound: those that were used longest ago go first.
package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sibyl/internal/files"
)

var (
	// ErrNone says that nothing usable is kept.
	ErrNone = errors.New("nothing is indexed")
	// ErrBusy says that another process adds to the index.
	ErrBusy = errors.New("another process is indexing this folder")
	// ErrFull says that no more may be kept: the bound of all files is reached by this one alone.
	ErrFull = errors.New("the index has reached its bound")
)

// DefaultBound is how many bytes the files of a store have together, unless it is told otherwise.
const DefaultBound = 1 << 30

const (
	ending     = ".db"
	lockEnding = ".lock"
	lockWait   = 5 * time.Millisecond // who holds it does so for seconds
)

// Caches is a folder of cache files. It is safe for concurrent use, also by several processes.
type Caches struct {
	dir   string
	bound int64
}

// NewCaches gives the store in a folder, which is made when something is first kept there. Bound is the most bytes of all files together.
func NewCaches(dir string, bound int64) *Caches { return &Caches{dir: dir, bound: bound} }

// Folder is where the files lie.
func (s *Caches) Folder() string { return s.dir }

// Open gives the cache of a folder for one kind of use, such as code. Root is its absolute path. Nothing is opened yet.
func (s *Caches) Open(kind, root string) *Cache {
	sum := sha256.Sum256([]byte(kind + "\x00" + root))
	name := hex.EncodeToString(sum[:12]) + ending
	return &Cache{store: s, name: name, path: filepath.Join(s.dir, name), kind: kind, root: root}
}

// Kept is a cache file as it is listed.
type Kept struct {
	Kind  string    `json:"kind,omitempty"` // both are empty where the file is no index
	Root  string    `json:"root,omitempty"` // the folder that was indexed
	Texts int       `json:"texts"`
	File  string    `json:"file"`
	Bytes int64     `json:"bytes"`
	Used  time.Time `json:"used"`
}

// List gives the files of the store, the last used first.
func (s *Caches) List(ctx context.Context) ([]Kept, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Kept
	for _, e := range entries {
		info, gone := e.Info()
		if !strings.HasSuffix(e.Name(), ending) || gone != nil || !info.Mode().IsRegular() {
			continue
		}
		k := Kept{File: filepath.Join(s.dir, e.Name()), Bytes: s.size(e.Name()), Used: info.ModTime()}
		k.Kind, k.Root, k.Texts = describe(ctx, k.File)
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b Kept) int { return b.Used.Compare(a.Used) })
	return all, err
}

// Clear removes the files of the folders named, or all files if none is named, and says how many and how large they were. Those that another process adds
// to right now stay, and the error matches ErrBusy.
func (s *Caches) Clear(ctx context.Context, roots ...string) (removed int, bytes int64, err error) {
	all, err := s.List(ctx)
	for _, k := range all {
		if len(roots) > 0 && !slices.Contains(roots, k.Root) {
			continue
		}
		if failed := s.remove(ctx, filepath.Base(k.File)); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		removed, bytes = removed+1, bytes+k.Bytes
	}
	return removed, bytes, err
}

// lock takes the right to change a file of the store.
func (s *Caches) lock(ctx context.Context, name string) (unlock func(), err error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // opened for the lock only
	unlock, err = files.Lock(ctx, root, strings.TrimSuffix(name, ending)+lockEnding, lockWait)
	if refused, is := errors.AsType[*files.Error](err); is && refused.Reason == files.Busy {
		return nil, ErrBusy
	}
	return unlock, err
}

// remove removes a file of the store, unless somebody adds to it.
func (s *Caches) remove(ctx context.Context, name string) error {
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	return s.unlink(name)
}

// unlink removes a file, with what SQLite keeps beside it. Its lock stays: another process may wait for it.
func (s *Caches) unlink(name string) error {
	var errs []error
	for _, beside := range []string{"-wal", "-shm", "", unfinished, unfinished + "-wal", unfinished + "-shm"} {
		if err := os.Remove(filepath.Join(s.dir, name+beside)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// size is what a file takes, with what SQLite keeps beside it.
func (s *Caches) size(name string) (bytes int64) {
	for _, beside := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(filepath.Join(s.dir, name+beside)); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// makeRoom removes the files that were used longest ago until all are within the bound. The file named stays; ErrFull if it is too large by itself.
func (s *Caches) makeRoom(ctx context.Context, name string) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	type other struct {
		name string
		size int64
		used time.Time
	}
	var others []other
	total := s.size(name)
	if total > s.bound {
		return ErrFull
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ending) && e.Name() != name {
			others = append(others, other{e.Name(), s.size(e.Name()), info.ModTime()})
			total += others[len(others)-1].size
		}
	}
	slices.SortFunc(others, func(a, b other) int { return a.used.Compare(b.used) })
	for _, o := range others {
		if total <= s.bound {
			break
		}
		if err := s.remove(ctx, o.name); err == nil {
			total -= o.size
		}
	}
	return nil
}
