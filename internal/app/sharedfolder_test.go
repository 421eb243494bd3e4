package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council/session"
	"sibyl/internal/files"
	"sibyl/internal/server/node"
	"sibyl/internal/store"
)

// sharing is a process that has a folder, over a database that others use as well.
func sharing(t *testing.T, db Database, folder, holder string, now func() time.Time) *sharedFolder {
	t.Helper()
	f := &sharedFolder{db: db, folder: folder, setting: "council.sessions", node: holder, now: now, lost: func() {},
		log: slog.New(slog.DiscardHandler)}
	t.Cleanup(f.close)
	return f
}

func newDatabase(t *testing.T) Database {
	t.Helper()
	db := assert.Must(store.OpenFile(t.Context(), filepath.Join(t.TempDir(), "sibyl.db"), store.Unsynced()))(t)
	t.Cleanup(func() { assert.Nil(t, db.Close()) })
	return db
}

// away wants a process to have no access, for a reason in these words.
func away(t *testing.T, f *sharedFolder, parts ...string) {
	t.Helper()
	err := f.check(t.Context(), longPatience)
	assert.Require(t, errors.Is(err, session.ErrAway), "it is told %v", err)
	assert.Contains(t, "why", err.Error(), append(parts, "this node has no access to the Council's sessions")...)
}

func TestFolderOfTheFirstProcessIsTheOneOfTheService(t *testing.T) {
	db, ours, other := newDatabase(t), t.TempDir(), t.TempDir()
	assert.NoError(t, sharing(t, db, ours, "", time.Now).isOurs(t.Context(), false))
	assert.NoError(t, sharing(t, db, other, "", time.Now).isOurs(t.Context(), false)) // who only looks decides nothing
	for range 2 {
		assert.NoError(t, sharing(t, db, ours, "", time.Now).check(t.Context(), longPatience))
	}
	mark := assert.Must(session.ReadMark(ours))(t)
	foreign := sharing(t, db, other, "", time.Now)
	away(t, foreign, other, "council.sessions", "has no mark", mark, "mount the volume")
	own := assert.Must(session.MakeMark(t.Context(), other))(t)
	away(t, foreign, "has the mark "+own)
	away(t, sharing(t, db, filepath.Join(other, "missing"), "", time.Now), "there is no folder")
	assert.That(t, os.Mkdir(filepath.Join(other, "missing"), 0) == nil, "a process has made the folder that it lacks")

	// What it is told to do helps at once.
	assert.NoError(t, os.WriteFile(filepath.Join(other, session.MarkFile), []byte(mark+"\n"), 0o600))
	assert.NoError(t, foreign.check(t.Context(), longPatience))
}

func TestVolumeThatIsTakenAwayIsMissedAtOnce(t *testing.T) {
	at := filepath.Join(t.TempDir(), "mounted")
	assert.NoError(t, os.Mkdir(at, 0o700))
	f := sharing(t, newDatabase(t), at, "", time.Now)
	sessions := assert.Must(session.Open(session.Config{Folder: at}))(t)
	f.lost = func() { assert.Nil(t, sessions.Close()) }
	assert.NoError(t, f.check(t.Context(), longPatience))
	assert.Must(sessions.New(t.Context(), "of the volume", "en"))(t)
	assert.NoError(t, os.Rename(at, at+".away"))
	assert.NoError(t, os.Mkdir(at, 0o700)) // the empty folder that a volume is mounted over
	for range 2 {
		away(t, f, "has no mark")
	}
	assert.NoError(t, os.Remove(at))
	assert.NoError(t, os.CopyFS(at, os.DirFS(at+".away")))
	assert.NoError(t, f.check(t.Context(), longPatience))
	s := assert.Must(sessions.New(t.Context(), "of the volume that is back", "en"))(t)
	_, err := os.Stat(filepath.Join(at, s.ID))
	assert.NoErrorf(t, err, "what is written when the volume is back")
	assert.NoError(t, sessions.Close())
}

func TestFolderWithAMarkThatTheDatabaseDoesNotKnowYetIsTaken(t *testing.T) {
	db, ours := newDatabase(t), t.TempDir()
	mark := assert.Must(session.MakeMark(t.Context(), ours))(t) // by a process that ended then
	assert.NoError(t, sharing(t, db, ours, "", time.Now).check(t.Context(), longPatience))
	kept := assert.Must(db.Agreed(t.Context(), sharedMark, nil))(t)
	assert.That(t, string(kept) == mark, "the database has %q, the folder %q", kept, mark)
}

