//go:build !linux

package pgtest

import (
	"context"
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func own(string) error { return nil }

// lock creates a file, and fails if it exists. It locks nothing.
func lock(_ context.Context, path string, _ int) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}
