//go:build !windows

package audio

import (
	"io"
	"os/exec"
	"syscall"
)

// alone gives a program a process group of its own, with which it ends: what it started in its turn must not outlive
// it, and keys that are pressed in the terminal are for us.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// finish asks a recorder to end.
func finish(cmd *exec.Cmd, _ io.Writer) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
