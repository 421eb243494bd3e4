package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"sibyl/internal/council/session"
	"sibyl/internal/files"
	"sibyl/internal/server/node"
)

// sharedFolder tells whether this process has the folder of Council sessions that all processes on one database share.
// The folder has a mark, and the database keeps the mark of the service's folder: that of the first process that used
// the Council. Locks in the folder, under which sessions are written, must hold between the machines of the nodes.
type sharedFolder struct {
	folder  string
	setting string // which sets it, for people
	db      Database
	node    string // the holder of this process if it is a node; "": it is none
	now     func() time.Time
	lost    func() // is called when this process loses its access
	log     *slog.Logger

	looks singleflight.Group

	mu    sync.Mutex
	since time.Time // when the look that is under way began; zero: none is
	told  string    // the problem that was logged last
	leave func()    // frees the lock by which other nodes see this one in the folder; nil: it has none
	// no lock is taken any more
	closed bool

	// of a look, of which there is one at a time
	mark    string               // of the service's folder, once it is known
	suspect map[string]time.Time // nodes whose locks were free, and when they had been seen last
	checked time.Time            // when the locks of other nodes were looked at
	locks   error                // what came of it
}

// sharedMark is the name of the mark of the service's folder in the database.
const sharedMark = "council.folder"

// nodeLocks is a folder in the shared folder, in which each node holds a lock.
const nodeLocks = ".nodes"

// How long a look at the folder may take, for whoever looks for runs and for all others; and how often the locks of
// other nodes are looked at.
const (
	shortPatience = time.Second
	longPatience  = 10 * time.Second
	locksInterval = 3 * time.Second
	ownLockWait   = time.Second // others look at it for a moment
)

// newSharedFolder has lost called when this process loses its access. It returns nil where the database is a file: then
// the data folder is the only one.
func (a *App) newSharedFolder(lost func()) *sharedFolder {
	if a.Config.Database.Postgres.Reveal() == "" {
		return nil
	}
	f := &sharedFolder{db: a.Database, now: a.Clock.Now, lost: lost, log: cmp.Or(a.log, slog.New(slog.DiscardHandler))}
	f.folder, f.setting = a.Config.CouncilFolder()
	if a.telemetry != nil {
		f.node = a.presence.holder
	}
	return f
}

// SharedSessions returns the folder of Council sessions, and an error that is session.ErrAway if it is not the one that
// the processes on its database share. It changes nothing.
func (a *App) SharedSessions(ctx context.Context) (folder string, err error) {
	folder, _ = a.Config.CouncilFolder()
	if a.shared != nil {
		err = a.shared.isOurs(ctx, false)
	}
	return folder, err
}

// errSlow says that a folder has not answered yet.
var errSlow = errors.New("has not answered yet")

// check returns an error that is session.ErrAway if this process has no access to the folder. It waits for a folder
// that does not answer until patience has passed since it was asked. The first process that calls it makes its folder
// the service's.
func (f *sharedFolder) check(ctx context.Context, patience time.Duration) error {
	if f == nil {
		return nil
	}
	err := f.look(ctx, patience)
	said := ""
	if errors.Is(err, session.ErrAway) {
		said = err.Error()
	}
	if ctx.Err() != nil || errors.Is(err, errSlow) || !f.tells(said) {
		return err
	}
	switch {
	case said != "":
		f.log.ErrorContext(ctx, said)
		given := make(chan struct{})
		go func() { // it waits for calls in the folder, and these may hang
			f.lost()
			close(given)
		}()
		select {
		case <-given:
		case <-time.After(longPatience):
		}
	case err == nil:
		f.log.InfoContext(ctx, "this node has access to the Council's sessions again", "folder", f.folder)
	}
	return err
}

// tells says whether a problem, or "" for none, is another one than was logged last; then it counts as logged.
func (f *sharedFolder) tells(said string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if said == f.told {
		return false
	}
	f.told = said
	return true
}

// look looks at the folder. A look may hang, such as at a file server that is gone: then others don't begin another.
func (f *sharedFolder) look(ctx context.Context, patience time.Duration) error {
	began := time.Now()
	done := f.looks.DoChan("", func() (any, error) {
		f.mu.Lock()
		f.since = began
		f.mu.Unlock()
		ctx, cut := context.WithTimeout(context.WithoutCancel(ctx), longPatience)
		defer cut()
		err := f.isOurs(ctx, true)
		if err == nil && f.node != "" {
			err = f.checkLocks(ctx)
		}
		f.mu.Lock()
		f.since = time.Time{}
		f.mu.Unlock()
		return nil, err
	})
	f.mu.Lock()
	since := f.since
	f.mu.Unlock()
	if since.IsZero() { // it has not begun, or is over
		since = began
	}
	over := time.NewTimer(max(patience-time.Since(since), 0))
	defer over.Stop()
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	case <-over.C:
	}
	if time.Since(since) < longPatience {
		return f.away("the folder %s %w", f.named(), errSlow)
	}
	return f.away("the folder %s does not answer", f.named())
}

// named names the folder and its setting.
func (f *sharedFolder) named() string { return fmt.Sprintf("%s (%s)", f.folder, f.setting) }

func (f *sharedFolder) away(format string, args ...any) error {
	return fmt.Errorf("%w: %w", session.ErrAway, fmt.Errorf(format, args...))
}

