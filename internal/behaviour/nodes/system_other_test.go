//go:build !linux

package nodes_test

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
