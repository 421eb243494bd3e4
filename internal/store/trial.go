package store

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"sibyl/internal/files"
)

// ErrNotHeld says that a file system does not keep two processes of this machine apart.
var ErrNotHeld = errors.New("its file system does not keep two processes apart")

// trialVariable makes a process the witness of a trial in a folder.
const trialVariable = "SIBYL_LOCK_TRIAL"

// The files in the folder of a trial.
const (
	trialLock     = "lock"
	trialDatabase = "sibyl.db"
)

// trialTimeout bounds a trial, on a machine that does much else.
const trialTimeout = 20 * time.Second

// Again makes a command that starts this program again, which calls Witness first.
type Again func(ctx context.Context) *exec.Cmd

// WithTrial has locks and shared memory tried by two processes before a file is made, or at each opening if always is
// set. If they do not hold, OpenFile fails with ErrNotHeld.
func WithTrial(again Again, always bool) FileOption {
	return func(f *file) { f.again, f.triesAlways = again, always }
}

// Try tries by two processes whether locks and shared memory hold where the file at path is or would be. The error is
// ErrNotHeld if they do not; any other error says why that could not be tried.
func Try(ctx context.Context, path string, again Again) error {
	f, err := newFile(path, nil)
	if err != nil {
		return err
	}
	if err := f.find(ctx); err != nil {
		return err
	}
	return f.tryPlace(ctx, again)
}

// tryIfDue is tryPlace where WithTrial asks for it. What could not be tried is no reason to refuse.
func (f *file) tryIfDue(ctx context.Context) error {
	if _, err := os.Stat(f.path); f.again == nil || err == nil && !f.triesAlways {
		return nil
	}
	if err := f.tryPlace(ctx, f.again); errors.Is(err, ErrNotHeld) {
		return err
	}
	return nil
}

// tryPlace has another process hold a lock and write to a database, in a folder of its own beside the file. On a shared
// place, whose databases use neither locks nor memory of SQLite, it holds a lock alone.
func (f *file) tryPlace(ctx context.Context, again Again) (err error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	folder, err := os.MkdirTemp(filepath.Dir(f.path), filepath.Base(f.path)+"-trial-")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer func() { // what the witness still has open can't be removed everywhere
		cancel()
		_ = os.RemoveAll(folder) // it is empty but for the files of the trial
	}()
	if !f.place.shared {
		if err := createFile(filepath.Join(folder, trialDatabase)); err != nil {
			return err
		}
	}
	w, err := startWitness(ctx, again, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.end()) }()
	if err = w.await("held"); err == nil {
		err = tryLockOf(folder)
	}
	if err == nil && !f.place.shared {
		err = w.tryMemory(ctx, folder)
	}
	if err != nil {
		return fmt.Errorf("database %s: %w", f.path, err)
	}
	return nil
}

func tryLockOf(folder string) error {
	lock, err := os.OpenFile(filepath.Join(folder, trialLock), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	taken, err := files.TryLock(lock)
	if err == nil && taken {
		err = fmt.Errorf("%w: a lock that one holds is free for the other", ErrNotHeld)
	}
	return errors.Join(err, lock.Close())
}

// tryMemory wants the witness, which has begun to write, to keep this process from writing, and both to see what the
// other has written.
func (w *witness) tryMemory(ctx context.Context, folder string) error {
	db, err := openTrial(folder)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // it is thrown away
	if err := seesInTrial(ctx, db, 0); err != nil {
		return err
	}
	if err := writeTrial(ctx, db); err == nil {
		return fmt.Errorf("%w: both write to a database at once", ErrNotHeld)
	} else if !isBusy(err) {
		return err
	}
	if err := w.tell("written"); err != nil {
		return err
	}
	if err := seesInTrial(ctx, db, 1); err != nil {
		return err
	}
	if err := writeTrial(ctx, db); err != nil {
		return err
	}
	return w.tell("seen")
}

// seesInTrial wants a process to see so many rows, since the other has written them.
func seesInTrial(ctx context.Context, db *sql.DB, rows int64) error {
	var n int64
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM trial").Scan(&n)
	if code, _ := fileCode(err); code == sqlite3.SQLITE_ERROR { // there is no such table
		n, err = -1, nil
	}
	if err == nil && n != rows {
		err = fmt.Errorf("%w: one does not see what the other has written", ErrNotHeld)
	}
	return err
}

// openTrial opens the database of a trial as those of Sibyl are opened.
func openTrial(folder string) (*sql.DB, error) {
	f, err := newFile(filepath.Join(folder, trialDatabase), []FileOption{WithBusyTimeout(0), Unsynced()})
	if err != nil {
		return nil, err
	}
	return f.openPool(f.dsn(), 1)
}

func writeTrial(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "INSERT INTO trial VALUES (1)")
	return err
}

// witness is the other process of a trial.
type witness struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startWitness(ctx context.Context, again Again, folder string) (*witness, error) {
	cmd := again(ctx)
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, trialVariable+"="+folder)
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("another process to try locks with: %w", err)
	}
	return &witness{cmd, in, bufio.NewScanner(out)}, nil
}

// await waits until the witness says a word.
func (w *witness) await(word string) error {
	if !w.out.Scan() {
		return errors.New("the process to try locks with has ended before it was done, or does not answer")
	}
	switch said := w.out.Text(); {
	case strings.Contains(said, ErrNotHeld.Error()):
		return fmt.Errorf("%w%s", ErrNotHeld, strings.TrimPrefix(said, ErrNotHeld.Error()))
	case said != word:
		return fmt.Errorf("the process to try locks with says: %s", said)
	}
	return nil
}

// tell lets the witness go on, and waits until it says a word.
func (w *witness) tell(word string) error {
	if _, err := io.WriteString(w.in, "\n"); err != nil {
		return err
	}
	return w.await(word)
}

// end ends the witness, which ends with its input.
func (w *witness) end() error {
	err := w.in.Close()
	_ = w.cmd.Wait() // what came of the trial is known
	return err
}

// Witness is what the other process of a trial does. It returns false in all other processes.
func Witness(ctx context.Context) bool {
	folder := os.Getenv(trialVariable)
	if folder == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	if err := bearWitness(ctx, folder, bufio.NewReader(os.Stdin)); err != nil && !errors.Is(err, io.EOF) {
		fmt.Println(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return true
}

func bearWitness(ctx context.Context, folder string, in *bufio.Reader) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	unlock, err := files.Lock(ctx, root, trialLock, 0)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := root.Stat(trialDatabase); err != nil {
		fmt.Println("held")
		_, err = in.ReadString('\n')
		return err
	}
	db, err := openTrial(folder)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // it is thrown away
	if _, err := db.ExecContext(ctx, "CREATE TABLE trial (n)"); err != nil {
		return err
	}
	t, err := db.BeginTx(ctx, nil)
	if err == nil {
		_, err = t.ExecContext(ctx, "INSERT INTO trial VALUES (1)")
	}
	if err != nil {
		return err
	}
	fmt.Println("held")
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	if err := t.Commit(); err != nil {
		return err
	}
	fmt.Println("written")
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	if err := seesInTrial(ctx, db, 2); err != nil {
		return err
	}
	fmt.Println("seen")
	_, err = in.ReadString('\n')
	return err
}
