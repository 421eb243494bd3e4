package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
	"time"
)

// attributes makes a process die with the thread that starts it, and run as a user that is not root.
func attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if u, ok := unprivileged(); ok {
		a.Credential = &u
	}
	return a
}

// unprivileged returns the user that PostgreSQL runs as; false if this process is not root's.
func unprivileged() (syscall.Credential, bool) {
	if os.Geteuid() != 0 {
		return syscall.Credential{}, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
			gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
			if uidErr == nil && gidErr == nil {
				return syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, true
			}
		}
	}
	return syscall.Credential{Uid: 65534, Gid: 65534}, true
}

// own changes the owner of a folder to the user that PostgreSQL runs as.
func own(folder string) error {
	if u, ok := unprivileged(); ok {
		return os.Chown(folder, int(u.Uid), int(u.Gid))
	}
	return nil
}

// lock opens and locks a file; closing it unlocks it. It waits for the lock until ctx ends, then fails.
func lock(ctx context.Context, path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|flags, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if ctx.Err() != nil {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}
