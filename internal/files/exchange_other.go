//go:build !linux

package files

import (
	"errors"
	"os"
)

// exchange can't be had here.
func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }
