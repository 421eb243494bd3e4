package audio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Record records to file, whose name ends in .wav and which must not exist yet, until ctx is cancelled or limit has
// passed. The file is written while the sound comes, and synced every few seconds; when Record returns nil, it is a
// valid WAV file. If the recorder ends by itself, that is an error: what was recorded is kept as a valid file, and if
// nothing was, no file is left.
func (r Recorder) Record(ctx context.Context, file string, limit time.Duration) error {
	file, err := filepath.Abs(file)
	switch {
	case err != nil:
		return err
	case strings.ToLower(filepath.Ext(file)) != ".wav":
		return errors.New("a recording has to end in .wav")
	case limit <= 0 || limit > maxSound:
		return fmt.Errorf("a recording takes more than nothing and at most %d hours", int(maxSound.Hours()))
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = &fs.PathError{Op: "record", Path: file, Err: fs.ErrExist}
		}
		return err
	}
	// More time than wanted: this process stops the recorder, and the argument stops it if this process dies.
	args, err := r.arguments(ctx, file, int(limit.Seconds())+2)
	if err != nil {
		return err
	}
	return r.finishFile(file, r.recordUntilStopped(ctx, file, args, limit))
}

// recordUntilStopped records until ctx is cancelled or limit has passed. An error: the program ended by itself.
func (r Recorder) recordUntilStopped(ctx context.Context, file string, args []string, limit time.Duration) error {
	programCtx, kill := context.WithCancel(context.WithoutCancel(ctx)) // cancelling ctx does not kill it
	defer kill()
	cmd, complaint := newCommand(programCtx, r.program, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s can't be started: %w", r.Name, err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	stop, sync := time.NewTimer(limit), time.NewTicker(syncEvery)
	defer stop.Stop()
	defer sync.Stop()
	for {
		select {
		case err := <-exited:
			if err == nil {
				return fmt.Errorf("%s ended by itself%s", r.Name, complaintSuffix(complaint.String()))
			}
			return fmt.Errorf("%s: %w%s", r.Name, err, complaintSuffix(complaint.String()))
		case <-sync.C:
			_ = syncFile(file) // it may not exist yet; a failure at the end is reported
			continue
		case <-stop.C:
		case <-ctx.Done():
		}
		awaitExit(askToEnd(cmd, in), r.grace, exited, kill)
		return nil
	}
}

// awaitExit waits for a program that was asked to end. It kills the program if asking failed, or after the grace time.
func awaitExit(askErr error, grace time.Duration, exited <-chan error, kill func()) {
	if askErr == nil {
		late := time.NewTimer(grace)
		defer late.Stop()
		select {
		case <-exited:
			return
		case <-late.C:
		}
	}
	kill()
	<-exited
}

// finishFile repairs the file, and returns what is wrong with the recording. early says why the recorder ended by
// itself; nil: it was stopped.
func (r Recorder) finishFile(file string, early error) error {
	seconds, err := repairWAV(file)
	switch {
	case err == nil && seconds > 0 && early == nil:
		return nil
	case err == nil && seconds > 0:
		return fmt.Errorf("the recording broke off after %.1f seconds, which are kept: %w", seconds, early)
	case early == nil:
		early = fmt.Errorf("%s recorded nothing", r.Name)
	}
	if removeErr := os.Remove(file); removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
		early = errors.Join(early, removeErr)
	}
	return early
}

// syncFile syncs a file to the disk.
func syncFile(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
