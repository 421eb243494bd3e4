//go:build !windows

package audio

import (
	"io"
	"os/exec"
	"syscall"
)

// inOwnGroup gives a program a process group of its own, which cancelling kills: what the program started must not
// outlive it, and keys that are pressed in the terminal are for us.
func inOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// askToEnd asks a recorder to end.
func askToEnd(cmd *exec.Cmd, _ io.Writer) error {
	return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
}
