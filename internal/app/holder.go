package app

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// holder names this process in leases: where it runs, its number there, and a moment that tells two processes of one number apart.
func holder() string {
	return fmt.Sprintf("%s/%d/%s", place(), os.Getpid(), strconv.FormatInt(time.Now().UnixNano(), 36))
}

// unknown is a place that can't be told apart from others.
const unknown = "unknown"

// place names what process numbers are counted in: a machine since it was booted, and on it a namespace, of which each container has its
// own. Cloned machines and containers may share a host name, but never these. What the system does not tell makes the place unknown.
func place() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return unknown
	}
	boot, bootErr := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, namespaceErr := os.Readlink("/proc/self/ns/pid")
	if bootErr != nil || namespaceErr != nil {
		return unknown
	}
	sum := sha256.Sum256(append(boot, namespace...))
	return strings.ReplaceAll(host, "/", "-") + "-" + hex.EncodeToString(sum[:4])
}

// dead says that the process of a holder ran in this place and is gone. A number that another process has taken since looks alive, and
// so does whatever ran elsewhere; then the lease is waited for.
func dead(holder string) bool {
	parts := strings.Split(holder, "/")
	if len(parts) != 3 || parts[0] != place() || parts[0] == unknown {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	if err != nil || pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
