package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"sibyl/internal/files"
)

// settleTime is how long a process waits that replaced what a holder before a reboot had left, so that another one
// which did the same at the same time has written by then, too.
const settleTime = time.Second

// fileLock is the lock file beside a database on a shared place: one process at a time has the database. Where the file
// system shows locks to other machines and mounts, the lock on the file is enough. Where it does not, its name is: it
// is made exclusively, and says who holds it.
type fileLock struct {
	path string
	held *os.File // locked; the system frees it with the process
	own  holder

	tryLock func(*os.File) (taken bool, err error)
}

// holder is the content of a lock file.
type holder struct {
	Machine string    `json:"machine"` // "": unknown
	Boot    string    `json:"boot"`    // "": unknown
	Mount   string    `json:"mount"`
	Host    string    `json:"host"` // for people
	Process int       `json:"process"`
	Since   time.Time `json:"since"`
	Token   string    `json:"token"` // this lock's own
}

// heldError says that another process holds the lock.
type heldError struct{ reason string }

func (e *heldError) Error() string { return e.reason }

func isHeld(err error) bool {
	var held *heldError
	return errors.As(err, &held)
}

// errGone says that the lock file has just been removed.
var errGone = errors.New("the lock file has gone")

// takeFileLock takes the lock file at path for its own holder. It fails with a heldError if another process has
// it, and with errGone if it was just released. A lock file that a process left which has ended is taken over; whether
// one on another machine or mount has ended can't be known, so a person must remove its lock file.
func takeFileLock(ctx context.Context, path string, own holder) (*fileLock, error) {
	l := &fileLock{path: path, own: own, tryLock: files.TryLock}
	if err := l.take(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// retry repeats do while it says so, until patience has passed.
func retry(ctx context.Context, patience time.Duration, do func() (again bool, err error)) error {
	deadline := time.Now().Add(patience)
	for {
		again, err := do()
		if !again || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(busySlice):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// newHolder is this process, on a mount.
func newHolder(mount string) holder {
	machine, boot := thisMachine()
	host, _ := os.Hostname()
	return holder{machine, boot, mount, cmp.Or(host, "an unnamed machine"), os.Getpid(), time.Now(), rand.Text()}
}

// take takes the lock file if nobody holds it.
func (l *fileLock) take(ctx context.Context) (err error) {
	l.held, err = os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	isNew := err == nil
	if errors.Is(err, fs.ErrExist) {
		l.held, err = os.OpenFile(l.path, os.O_RDWR, 0)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errGone
	case err != nil:
		return err
	}
	defer func() {
		if err != nil {
			_ = l.held.Close() // the first error is the one to tell
		}
	}()
	if !isNew {
		if err := l.lock(); err != nil {
			return err
		}
		return l.takeOver(ctx)
	}
	// Others may lock the file for a moment, and see that it names nobody.
	err = retry(ctx, settleTime, func() (again bool, err error) {
		err = l.lock()
		return isHeld(err), err
	})
	if err == nil {
		err = l.write()
	}
	if err != nil {
		_ = os.Remove(l.path) // it names nobody yet
	}
	return err
}

// lock locks the open file, and checks that this keeps others on this mount from it.
func (l *fileLock) lock() error {
	taken, err := l.tryLock(l.held)
	if err == nil && !taken {
		return &heldError{readHolder(l.path).String() + " has it (let it finish, or end it)"}
	}
	if err == nil {
		taken, err = l.isFree()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // it was released meanwhile
		return errGone
	case err != nil:
		return fmt.Errorf("%w, and its file system has no locks: %w", ErrShared, err)
	case taken:
		return fmt.Errorf("%w, and the locks of its file system keep nobody out", ErrShared)
	}
	return nil
}

// isFree says whether somebody else who opens the file can lock it.
func (l *fileLock) isFree() (bool, error) {
	second, err := os.OpenFile(l.path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	taken, err := l.tryLock(second)
	return taken, errors.Join(err, second.Close())
}

// takeOver takes the lock file over from a process that has ended.
func (l *fileLock) takeOver(ctx context.Context) error {
	if !l.isSameFile() {
		return errGone
	}
	before := readHolder(l.path)
	switch {
	case before.Boot != "" && before.Boot == l.own.Boot && before.Mount == l.own.Mount:
		return l.write() // it would hold the lock here
	case before.Machine == "" || before.Machine != l.own.Machine || before.Boot == l.own.Boot:
		return elsewhere(l.path)
	}
	if err := l.write(); err != nil {
		return err
	}
	select {
	case <-time.After(settleTime):
	case <-ctx.Done():
		return ctx.Err()
	}
	if !l.isOwn() {
		return &heldError{readHolder(l.path).String() + " has taken it at the same time (end it there)"}
	}
	return nil
}

// isSameFile says that nobody has removed the file since it was opened.
func (l *fileLock) isSameFile() bool {
	held, heldErr := l.held.Stat()
	now, err := os.Stat(l.path)
	return heldErr == nil && err == nil && os.SameFile(held, now)
}

// A lock file has this many bytes, so that one write replaces all. Windows lets nobody else read the first byte, which
// is the one that is locked.
const (
	lockSize = 1 << 10
	lockByte = 1
)

// write makes this process the holder that the file names.
func (l *fileLock) write() error {
	own, err := json.Marshal(l.own)
	if err != nil {
		return err
	}
	content := bytes.Repeat([]byte(" "), lockSize)
	if copy(content[lockByte:], own) < len(own) {
		return errors.New("the names of this machine are too long")
	}
	if _, err := l.held.WriteAt(content, 0); err != nil {
		return err
	}
	return l.held.Sync()
}

// readHolder reads who holds a lock file; the zero holder if that can't be read.
func readHolder(path string) (h holder) {
	f, err := os.Open(path) // anew, so that the file system asks its server
	if err != nil {
		return h
	}
	defer func() { _ = f.Close() }() // nothing was written
	h, _ = decodeHolder(f)
	return h
}

// decodeHolder reads a lock file. The error is one of reading: what does not decode is the zero holder.
func decodeHolder(f io.ReaderAt) (h holder, err error) {
	own, err := io.ReadAll(io.NewSectionReader(f, lockByte, lockSize))
	if err != nil || json.Unmarshal(own, &h) != nil {
		return holder{}, err
	}
	return h, nil
}

// String names the holder for people.
func (h holder) String() string {
	if h.Token == "" {
		return "another process"
	}
	return fmt.Sprintf("process %d of %s, since %s,", h.Process, h.Host, h.Since.Local().Format("2006-01-02 15:04"))
}

// isOwn says that the file is still there, and names this process as its holder where others may read it: where locks
// are mandatory, they may not, but then the lock is enough.
func (l *fileLock) isOwn() bool {
	f, err := os.Open(l.path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // nothing was written
	held, heldErr := l.held.Stat()
	now, err := f.Stat()
	if heldErr != nil || err != nil || !os.SameFile(held, now) {
		return false
	}
	h, err := decodeHolder(f)
	return err != nil || h.Token == l.own.Token
}

// release removes the lock file. The database must be closed.
func (l *fileLock) release() {
	own := l.isOwn()
	if runtime.GOOS == "windows" { // where an open file can't be removed
		_ = l.held.Close() // nothing is to be written
	}
	if own {
		_ = os.Remove(l.path) // who comes next finds that this process has ended
	}
	_ = l.held.Close()
}

func (f *file) lockName() string { return f.path + "-lock" }

// lock takes the lock file if the database is on a shared place, as soon as nobody holds it, within the busy timeout.
// Elsewhere it fails if somebody holds it.
func (f *file) lock(ctx context.Context) error {
	if !f.place.shared {
		return f.heldElsewhere()
	}
	return retry(ctx, f.busyTimeout, func() (again bool, err error) {
		err = f.tryLock(ctx)
		return isHeld(err) || errors.Is(err, errGone), err
	})
}

// tryLock takes the lock file. Whoever has the database where its disk is, which may be another mount of it, needs no
// lock file. But there is shared memory then, and here never.
func (f *file) tryLock(ctx context.Context) (err error) {
	if f.held, err = takeFileLock(ctx, f.lockName(), newHolder(f.place.mount)); err != nil {
		return err
	}
	memory := f.path + "-shm"
	if _, err := os.Stat(memory); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f.held.release()
	f.held = nil
	return &heldError{"a process has it on another machine or through another mount (end it there; if there is none, " +
		"remove " + memory + ")"}
}

// heldElsewhere is a heldError if a process has the lock file that this one does not take.
func (f *file) heldElsewhere() error {
	if _, err := os.Stat(f.lockName()); err == nil {
		return elsewhere(f.lockName())
	}
	return nil
}

// elsewhere is the error of a lock file whose holder can't be seen from here.
func elsewhere(path string) error {
	return &heldError{fmt.Sprintf("%s has it, on another machine or through another mount (end it there; if it has "+
		"ended, remove %s)", readHolder(path), path)}
}

// lockError explains why the lock file could not be taken.
func (f *file) lockError(err error) error {
	switch {
	case isHeld(err) && f.place.shared:
		err = fmt.Errorf("%w (%s), so that one process at a time can use it, and %w", ErrShared, f.place.system, err)
	case isHeld(err):
		err = fmt.Errorf("%w, and %w", ErrShared, err)
	}
	return fmt.Errorf("database %s: %w", f.path, err)
}

// sharedPlace implements dialect.
func (f *file) sharedPlace() string { return f.place.String() }
