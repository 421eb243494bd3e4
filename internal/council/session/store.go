package session

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"sibyl/internal/files"
	"sibyl/internal/jsonobject"
)

// The bounds of what is read and kept.
const (
	maxMetadata = 16 << 20 // bytes of metadata.json; some ten thousand entries
	maxStored   = 16 << 20 // bytes of a transcript or an answer
	maxName     = 200      // characters of a session's name
)

// The folders beside the sessions.
const (
	trashFolder = ".trash"
	lockFolder  = ".locks"
)

// leftover is how old a temporary file is that nobody can be writing any more.
const leftover = time.Hour

// Facts are what a file turned out to be.
type Facts struct {
	Seconds *float64 // nil: not known
	Silent  bool
	Ending  string // what the content is: "ogg", "mp3"; "": not known
}

// Config says where sessions are kept, and within which bounds.
type Config struct {
	Folder string                                                // sessions/ of one owner; made when the first session is
	Now    func() time.Time                                      // nil: time.Now
	Probe  func(ctx context.Context, file string) (Facts, error) // an error: it is no audio. nil: every file is taken for what its name says
	// MaxAudio is how many bytes an upload has at most; 0: 2 GB.
	MaxAudio int64
	// MaxText is how many bytes a text has that is typed in, or comes as a file; 0: 1 MB.
	MaxText int
	// LockWait is how long a change waits for another one of the same session; 0: 30 s.
	LockWait time.Duration
	// Step is asked before every step of a change. An error is as if the step had failed: tests fail and crash there by it; nil: nobody is asked.
	Step func(name string) error
}

// Store keeps the sessions of one owner. It is safe for concurrent use, and several processes may use one folder.
type Store struct {
	c      Config
	folder string                  // absolute
	step   func(name string) error // Config.Step

	mu   sync.Mutex
	root *os.Root // nil until there is a folder
}

// Open makes a Store. It makes nothing on the disk, and the folder need not exist.
func Open(c Config) (*Store, error) {
	if c.Folder == "" {
		return nil, errors.New("no folder is given for the sessions")
	}
	folder, err := filepath.Abs(c.Folder)
	if err != nil {
		return nil, fmt.Errorf("the folder of the sessions: %w", err)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.MaxAudio = cmp.Or(c.MaxAudio, 2<<30)
	c.MaxText = cmp.Or(c.MaxText, 1<<20)
	c.LockWait = cmp.Or(c.LockWait, 30*time.Second)
	return &Store{c: c, folder: folder, step: c.Step}, nil
}

// Close frees the folder.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == nil {
		return nil
	}
	err := s.root.Close()
	s.root = nil
	return err
}

// now is the time as it is kept: in UTC, to the millisecond.
func (s *Store) now() time.Time { return s.c.Now().UTC().Truncate(time.Millisecond) }

func (s *Store) at(name string) error {
	if s.step == nil {
		return nil
	}
	return s.step(name)
}

// open gives the folder; without an error and nil if there is none and it is not to be made.
func (s *Store) open(create bool) (*os.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root != nil {
		return s.root, nil
	}
	if create {
		if err := os.MkdirAll(s.folder, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of the sessions: %w", err)
		}
	}
	root, err := os.OpenRoot(s.folder)
	if errors.Is(err, fs.ErrNotExist) && !create {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the folder of the sessions: %w", err)
	}
	s.root = root
	return root, nil
}

// notFound says that there is no session of an id.
func notFound(id string) error { return fmt.Errorf("session “%s”: %w", short(id), ErrNotFound) }

// find gives the folder in which a session lies. ErrNotFound if id is no id, or names no folder; a symbolic link is none.
func (s *Store) find(id string) (*os.Root, error) {
	if _, _, ok := parseID(id); !ok {
		return nil, notFound(id)
	}
	root, err := s.open(false)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, notFound(id)
	}
	info, err := root.Lstat(id)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, notFound(id)
	}
	return root, err
}

// load reads a session.
func (s *Store) load(root *os.Root, id string) (m Session, content []byte, err error) {
	name := path.Join(id, metadataFile)
	var f files.File
	if err = s.at("read " + metadataFile); err == nil {
		err = files.NoLinks(root, name)
	}
	if err == nil {
		f, err = files.Read(root, name, maxMetadata)
	}
	refused, isRefused := errors.AsType[*files.Error](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, nil, &Damaged{ID: id, Reason: "is missing", Err: err}
	case isRefused && (refused.Reason == files.Linked || refused.Reason == files.NoFile):
		return m, nil, &Damaged{ID: id, Reason: "is no file", Err: err}
	case err != nil:
		return m, nil, fmt.Errorf("read session %s: %w", id, err)
	case f.Cut:
		return m, nil, &Damaged{ID: id, Reason: fmt.Sprintf("is larger than %d MB", maxMetadata>>20)}
	}
	m, err = decode(f.Content)
	if err != nil {
		return m, nil, &Damaged{ID: id, Reason: err.Error(), Err: err}
	}
	if m.ID != id {
		m.other, m.said, m.ID = true, m.ID, id
	}
	return m, f.Content, nil
}

// Get reads a session: one file. ErrNotFound, or a *Damaged.
func (s *Store) Get(ctx context.Context, id string) (Session, error) {
	if err := ctx.Err(); err != nil {
		return Session{}, err
	}
	root, err := s.find(id)
	if err != nil {
		return Session{}, err
	}
	m, _, err := s.load(root, id)
	return m, err
}

// Skipped is a folder that is left out of a list, and why.
type Skipped struct {
	ID     string `json:"session_id"`
	Reason string `json:"reason"`
	// Err is what reading the session gave, such as a *Damaged; nil: the folder is no session.
	Err error `json:"-"`
}

// Repairable tells whether Repair can rebuild the session.
func (s Skipped) Repairable() bool {
	_, damaged := errors.AsType[*Damaged](s.Err)
	return damaged
}

// Newer tells whether the session of an id was begun after that of another.
func Newer(id, other string) bool { return newestFirst(id, other) < 0 }

// List reads all sessions, the newest first. What can't be read is skipped and named.
func (s *Store) List(ctx context.Context) (all []Session, skipped []Skipped, err error) {
	root, err := s.open(false)
	if err != nil || root == nil {
		return nil, nil, err
	}
	infos, err := files.List(root, ".")
	if err != nil {
		return nil, nil, fmt.Errorf("list the sessions: %w", err)
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return newestFirst(a.Name(), b.Name()) })
	for _, info := range infos {
		name := info.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		_, _, isID := parseID(name)
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			skipped = append(skipped, Skipped{ID: short(name), Reason: "it is a symbolic link, and links are not followed"})
		case info.IsDir() && !isID:
			skipped = append(skipped, Skipped{ID: short(name), Reason: "its name is not that of a session; it would look like 2025-12-20_10-30-00"})
		case info.IsDir():
			m, _, err := s.load(root, name)
			if err == nil {
				all = append(all, m)
			} else if _, gone := root.Lstat(name); !errors.Is(gone, fs.ErrNotExist) { // deleted in this moment
				skipped = append(skipped, Skipped{name, err.Error(), err})
			}
		}
	}
	return all, skipped, nil
}

// newestFirst orders ids.
func newestFirst(a, b string) int {
	at, n, _ := parseID(a)
	bt, m, _ := parseID(b)
	return cmp.Or(bt.Compare(at), cmp.Compare(m, n), strings.Compare(a, b))
}

// New begins a session, with its folders. A name is the person's; "" leaves it to the first words. Language is one such as "pt"; "": not said.
func (s *Store) New(ctx context.Context, name, language string) (m Session, err error) {
	if err := ctx.Err(); err != nil {
		return m, err
	}
	m.Defaults()
	m.State, m.CreatedAt, m.Language = Collecting, s.now(), language
	if err := CheckLanguage(language); err != nil {
		return Session{}, err
	}
	if strings.TrimSpace(name) != "" {
		if m.Name, err = cleanName(name); err != nil {
			return Session{}, err
		}
		m.NamedBy = ByPerson
	}
	root, err := s.open(true)
	if err != nil {
		return Session{}, err
	}
	s.sweep(root)
	for n := 1; n < 10_000; n++ {
		m.ID = m.CreatedAt.Format(stamp)
		if n > 1 {
			m.ID += fmt.Sprintf("_%02d", n)
		}
		made, err := s.make(ctx, root, &m)
		if err != nil {
			return Session{}, fmt.Errorf("make session %s: %w", m.ID, err)
		}
		if made {
			return m, nil
		}
	}
	return Session{}, fmt.Errorf("there are too many sessions of %s", m.CreatedAt.Format(time.DateTime))
}

// newPrefix begins the name of a folder in which a session is put together.
const newPrefix = ".new-"

// make puts the folder of a session together under another name, so that it is there with its metadata or not at all. made is false if the id is
// taken.
func (s *Store) make(ctx context.Context, root *os.Root, m *Session) (made bool, err error) {
	unlock, err := s.lock(ctx, root, m.ID, "making it")
	if err != nil {
		return false, err
	}
	defer unlock()
	if _, err := root.Lstat(m.ID); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	content, err := jsonobject.Encode(m)
	if err != nil {
		return false, err
	}
	folder := newPrefix + rand.Text()
	defer func() {
		if err != nil {
			err = errors.Join(err, root.RemoveAll(folder))
		}
	}()
	for _, sub := range []string{audioFolder, transcriptFolder, responseFolder} {
		if err := files.MakeFolder(root, path.Join(folder, sub), 0o700); err != nil {
			return false, err
		}
	}
	if err := s.at("write " + metadataFile); err != nil {
		return false, err
	}
	if err := files.Write(root, path.Join(folder, metadataFile), content, 0o600); err != nil {
		return false, err
	}
	if err := s.at("name the session"); err != nil {
		return false, err
	}
	if err := root.Rename(folder, m.ID); err != nil {
		return false, err
	}
	return true, syncFolder(root, ".")
}

