package files

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// exchange lets two files take each other's place in one step. It is ErrUnsupported where the file system can't.
func exchange(root *os.Root, one, other string) error {
	first, err := root.Open(path.Dir(one))
	if err != nil {
		return err
	}
	defer func() { _ = first.Close() }() // nothing was written through it
	second, err := root.Open(path.Dir(other))
	if err != nil {
		return err
	}
	defer func() { _ = second.Close() }() // likewise
	err = unix.Renameat2(int(first.Fd()), path.Base(one), int(second.Fd()), path.Base(other), unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	if err != nil {
		return &os.PathError{Op: "exchange", Path: other, Err: err}
	}
	return nil
}
