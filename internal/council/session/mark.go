package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sibyl/internal/files"
)

// MarkFile is the name of the file by which a folder of sessions is told from others: it holds a random id.
const MarkFile = ".sibyl-folder"

const (
	longestMark = 64              // bytes
	markWait    = 5 * time.Second // for another process that makes it
)

// ReadMark returns the id of a folder; "" if it has none. fs.ErrNotExist if there is no such folder.
func ReadMark(folder string) (id string, err error) {
	err = withRoot(folder, func(root *os.Root) error {
		id, err = readMark(root)
		return err
	})
	return id, err
}

// MakeMark makes a folder and its id, as far as they are missing, and returns the id. Of several processes on one
// folder, one makes it.
func MakeMark(ctx context.Context, folder string) (id string, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	err = withRoot(folder, func(root *os.Root) error {
		unlock, err := files.Lock(ctx, root, MarkFile+".lock", markWait)
		if err != nil {
			return err
		}
		defer unlock()
		if id, err = readMark(root); err != nil || id != "" {
			return err
		}
		id = rand.Text()
		return files.Write(root, MarkFile, []byte(id+"\n"), 0o600)
	})
	return id, err
}

func withRoot(folder string, do func(root *os.Root) error) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	return errors.Join(do(root), root.Close())
}

func readMark(root *os.Root) (string, error) {
	f, err := files.Read(root, MarkFile, longestMark)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err == nil && f.Cut:
		err = fmt.Errorf("%s holds no id: it is longer than %d bytes", filepath.Join(root.Name(), MarkFile), longestMark)
	}
	return strings.TrimSpace(string(f.Content)), err
}
