package audio

import (
	"io"
	"os/exec"
	"syscall"
)

// alone gives a program a process group of its own, so that keys that are pressed in the terminal are for us.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// finish asks a recorder to end. There are no signals here; ffmpeg ends at a “q”.
func finish(_ *exec.Cmd, in io.Writer) error {
	_, err := io.WriteString(in, "q")
	return err
}
