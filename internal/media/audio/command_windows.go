package audio

import (
	"io"
	"os/exec"
	"syscall"
)

// inOwnGroup gives a program a process group of its own, so that keys that are pressed in the terminal are for us.
func inOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// askToEnd asks a recorder to end. Windows has no signals; ffmpeg ends at a “q”.
func askToEnd(_ *exec.Cmd, in io.Writer) error {
	_, err := io.WriteString(in, "q")
	return err
}
