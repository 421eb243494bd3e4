//go:build !windows

package document

import (
	"os/exec"
	"syscall"
)

// alone gives a process a group of its own, so that keys that are pressed in the terminal are for us.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
