package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// OpenNamed opens a file that a person names by its path: a regular file, or a pipe. It never waits: a pipe that no
// program writes to is empty.
func OpenNamed(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // #nosec G304 -- the person named it
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0 {
		err = refuse(NoFile, "%s is not a file", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadNamed reads what OpenNamed opens, whole. What has more bytes than limit is TooLarge, and an empty pipe is NoFile.
func ReadNamed(name string, limit int64) ([]byte, error) {
	f, err := OpenNamed(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := CheckMemory(name, min(info.Size(), limit), 0); err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(content)) > limit:
		return nil, refuse(TooLarge, "%s has more than %d MB", name, limit>>20)
	case len(content) > 0:
		return content, nil
	}
	if !info.Mode().IsRegular() {
		return nil, refuse(NoFile, "%s is a pipe that nobody writes to", name)
	}
	return content, nil
}