// sweep removes what crashes of New left behind. It may fail: the next one tries again.
func (s *Store) sweep(root *os.Root) {
	infos, err := files.List(root, ".")
	if err != nil {
		return
	}
	for _, info := range infos {
		if strings.HasPrefix(info.Name(), newPrefix) && info.IsDir() && s.c.Now().Sub(info.ModTime()) > leftover {
			_ = root.RemoveAll(info.Name())
		}
	}
}

// lock waits until nobody else changes a session. Doing is what for, in words.
func (s *Store) lock(ctx context.Context, root *os.Root, id, doing string) (unlock func(), err error) {
	if err := files.MakeFolder(root, lockFolder, 0o700); err != nil {
		return nil, err
	}
	unlock, err = files.Lock(ctx, root, path.Join(lockFolder, id), s.c.LockWait)
	if refused, ok := errors.AsType[*files.Error](err); ok && refused.Reason == files.Busy {
		return nil, fmt.Errorf("%s waited %s for another program that is changing session %s; try again later: %w", doing, s.c.LockWait, id, err)
	}
	return unlock, err
}

// held is a session whose lock is held, as it was read under it.
type held struct {
	*Session
	root *os.Root
	undo []func() error // takes back what was done to files, if metadata.json can't be written
}

// in is the name of a file of the session, as the root has it.
func (h *held) in(parts ...string) string { return path.Join(append([]string{h.ID}, parts...)...) }

// change changes a session: it reads it under its lock, has do change it, and writes it if do says that it has changed. Doing is what for, in
// words.
func (s *Store) change(ctx context.Context, id, doing string, do func(h *held) (changed bool, err error)) (m Session, err error) {
	if err := ctx.Err(); err != nil {
		return m, err
	}
	root, err := s.find(id)
	if err != nil {
		return m, err
	}
	failed := func(err error) (Session, error) {
		_, invalid := err.(*Invalid) //nolint:errorlint // one with something beside it keeps the words of both
		if invalid || errors.Is(err, ErrNotFound) {
			return Session{}, err
		}
		return Session{}, fmt.Errorf("%s in session %s: %w", doing, id, err)
	}
	unlock, err := s.lock(ctx, root, id, doing)
	if err != nil {
		return failed(err)
	}
	defer unlock()
	if root, err = s.find(id); err != nil { // it may have been deleted meanwhile
		return m, err
	}
	m, before, err := s.load(root, id)
	if err != nil {
		return Session{}, err
	}
	h := &held{Session: &m, root: root}
	changed, err := do(h)
	if err != nil {
		return failed(errors.Join(err, h.takeBack()))
	}
	if !changed {
		return m, nil
	}
	if err := s.save(h, before); err != nil {
		return failed(err)
	}
	return m, nil
}

// save writes metadata.json. On an error the files of the session are as they were.
func (s *Store) save(h *held, before []byte) error {
	content, err := jsonobject.Encode(h.Session)
	switch {
	case err != nil:
	case bytes.Equal(content, before):
		return nil
	case len(content) > maxMetadata:
		full := fmt.Sprintf("is full: its %s would be larger than %d MB; begin another one", metadataFile, maxMetadata>>20)
		err = &Invalid{Kind: TooLarge, What: "the session", Problem: full}
	default:
		if err = s.at("write " + metadataFile); err == nil {
			err = files.Write(h.root, h.in(metadataFile), content, modeOf(before))
		}
	}
	if err == nil {
		return s.at("wrote " + metadataFile)
	}
	if f, readErr := files.Read(h.root, h.in(metadataFile), maxMetadata); readErr == nil && bytes.Equal(f.Content, content) {
		return fmt.Errorf("it is written, but may not survive a power failure: %w", err)
	}
	return errors.Join(err, h.takeBack())
}

// modeOf is the mode to write with: that of the file in its place, or this user's alone for a new one.
func modeOf(before []byte) fs.FileMode {
	if before != nil {
		return 0
	}
	return 0o600
}

// takeBack undoes what was done to files, the last first.
func (h *held) takeBack() (err error) {
	for _, undo := range slices.Backward(h.undo) {
		err = errors.Join(err, undo())
	}
	h.undo = nil
	return err
}

// makeSub makes a folder of a session, which is there: one that was deleted in this moment must not come back empty.
func makeSub(root *os.Root, id, folder string) error {
	name := path.Join(id, folder)
	if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	} else if err == nil {
		return syncFolder(root, id)
	}
	return files.MakeFolder(root, name, 0o700) // refuses what is no folder
}

// syncFolder makes the names in a folder durable. Windows does that itself; some network file systems can't.
func syncFolder(root *os.Root, folder string) error {
	f, err := root.Open(folder)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing was written through it
	if err = f.Sync(); runtime.GOOS == "windows" || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