// isOurs returns an error that is session.ErrAway if the folder is not the service's. With claim it becomes that if the
// database knows none.
func (f *sharedFolder) isOurs(ctx context.Context, claim bool) error {
	if f.mark == "" {
		if err := f.learnMark(ctx, claim); err != nil || f.mark == "" {
			return err
		}
	}
	found, err := session.ReadMark(f.folder)
	const fix = "mount the volume there that all nodes share"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.away("there is no folder %s: %s", f.named(), fix)
	case err != nil:
		return f.away("the folder %s can't be read: %w", f.named(), err)
	case found == f.mark:
		return nil
	}
	what := "has no mark"
	if found != "" {
		what = "has the mark " + found
	}
	return f.away("the folder %s %s, and the one that the nodes of this database share has the mark %s: %s; if this is "+
		"that folder, moved or restored, write %s into %s", f.named(), what, f.mark, fix, f.mark,
		filepath.Join(f.folder, session.MarkFile))
}

// learnMark reads the mark of the service's folder from the database. If there is none and claim is set, it is that of
// this folder.
func (f *sharedFolder) learnMark(ctx context.Context, claim bool) error {
	kept, err := f.db.Agreed(ctx, sharedMark, nil)
	if err == nil && kept == nil && claim {
		// The mark comes first: if the process ends before the database has it, the next one finds it.
		mark, makeErr := session.MakeMark(ctx, f.folder)
		if makeErr != nil {
			return f.away("the folder %s can't be marked: %w", f.named(), makeErr)
		}
		kept, err = f.db.Agreed(ctx, sharedMark, []byte(mark))
	}
	f.mark = string(kept)
	return err
}

// checkLocks returns an error that is session.ErrAway if a lock that another node holds in the folder is free here:
// then two nodes could write one session at once. A lock of its own that the file system has lost, as when a file
// server or a mount was away, it takes again: until then other nodes saw it as free.
func (f *sharedFolder) checkLocks(ctx context.Context) error {
	if f.holdsLock() && time.Since(f.checked) < locksInterval {
		return f.locks
	}
	path := filepath.Join(f.folder, nodeLocks)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return f.away("the folder %s can't be written to: %w", f.named(), err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return f.away("the folder %s can't be read: %w", f.named(), err)
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	if f.holdsLock() && isFree(root, lockOf(f.node)) {
		f.log.WarnContext(ctx, "the file system has lost this node's lock in the Council's folder; it is taken again",
			"folder", f.folder)
		f.leaveLock()
	}
	if !f.holdsLock() {
		leave, err := files.Lock(ctx, root, lockOf(f.node), ownLockWait)
		if err != nil {
			return f.away("no lock can be held in the folder %s: %w", f.named(), err)
		}
		f.keepLock(leave)
		if isFree(root, lockOf(f.node)) {
			return f.away("locks in the folder %s keep nobody out: choose a file system that has locks", f.named())
		}
	}
	f.locks = f.checkLocksOf(ctx, root)
	f.checked = time.Now()
	return f.locks
}

// isFree says that anybody could take a lock, or that its file is gone.
func isFree(root *os.Root, name string) bool {
	held, err := files.IsHeld(root, name)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !held
}

// lockOf is the name of the lock of a node.
func lockOf(holder string) string { return strings.ReplaceAll(holder, "/", "_") }

// checkLocksOf looks at the locks of the other nodes. One that has ended may still be in the registry: locks do not
// hold if the lock of a node was free before it was seen. Without the registry it stays as it was.
func (f *sharedFolder) checkLocksOf(ctx context.Context, root *os.Root) error {
	nodes, err := f.db.Nodes(ctx, f.now())
	if err != nil {
		return f.locks // which the database has nothing to do with
	}
	free := map[string]bool{}
	for _, n := range nodes {
		held, err := files.IsHeld(root, lockOf(n.Holder))
		free[n.Holder] = n.Holder != f.node && err == nil && !held
	}
	if nodes, err = f.db.Nodes(ctx, f.now()); err != nil { // their times are later than what was looked at
		return f.locks
	}
	suspect := map[string]time.Time{}
	for _, n := range nodes {
		if !free[n.Holder] {
			continue
		}
		seen, before := f.suspect[n.Holder]
		if before && n.SeenAt.After(seen) {
			return f.locksDoNotHold(n)
		}
		suspect[n.Holder] = n.SeenAt
		if before {
			suspect[n.Holder] = seen
		}
	}
	if f.suspect = suspect; len(suspect) == 0 { // else a lock that does not hold would be swept before it is noticed
		sweepLocks(root)
	}
	return nil
}

func (f *sharedFolder) locksDoNotHold(n node.Node) error {
	return f.away("locks in the folder %s do not hold between machines, so that two nodes could write one session at "+
		"once: node %s lives, and its lock is free here; if its mount was cut off, it takes the lock again within "+
		"seconds; else choose a file system that shares locks, such as NFS 4 without local locks", f.named(), n.Name)
}

func (f *sharedFolder) close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.leaveLock()
}

// leaveLock frees the lock of this node, if it has one.
func (f *sharedFolder) leaveLock() {
	f.mu.Lock()
	leave := f.leave
	f.leave = nil
	f.mu.Unlock()
	if leave != nil {
		leave()
	}
}

// holdsLock says whether this node holds its lock.
func (f *sharedFolder) holdsLock() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.leave != nil
}

// keepLock keeps a lock that was taken; one that comes after close is given back.
func (f *sharedFolder) keepLock(leave func()) {
	f.mu.Lock()
	closed := f.closed
	if !closed {
		f.leave = leave
	}
	f.mu.Unlock()
	if closed {
		leave()
	}
}
