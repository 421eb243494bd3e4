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
	"sibyl/internal/redact"
	"sibyl/internal/text/jsonobject"
)

// The maximum sizes of files, in bytes.
const (
	maxMetadata = 16 << 20 // of metadata.json; some ten thousand entries
	maxStored   = 16 << 20 // of a transcript or an answer
)

// The other folders in Config.Folder.
const (
	trashFolder = ".trash"
	lockFolder  = ".locks"
	newPrefix   = ".new-" // begins the temporary name of the folder of a new session
)

// Facts are what Config.Probe finds out about an audio file.
type Facts struct {
	Seconds *float64 // nil: not known
	Silent  bool
	Ending  string // the file ending for its content: "ogg", "mp3"; "": not known
}

// Config says where sessions are stored, sets limits, and gives the functions that a Store calls.
type Config struct {
	// the folder of one owner's sessions; created with the first session
	Folder string
	Now    func() time.Time // nil: time.Now
	// Probe examines a file; an error means that it is not audio. nil: the name decides.
	Probe func(ctx context.Context, file string) (Facts, error)
	// Read reads the text of a PDF or DOCX. nil: they are not recognized.
	Read     func(ctx context.Context, name string, content []byte) (document.Document, error)
	MaxAudio int64 // bytes of an upload; 0: 2 GB
	MaxText  int   // bytes of a typed text or of a text file; 0: 1 MB
	// Redact takes secrets out of every text before it is written. nil: redact.Text, which knows them by shape, name and
	// place.
	Redact   func(text string) string
	LockWait time.Duration // how long a change waits for another one of the same session; 0: 30 s
	// Step is called before every step of a change, and an error makes the step fail: it is a hook for tests. nil: no
	// calls.
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

// Open makes a Store. It does not touch the disk; the folder need not exist.
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
	if c.Redact == nil {
		c.Redact = redact.Text
	}
	c.MaxAudio = cmp.Or(c.MaxAudio, 2<<30)
	c.MaxText = cmp.Or(c.MaxText, 1<<20)
	c.LockWait = cmp.Or(c.LockWait, 30*time.Second)
	return &Store{c: c, folder: folder, step: c.Step}, nil
}

// Close closes the folder. The Store opens it again when it is used.
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

// Path gives the absolute path of a session's folder, to show to people; for "", that of the folder of all sessions.
func (s *Store) Path(id string) string { return filepath.Join(s.folder, id) }

// now gives the current time in the form that is stored: in UTC, to the millisecond.
func (s *Store) now() time.Time { return storedTime(s.c.Now()) }

func storedTime(at time.Time) time.Time { return at.UTC().Truncate(time.Millisecond) }

func (s *Store) reachStep(name string) error {
	if s.step == nil {
		return nil
	}
	return s.step(name)
}

// open gives the folder, opened once. If it does not exist, it is created, or without create the result is nil, nil.
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

// rootWith gives the folder of all sessions, after checking that it contains this one. ErrNotFound if id is not a valid
// id or not a folder; a symbolic link is not one.
func (s *Store) rootWith(id string) (*os.Root, error) {
	if _, _, ok := ParseID(id); !ok {
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

// load reads a session's metadata.json, and gives its content as well; a *Damaged if it is missing or can't be used.
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

// Get reads a session's metadata.json. ErrNotFound if there is no such session, a *Damaged if the file can't be used.
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

// New creates a session, with its folders. A name counts as ByPerson; with "" the first words will name it. language is
// such as "pt"; "": to be detected.
func (s *Store) New(ctx context.Context, name, language string) (m Session, err error) {
	m.Defaults()
	m.State, m.CreatedAt, m.Language = Collecting, s.now(), language
	if err := cmp.Or(ctx.Err(), CheckLanguage(language)); err != nil {
		return Session{}, err
	}
	if strings.TrimSpace(name) != "" {
		if m.Name, err = s.cleanName(name); err != nil {
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

// makeFolder creates the folder of a session under a temporary name and renames it, so that it never exists without its
// metadata. made is false, without an error, if the id is taken.
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
		if taken() { // by another process, just now
			return false, nil
		}
		return false, err
	}
	return true, syncFolder(root, ".")
}

// lockSession locks the session against changes by others, and waits up to Config.LockWait. The caller must unlock it.
// doing describes the change for errors.
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

// errorWhile adds the session and what was being done to an error; nil and ErrNotFound stay as they are.
func errorWhile(id, doing string, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) {
		return err
	}
	return fmt.Errorf("%s in session %s: %w", doing, id, err)
}

// change reads a session under its lock, lets do change it, and writes it if do returns true. If do or the writing
// fails, the files that do made are removed. doing describes the change for errors.
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

// lockedSession is a session that was read under its lock, which is still held.
type lockedSession struct {
	*Session
	store *Store
	root  *os.Root
	made  []string // files to remove if metadata.json can't be written
}

// fileName gives the path of a file of the session, relative to root.
func (h *lockedSession) fileName(parts ...string) string {
	return path.Join(append([]string{h.ID}, parts...)...)
}

// save writes metadata.json if it differs from before. If it was not written, the files that this change made are
// removed.
func (h *lockedSession) save(before []byte) error {
	content, err := jsonobject.Encode(h.Session)
	mode := fs.FileMode(0) // keeps the mode of the existing file
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

// ignoreMissing returns err, or nil if err is fs.ErrNotExist.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// makeSub makes a folder in an existing session. It never creates the session's own folder: that may just be deleted.
func makeSub(root *os.Root, id, folder string) error {
	name := path.Join(id, folder)
	if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	} else if err == nil {
		return syncFolder(root, id)
	}
	return files.MakeFolder(root, name, 0o700) // refuses what is no folder
}

// syncFolder makes the names in a folder durable; it ignores errors on Windows and on file systems that can't do it.
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
