package app

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// holder names this process in leases: machine, process, and a moment that tells two processes of one number apart.
func holder() string {
	return fmt.Sprintf("%s/%d/%s", machine(), os.Getpid(), strconv.FormatInt(time.Now().UnixNano(), 36))
}

func machine() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return "unknown"
	}
	return host
}

// dead says that the process of a holder ran on this machine and is gone. A number that another process has taken since looks
// alive; then the lease is waited for.
func dead(holder string) bool {
	parts := strings.Split(holder, "/")
	if len(parts) != 3 || parts[0] != machine() || parts[0] == "unknown" {
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
