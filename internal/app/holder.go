package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/files"
)

// presence is how processes on one data folder tell whether one of them is gone: each holds the lock of a file in it,
// which the system frees with the process, however that ends. Names of machines and numbers of processes mean nothing
// elsewhere, and are taken anew.
type presence struct {
	folder *os.Root // nil: this process can't hold a lock there
	place  string
	holder string // the name of this process in leases
	leave  func()
}

// keptLocks is how long lock files of ended processes are kept: far longer than a lease lasts.
const keptLocks = 24 * time.Hour

// newPresence registers this process in a data folder. If it can't, no process is known to have ended, and leases must
// expire.
func newPresence(data string) *presence {
	p := &presence{place: machineID(), leave: func() {}}
	name := fmt.Sprintf("%d-%s", os.Getpid(), strconv.FormatInt(time.Now().UnixNano(), 36))
	if p.place == unknown || p.lockFile(filepath.Join(data, "processes"), name) != nil {
		p.Close()
		p.folder, p.place = nil, unknown
	}
	p.holder = p.place + "/" + name
	return p
}

func (p *presence) lockFile(path, name string) (err error) {
	if err = os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	if p.folder, err = os.OpenRoot(path); err != nil {
		return err
	}
	sweepLocks(p.folder)
	leave, err := files.Hold(p.folder, name)
	if err == nil {
		p.leave = leave
	}
	return err
}

// sweepLocks removes the lock files in a folder of processes that ended long ago.
func sweepLocks(folder *os.Root) {
	all, _ := fs.ReadDir(folder.FS(), ".") // what can't be listed is swept another time
	for _, one := range all {
		info, err := one.Info()
		if err != nil || time.Since(info.ModTime()) < keptLocks {
			continue
		}
		if held, err := files.IsHeld(folder, one.Name()); err == nil && !held {
			_ = folder.Remove(one.Name()) // another process may have been faster
		}
	}
}

// Close reports that this process has ended.
func (p *presence) Close() {
	if p.leave(); p.folder != nil {
		_ = p.folder.Close() // nothing was written
	}
}

// unknown is a place that can't be distinguished from others.
const unknown = "unknown"

// machineID names the machine, since it was booted: locks are held by its processes alone, in whichever container.
// Cloned machines share a name, but never this, and a data folder may be another machine's. It is unknown if the system
// does not give it.
func machineID() string {
	host, err := os.Hostname()
	boot, bootErr := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || host == "" || bootErr != nil {
		return unknown
	}
	sum := sha256.Sum256(boot)
	return strings.ReplaceAll(host, "/", "-") + "-" + hex.EncodeToString(sum[:8])
}

// isGone reports whether a holder's process used this data folder on this machine and has ended. Others are unknown:
// their leases must expire.
func (p *presence) isGone(holder string) bool {
	where, name, ok := strings.Cut(holder, "/")
	if !ok || p.folder == nil || !sameMachine(where, p.place) || !filepath.IsLocal(name) {
		return false
	}
	held, err := files.IsHeld(p.folder, name)
	return err == nil && !held
}

// sameMachine compares places without host names, since each container has its own.
func sameMachine(a, b string) bool {
	boot := func(place string) string { return place[strings.LastIndexByte(place, '-')+1:] }
	return boot(a) == boot(b) && boot(a) != unknown
}