// slow is a database that answers once it may.
type slow struct {
	Database
	answers chan struct{}
}

func (s slow) Agreed(ctx context.Context, name string, value []byte) ([]byte, error) {
	<-s.answers
	return s.Database.Agreed(ctx, name, value)
}

func TestFolderThatDoesNotAnswerIsNotWaitedForTwice(t *testing.T) {
	db := slow{newDatabase(t), make(chan struct{})}
	f := sharing(t, db, t.TempDir(), "", time.Now)
	f.lost = func() { t.Error("a folder that is only slow is given up") }
	for range 3 {
		err := f.check(t.Context(), time.Millisecond)
		assert.That(t, errors.Is(err, session.ErrAway) && strings.Contains(err.Error(), "has not answered yet"),
			"it is told %v", err)
	}
	close(db.answers)
	assert.NoError(t, f.check(t.Context(), time.Minute))
}

// pair is two nodes with one folder, and their clock.
func pair(t *testing.T) (one, two *sharedFolder, seen func(holder string)) {
	t.Helper()
	db, folder, now := newDatabase(t), t.TempDir(), time.Now()
	clock := func() time.Time { return now }
	seen = func(holder string) {
		t.Helper()
		now = now.Add(time.Second)
		assert.NoError(t, db.Keep(t.Context(), node.Node{Holder: holder, Name: "node " + holder, StartedAt: now,
			SeenAt: now}))
	}
	return sharing(t, db, folder, "m/one", clock), sharing(t, db, folder, "m/two", clock), seen
}

// lookAgain has a node look again at the locks of others.
func (f *sharedFolder) lookAgain(t *testing.T) error {
	t.Helper()
	f.checked = time.Time{}
	return f.check(t.Context(), longPatience)
}

// A file server that was away has forgotten its locks, and may have lost their files.
func TestNodeWhoseOwnLockWasLostTakesItAgain(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, f *sharedFolder, lock string){
		"it is free": func(_ *testing.T, f *sharedFolder, _ string) {
			f.leave()
			f.leave = func() {} // of an open file that holds nothing any more
		},
		"its file is gone": func(t *testing.T, _ *sharedFolder, lock string) { assert.NoError(t, os.Remove(lock)) },
	} {
		t.Run(name, func(t *testing.T) {
			one, two, seen := pair(t)
			for range 2 {
				for _, f := range []*sharedFolder{one, two} {
					seen(f.node)
					assert.NoError(t, f.lookAgain(t))
				}
			}
			lose(t, one, filepath.Join(one.folder, nodeLocks, lockOf(one.node)))
			log := &strings.Builder{}
			one.log = slog.New(slog.NewTextHandler(log, nil))
			seen(one.node)
			assert.NoError(t, one.lookAgain(t))
			assert.Contains(t, "the log", log.String(), "has lost this node's lock", one.folder)
			for range 3 {
				seen(one.node)
				assert.NoError(t, two.lookAgain(t)) // which finds the lock held
				assert.NoError(t, one.lookAgain(t))
			}
			assert.Equalf(t, strings.Count(log.String(), "\n"), 1, "lines in the log")
		})
	}
}

func TestNodesWhoseLocksDoNotHoldForEachOtherKeepOff(t *testing.T) {
	one, two, seen := pair(t)
	db, folder := one.db, one.folder
	look := func(f *sharedFolder) error { return f.lookAgain(t) }
	for range 3 {
		for _, f := range []*sharedFolder{one, two} {
			seen(f.node)
			assert.NoError(t, look(f))
		}
	}

	// One that has died is seen for a while, and its lock is free.
	one.close()
	one.leave = nil
	for range 3 {
		seen(two.node)
		assert.NoError(t, look(two))
	}
	// One that lives, and whose lock is free, holds it elsewhere alone.
	seen(one.node)
	assert.That(t, errors.Is(look(two), session.ErrAway), "a node that writes under other locks is not noticed")
	away(t, two, "locks in the folder", folder, "node m/one")
	assert.NoError(t, db.Leave(t.Context(), one.node))
	assert.NoError(t, look(two))

	// One that is about to hold its lock is given the time.
	root := assert.Must(os.OpenRoot(filepath.Join(folder, nodeLocks)))(t)
	defer func() { assert.Nil(t, root.Close()) }()
	assert.NoError(t, root.WriteFile("m_three", nil, 0o600))
	seen("m/three")
	assert.NoError(t, look(two))
	release := assert.Must(files.Lock(t.Context(), root, "m_three", time.Second))(t)
	defer release()
	seen("m/three")
	assert.NoError(t, look(two))
}
