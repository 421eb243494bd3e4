package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

// network is a place on a mount of a network file system.
func network(mount string) place { return place{system: "nfs4", mount: mount, shared: true} }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// refusedFor expects that a database is refused since another process has it, and says so with these words.
func refusedFor(t *testing.T, path string, p place, words ...string) {
	t.Helper()
	db, err := OpenFile(t.Context(), path, at(p), WithBusyTimeout(0))
	if err == nil {
		closeDB(t, db)
	}
	assert.Require(t, errors.Is(err, ErrShared), "error %v", err)
	assert.Contains(t, "the error", err.Error(), append(words, path)...)
}

func TestOneProcessAtATimeHasADatabaseThatOtherMachinesMayWriteTo(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path, at(network("1")))
	begin(t, db, 3)
	assert.That(t, !exists(path+"-shm"), "there is shared memory")
	recs, err := db.Records(t.Context(), "ada", "run", 0)
	assert.That(t, err == nil && len(recs) == 3, "%d records, error %v", len(recs), err)
	refusedFor(t, path, network("1"), "nfs4", fmt.Sprintf("process %d", os.Getpid()), "end it")
	closeDB(t, db)
	assert.That(t, !exists(path+"-lock"), "the lock file was left")
	again := openAt(t, path, at(network("2")))
	assert.That(t, !exists(path+"-shm"), "there is shared memory the second time")
	recs, err = again.Records(t.Context(), "ada", "run", 0)
	assert.That(t, err == nil && len(recs) == 3, "later: %d records, error %v", len(recs), err)
}

func TestProcessThatWaitsForADatabaseGetsItWhenTheOtherHasFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := newPath(t)
		db := openAt(t, path, at(network("1")))
		waits := make(chan error)
		go func() {
			second, err := OpenFile(t.Context(), path, at(network("1")))
			if err == nil {
				err = second.Close()
			}
			waits <- err
		}()
		synctest.Wait() // until it pauses between two tries
		closeDB(t, db)
		assert.NoError(t, <-waits)
	})
}

func TestLockFileOfAProcessThatHasEndedIsTakenOverOnlyWhereThatIsCertain(t *testing.T) {
	own := holder{Machine: "m", Boot: "b", Mount: "1", Host: "here", Process: 1, Token: "own"}
	for name, one := range map[string]struct {
		machine, boot, mount string
		taken                bool
	}{
		"on this mount":                          {"m", "b", "1", true},
		"in another container on this mount":     {"", "b", "1", true},
		"before this machine was booted":         {"m", "a", "7", true},
		"through another mount of this machine":  {"m", "b", "2", false},
		"of another container and another mount": {"", "b", "2", false},
		"of another machine":                     {"n", "c", "1", false},
		"of machines that have no names":         {"", "", "1", false},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t) + "-lock"
			left := assert.Must(json.Marshal(holder{one.machine, one.boot, one.mount, "there", 77, own.Since, "left"}))(t)
			assert.NoError(t, os.WriteFile(path, append([]byte(" "), left...), 0o600))
			l, err := takeFileLock(t.Context(), path, own)
			if !one.taken {
				assert.Require(t, isHeld(err), "error %v", err)
				assert.Contains(t, "the error", err.Error(), "process 77 of there", "remove "+path)
				assert.Equal(t, readHolder(path).Token, "left")
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, readHolder(path).Token, "own")
			l.release()
			assert.That(t, !exists(path), "it was left")
		})
	}
}

func TestLockFileThatNamesNobodyIsNotTakenOver(t *testing.T) {
	for name, content := range map[string]string{"empty": "", "cut off": ` {"machine":"m","bo`, "other": "x"} {
		path := newPath(t) + "-lock"
		assert.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := takeFileLock(t.Context(), path, newHolder("1"))
		assert.That(t, isHeld(err) && strings.Contains(err.Error(), "another process"), "%s: error %v", name, err)
	}
}

func TestProcessWhoseLockFileIsGoneWritesNothingMoreAndLeavesTheFilesAlone(t *testing.T) {
	path := newPath(t)
	first := assert.Must(OpenFile(t.Context(), path, at(network("1"))))(t)
	begin(t, first, 1)
	assert.NoError(t, os.Remove(path+"-lock")) // a person thinks that it has ended
	second := assert.Must(takeFileLock(t.Context(), path+"-lock", newHolder("2")))(t)
	defer second.release()
	wal := assert.Must(os.ReadFile(path + "-wal"))(t)
	err := first.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1, Kind: "x"}}, nil)
	assert.ErrorIs(t, err, journal.ErrUnreachable)
	assert.ErrorIs(t, first.Close(), journal.ErrUnreachable)
	assert.That(t, second.isOwn(), "the lock of the other was taken away")
	after := assert.Must(os.ReadFile(path + "-wal"))(t)
	assert.That(t, string(after) == string(wal), "the WAL was changed")
}

func TestProcessWhereTheDiskIsAndOneThroughAMountKeepEachOtherOut(t *testing.T) {
	path := newPath(t)
	local := openAt(t, path)
	begin(t, local, 1)
	refusedFor(t, path, network("1"), "another machine", path+"-shm")
	assert.That(t, !exists(path+"-lock"), "a lock file was left")
	closeDB(t, local)
	remote := openAt(t, path, at(network("1")))
	refusedFor(t, path, place{}, "another machine", fmt.Sprintf("process %d", os.Getpid()), path+"-lock")
	_, err := OpenFileToRead(t.Context(), path)
	assert.ErrorIs(t, err, ErrShared)
	closeDB(t, remote)
	assert.NoError(t, assert.Must(OpenFileToRead(t.Context(), path))(t).Close())
}

func TestDatabaseOnANetworkThatWasNotClosedIsReadOnceItWasOpenedAgain(t *testing.T) {
	path := newPath(t)
	closeDB(t, openAt(t, path, at(network("1"))))
	assert.NoError(t, os.WriteFile(path+"-wal", []byte("what a crash has left"), 0o600))
	f := assert.Must(newFile(path, []FileOption{at(network("1"))}))(t)
	assert.NoError(t, f.find(t.Context()))
	_, err := f.openReadOnly(t.Context(), errors.New("cause"))
	assert.That(t, errors.Is(err, journal.ErrReadOnly) && strings.Contains(err.Error(), "open it once"), "error %v", err)
}

func TestFileSystemWhoseLocksKeepNobodyOutIsRefused(t *testing.T) {
	for words, tryLock := range map[string]func(*os.File) (bool, error){
		"has no locks":    func(*os.File) (bool, error) { return false, errors.ErrUnsupported },
		"keep nobody out": func(*os.File) (bool, error) { return true, nil },
	} {
		l := &fileLock{path: newPath(t) + "-lock", own: newHolder("1"), tryLock: tryLock}
		err := l.take(t.Context())
		assert.ErrorIs(t, err, ErrShared)
		assert.Contains(t, "the error", err.Error(), words)
		assert.That(t, !exists(l.path), "a lock file was left")
	}
}
