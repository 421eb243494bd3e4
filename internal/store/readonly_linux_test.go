package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

// unprivileged runs do on a thread that file permissions hold for, even if the tests run as root.
func unprivileged(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if os.Geteuid() == 0 {
			const nobody = 65534
			if err := syscall.Setfsuid(nobody); err != nil {
				t.Error(err)
				return
			}
		}
		do()
	}()
	<-done
}

// readOnly takes the right to write a database away, from everybody but root: to its folder and to the files in it.
func readOnly(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	folder := filepath.Dir(path)
	files := assert.Must(filepath.Glob(path + "*"))(t)
	for _, name := range files {
		assert.NoError(t, os.Chmod(name, mode))
	}
	t.Cleanup(func() { _ = os.Chmod(folder, 0o755) })
	// others may not enter it
	for name, mode := range map[string]os.FileMode{folder: 0o555, filepath.Dir(folder): 0o755} {
		assert.NoError(t, os.Chmod(name, mode))
	}
}

func TestFolderThatCannotBeReadOrWrittenIsNamed(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, path string){
		"no database":                       func(*testing.T, string) {},
		"a database that others can't read": func(t *testing.T, path string) { closeDB(t, openAt(t, path)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			prepare(t, path)
			readOnly(t, path, 0)
			unprivileged(t, func() {
				db, err := OpenFile(t.Context(), path)
				if err == nil {
					_ = db.Close()
				}
				assert.That(t, err != nil && strings.Contains(err.Error(), path) && strings.Contains(err.Error(), "folder"),
					"error is %v, want one that names %s and its folder", err, path)
			})
		})
	}
}

func TestDatabaseThatCannotBeWrittenIsReadAndSaysSo(t *testing.T) {
	left := func(t *testing.T, path string) {
		db := openAt(t, path)
		begin(t, db, 3, []byte("blob"))
		closeDB(t, db)
	}
	crashed := func(t *testing.T, path string) {
		db := openAt(t, path)
		begin(t, db, 3, []byte("blob"))
		files := map[string]string{"": content(t, path), "-wal": content(t, path+"-wal"),
			"-shm": content(t, path+"-shm")}
		closeDB(t, db)
		for ending, bytes := range files {
			assert.NoError(t, os.WriteFile(path+ending, []byte(bytes), 0o600))
		}
	}
	open := func(t *testing.T, path string) { begin(t, openAt(t, path), 3, []byte("blob")) }
	for name, c := range map[string]struct {
		prepare func(t *testing.T, path string)
		files   os.FileMode
	}{
		"nothing can be written":         {left, 0o444},
		"the folder can't be written":    {left, 0o666},
		"another process has it open":    {open, 0o444},
		"a crash left its WAL beside it": {crashed, 0o444},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			c.prepare(t, path)
			readOnly(t, path, c.files)
			unprivileged(t, func() { readsButDoesNotWrite(t, path) })
		})
	}
}

func readsButDoesNotWrite(t *testing.T, path string) {
	db, err := OpenFile(t.Context(), path)
	if err != nil {
		t.Errorf("Open: %v", err)
		return
	}
	recs, err := db.Records(t.Context(), "ada", "run", 0)
	assert.That(t, err == nil && len(recs) == 3, "%d records, error %v, want 3", len(recs), err)
	blob, err := db.Blob(t.Context(), "ada", journal.BlobHash([]byte("blob")))
	assert.That(t, err == nil && string(blob) == "blob", "blob is %q, error %v", blob, err)
	left, err := db.Retire(t.Context(), "ada", journal.IdleFilter{Now: time.Now()})
	assert.That(t, err == nil && left == nil, "Retire of nothing: %v, %v", left, err)
	for name, err := range map[string]error{
		"Begin":         db.Begin(t.Context(), beginning(journal.Session{ID: "s", Owner: "ada"})),
		"Append":        db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 3}}, nil),
		"DeleteSession": db.DeleteSession(t.Context(), "ada", "session", journal.ByPerson, time.Now()),
	} {
		assert.That(t, errors.Is(err, journal.ErrReadOnly) && strings.Contains(err.Error(), path) &&
			strings.Contains(err.Error(), "folder"), "%s: %v, want ErrReadOnly with %s and its folder", name, err, path)
	}
	err = db.Close()
	assert.That(t, err == nil, "Close: %v", err)
}

func TestWALThatCannotBeReadIsNotPassedOver(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path)
	begin(t, db, 3)
	file, wal := content(t, path), content(t, path+"-wal")
	closeDB(t, db)
	for ending, bytes := range map[string]string{"": file, "-wal": wal} { // and no -shm, as on a copy
		assert.NoError(t, os.WriteFile(path+ending, []byte(bytes), 0o600))
	}
	readOnly(t, path, 0o444)
	unprivileged(t, func() {
		db, err := OpenFile(t.Context(), path)
		if err == nil {
			_ = db.Close()
		}
		assert.That(t, errors.Is(err, journal.ErrReadOnly) && strings.Contains(err.Error(), path+"-wal"),
			"error is %v, want ErrReadOnly with the WAL", err)
	})
}

func TestEmptyDatabaseThatCannotBeWrittenIsSaidToLackItsTables(t *testing.T) {
	path := newPath(t)
	assert.NoError(t, os.WriteFile(path, nil, 0o600))
	readOnly(t, path, 0o444)
	unprivileged(t, func() {
		db, err := OpenFile(t.Context(), path)
		if err == nil {
			_ = db.Close()
		}
		assert.That(t, errors.Is(err, journal.ErrReadOnly) && strings.Contains(err.Error(), path) &&
			strings.Contains(err.Error(), "version"), "error is %v, want ErrReadOnly with the file and its version", err)
	})
}
