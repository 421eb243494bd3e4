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
	"sibyl/internal/media/document"
	"sibyl/internal/text/jsonobject"
)

// The bounds of what is read and kept, in bytes.
const (
	maxMetadata = 16 << 20 // of metadata.json; some ten thousand entries
	maxStored   = 16 << 20 // of a transcript or an answer
)

// The folders beside the sessions.
const (
	trashFolder = ".trash"
	lockFolder  = ".locks"
	newPrefix   = ".new-" // begins the name of a folder in which a session is put together
)

// Facts are what a file turned out to be.
type Facts struct {
	Seconds *float64 // nil: not known
	Silent  bool
	Ending  string // what the content is: "ogg", "mp3"; "": not known
}

// Config says where sessions are kept, and within which bounds.
type Config struct {
	// sessions/ of one owner; made when the first session is
	Folder string
	Now    func() time.Time // nil: time.Now
	// an error: it is no audio. nil: every file is taken for what its name says
	Probe func(ctx context.Context, file string) (Facts, error)
	// Read reads the text of a PDF or DOCX. nil: they can't be taken in.
	Read     func(ctx context.Context, name string, content []byte) (document.Document, error)
	MaxAudio int64         // bytes of an upload; 0: 2 GB
	MaxText  int           // bytes of a text that is typed in, or comes as a file; 0: 1 MB
	LockWait time.Duration // how long a change waits for another one of the same session; 0: 30 s
	// Step is asked before every step of a change. An error is as if the step had failed: tests fail and crash there by
	// it; nil: nobody is asked.
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

// Path is where the folder of a session lies, for people; that of "" holds all sessions.
func (s *Store) Path(id string) string { return filepath.Join(s.folder, id) }

// now is the time as it is kept: in UTC, to the millisecond.
func (s *Store) now() time.Time { return storedTime(s.c.Now()) }

func storedTime(at time.Time) time.Time { return at.UTC().Truncate(time.Millisecond) }

func (s *Store) reachStep(name string) error {
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

// rootWith gives the folder that contains the session. ErrNotFound if id is no id, or names no folder; a symbolic link
// is none.
func (s *Store) rootWith(id string) (*os.Root, error) {
	if _, _, ok := parseID(id); !ok {
		return nil, errNoSession(id)
	}
	root, err := s.open(false)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, errNoSession(id)
	}
	info, err := root.Lstat(id)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, errNoSession(id)
	}
	return root, err
}

// load reads a session.
func (s *Store) load(root *os.Root, id string) (m Session, content []byte, err error) {
	var f files.File
	if err = s.reachStep("read " + metadataFile); err == nil {
		err = files.NoLinks(root, path.Join(id, metadataFile))
	}
	if err == nil {
		f, err = files.Read(root, path.Join(id, metadataFile), maxMetadata)
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
		return m, nil, &Damaged{ID: id, Reason: "is larger than " + sizeInWords(maxMetadata)}
	}
	if err := jsonobject.Decode(f.Content, &m); err != nil {
		return m, nil, &Damaged{ID: id, Reason: err.Error(), Err: err}
	}
	if m.ID != id {
		m.misnamed, m.namedID, m.ID = true, m.ID, id
	}
	return m, f.Content, nil
}

// Get reads a session: one file. ErrNotFound, or a *Damaged.
func (s *Store) Get(ctx context.Context, id string) (Session, error) {
	if err := ctx.Err(); err != nil {
		return Session{}, err
	}
	root, err := s.rootWith(id)
	if err != nil {
		return Session{}, err
	}
	m, _, err := s.load(root, id)
	return m, err
}

// New begins a session, with its folders. A name is the person's; "" leaves it to the first words. Language is one such
// as "pt"; "": not said.
func (s *Store) New(ctx context.Context, name, language string) (m Session, err error) {
	m.Defaults()
	m.State, m.CreatedAt, m.Language = Collecting, s.now(), language
	if err := cmp.Or(ctx.Err(), CheckLanguage(language)); err != nil {
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
	m.ID = m.CreatedAt.Format(stamp)
	for n := 2; ; n++ {
		made, err := s.makeFolder(root, &m)
		switch {
		case err != nil:
			return Session{}, fmt.Errorf("make session %s: %w", m.ID, err)
		case made:
			return m, nil
		case n == 10_000:
			return Session{}, fmt.Errorf("there are too many sessions of %s", m.CreatedAt.Format(time.DateTime))
		}
		m.ID = fmt.Sprintf("%s_%02d", m.CreatedAt.Format(stamp), n)
	}
}

// makeFolder puts the folder of a session together under another name, so that it is there with its metadata or not at
// all. made is false if the id is taken: no folder is renamed to one that holds something.
func (s *Store) makeFolder(root *os.Root, m *Session) (made bool, err error) {
	taken := func() bool {
		_, err := root.Lstat(m.ID)
		return !errors.Is(err, fs.ErrNotExist)
	}
	if taken() {
		return false, nil
	}
	content, err := jsonobject.Encode(m)
	if err != nil {
		return false, err
	}
	folder := newPrefix + rand.Text()
	defer func() {
		if !made {
			err = errors.Join(err, root.RemoveAll(folder))
		}
	}()
	for _, sub := range []string{audioFolder, transcriptFolder, responseFolder} {
		if err := files.MakeFolder(root, path.Join(folder, sub), 0o700); err != nil {
			return false, err
		}
	}
	if err := s.reachStep("write " + metadataFile); err != nil {
		return false, err
	}
	if err := files.Write(root, path.Join(folder, metadataFile), content, 0o600); err != nil {
		return false, err
	}
	if err := s.reachStep("name the session"); err != nil {
		return false, err
	}
	if err := root.Rename(folder, m.ID); err != nil {
		if taken() { // by somebody else, in this moment
			return false, nil
		}
		return false, err
	}
	return true, syncFolder(root, ".")
}

// lockSession waits until nobody else changes the session. doing says in words what for.
func (s *Store) lockSession(ctx context.Context, id, doing string) (root *os.Root, unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if root, err = s.rootWith(id); err != nil {
		return nil, nil, err
	}
	if err = files.MakeFolder(root, lockFolder, 0o700); err == nil {
		unlock, err = files.Lock(ctx, root, path.Join(lockFolder, id), s.c.LockWait)
	}
	if refused, ok := errors.AsType[*files.Error](err); ok && refused.Reason == files.Busy {
		err = fmt.Errorf("waited %s for another program that is changing it; try again later: %w", s.c.LockWait, err)
	}
	if err != nil {
		return nil, nil, errorWhile(id, doing, err)
	}
	if _, err = s.rootWith(id); err != nil { // it was deleted meanwhile
		unlock()
		return nil, nil, err
	}
	return root, unlock, nil
}

// errorWhile adds to an error what was being done in which session.
func errorWhile(id, doing string, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) {
		return err
	}
	return fmt.Errorf("%s in session %s: %w", doing, id, err)
}

// change changes a session: it reads it under its lock, has do change it, and writes it if do says that it has changed.
// Doing is what for, in words.
func (s *Store) change(
	ctx context.Context, id, doing string, do func(h *lockedSession) (changed bool, err error),
) (m Session, err error) {
	root, unlock, err := s.lockSession(ctx, id, doing)
	if err != nil {
		return m, err
	}
	defer unlock()
	m, before, err := s.load(root, id)
	if err != nil {
		return Session{}, err
	}
	h := &lockedSession{Session: &m, store: s, root: root}
	changed, err := do(h)
	if err != nil {
		err = errors.Join(err, h.removeMade())
	} else if changed {
		err = h.save(before)
	}
	if err != nil {
		return Session{}, errorWhile(id, doing, err)
	}
	return m, nil
}

// lockedSession is a session as it was read under its lock, which is held.
type lockedSession struct {
	*Session
	store *Store
	root  *os.Root
	made  []string // files that go again if metadata.json can't be written
}

// fileName is the name of a file of the session, as the root has it.
func (h *lockedSession) fileName(parts ...string) string {
	return path.Join(append([]string{h.ID}, parts...)...)
}

// save writes metadata.json. On an error the files of the session are as they were.
func (h *lockedSession) save(before []byte) error {
	content, err := jsonobject.Encode(h.Session)
	mode := fs.FileMode(0) // that of the file in its place
	if before == nil {
		mode = 0o600
	}
	switch {
	case err != nil:
	case bytes.Equal(content, before):
		return nil
	case len(content) > maxMetadata:
		full := fmt.Sprintf("is full: its %s would be larger than %s; begin another one",
			metadataFile, sizeInWords(maxMetadata))
		err = &Invalid{Kind: TooLarge, What: "the session", Problem: full}
	default:
		if err = h.store.reachStep("write " + metadataFile); err == nil {
			err = files.Write(h.root, h.fileName(metadataFile), content, mode)
		}
	}
	if err == nil {
		return h.store.reachStep("wrote " + metadataFile)
	}
	if f, readErr := files.Read(h.root, h.fileName(metadataFile), maxMetadata); readErr == nil &&
		bytes.Equal(f.Content, content) {
		return fmt.Errorf("it is written, but may not survive a power failure: %w", err)
	}
	return errors.Join(err, h.removeMade())
}

// removeMade removes the files that this change made.
func (h *lockedSession) removeMade() (err error) {
	for _, name := range slices.Backward(h.made) {
		err = errors.Join(err, ignoreMissing(h.root.Remove(name)))
	}
	h.made = nil
	return err
}

// ignoreMissing is err, or nil if it says that a file does not exist.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
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
	if err = f.Sync(); runtime.GOOS == "windows" || errors.Is(err, syscall.EINVAL) ||
		errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
