//go:build !linux

package behaviour_test

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
