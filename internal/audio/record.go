package audio

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Record records to file, whose name ends in .wav and which is not there yet, until ctx is cancelled or most has passed: samples of 16 bits at 16 kHz in
// one channel. The file is written as the sound comes, and put on the disk every few seconds; when Record returns nil it is whole. A recorder that ends
// by itself before gives an *Error: BrokeOff if something was recorded, which is kept and whole, or Failed, which leaves no file.
func (r Recorder) Record(ctx context.Context, file string, most time.Duration) error {
	file, err := filepath.Abs(file)
	switch {
	case err != nil:
		return err
	case strings.ToLower(filepath.Ext(file)) != ".wav":
		return of(file, refuse(Unsupported, "a recording has to end in .wav"))
	case most <= 0 || most > longestSound:
		return of(file, refuse(Unsupported, "a recording takes more than nothing and at most %d hours", int(longestSound.Hours())))
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = &fs.PathError{Op: "record", Path: file, Err: fs.ErrExist}
		}
		return err
	}
	// A second more than is wanted: it is stopped in time, but not if this process dies.
	args, err := r.args(ctx, r.program, file, int(most.Seconds())+2)
	if err != nil {
		return of(file, err)
	}
	early, err := r.run(ctx, file, args, most)
	return of(file, r.conclude(context.WithoutCancel(ctx), file, early, err))
}

// run records until it is time to stop. early says that the program ended before, with err.
func (r Recorder) run(ctx context.Context, file string, args []string, most time.Duration) (early bool, err error) {
	life, kill := context.WithCancel(context.WithoutCancel(ctx)) // it is asked to end before it is killed
	defer kill()
	cmd, complaint := command(life, r.program, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return true, err
	}
	if err := cmd.Start(); err != nil {
		return true, refuse(Failed, "%s can't be started: %w", r.Name, err)
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
				return true, refuse(Failed, "%s ended by itself%s", r.Name, why(complaint))
			}
			return true, refuse(Failed, "%s: %w%s", r.Name, err, why(complaint))
		case <-sync.C:
			_ = synced(file) // it may not be there yet; at the end it counts
		case <-stop.C:
			end(finish(cmd, in), r.grace, exited, kill)
			return false, nil
		case <-ctx.Done():
			end(finish(cmd, in), r.grace, exited, kill)
			return false, nil
		}
	}
}

// end waits for a program that was asked to end, and kills it if that could not be, or if it does not.
func end(asked error, grace time.Duration, exited <-chan error, kill func()) {
	if asked == nil {
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

// conclude makes the file whole, and says what is wrong with it.
func (r Recorder) conclude(ctx context.Context, file string, early bool, failed error) error {
	seconds, err := mend(ctx, file)
	switch {
	case err == nil && seconds > 0 && !early:
		return nil
	case err == nil && seconds > 0:
		return refuse(BrokeOff, "the recording broke off after %.1f seconds, which are kept: %w", seconds, failed)
	case failed == nil && (err == nil || errors.Is(err, fs.ErrNotExist) || reasonOf(err) == CutOff):
		failed = refuse(Empty, "%s recorded nothing", r.Name)
	case failed == nil:
		failed = err
	}
	if gone := os.Remove(file); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		failed = errors.Join(failed, gone)
	}
	return failed
}
