package behaviour_test

import "syscall"

// attributes are those of a process that dies with this one.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
