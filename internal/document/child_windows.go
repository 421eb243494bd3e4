package document

import (
	"os/exec"
	"syscall"
)

// alone gives a process a group of its own, so that keys that are pressed in the terminal are for us.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
