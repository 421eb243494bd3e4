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

// Record records to file, whose name ends in .wav and which is not there yet, until ctx is cancelled or most has
// passed. The file is written as the sound comes, and put on the disk every few seconds; when Record returns nil it is
// whole. A recorder that ends by itself before gives an error: what was recorded by then is kept and whole, and if
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
	// A second more than is wanted: it is stopped in time, but not if this process dies.
	args, err := r.arguments(ctx, file, int(limit.Seconds())+2)
	if err != nil {
		return err
	}
	return r.finishFile(file, r.recordUntilStopped(ctx, file, args, limit))
}

// recordUntilStopped records until it is time to stop. An error says that the program ended before.
func (r Recorder) recordUntilStopped(ctx context.Context, file string, args []string, most time.Duration) error {
	programCtx, kill := context.WithCancel(context.WithoutCancel(ctx)) // it is asked to end before it is killed
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
	stop, sync := time.NewTimer(most), time.NewTicker(syncEvery)
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
			_ = syncFile(file) // it may not be there yet; at the end it counts
			continue
		case <-stop.C:
		case <-ctx.Done():
		}
		awaitExit(askToEnd(cmd, in), r.grace, exited, kill)
		return nil
	}
}

// awaitExit waits for a program that was asked to end, and kills it if that could not be, or if it does not.
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

// finishFile makes the file whole, and says what is wrong with it. early is why the recorder ended by itself; nil: it
// was stopped.
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

// syncFile waits until a file is on the disk.
func syncFile(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
