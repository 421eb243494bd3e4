// Package files writes files whole or not at all and, where it matters, once.
//
// Guarantees:
//   - Atomic. A file holds its old content or its new one, never a part. Content is synced before it takes its place,
//     and the folder after; files left by a crash have names that start with a dot, or are in the state folder of a
//     Changer.
//   - Confined. Everything below an os.Root stays there. NoLinks refuses symbolic links on the way as well.
//   - Once. A Changer performs a change with one key at most once, across a crash at any point, and tells afterwards
//     whether it did.
//   - Exclusive. Lock holds between processes, and ends with the process.
package files

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Reason says why a file was refused.
type Reason int

// The reasons. What the file system itself refuses keeps its own error.
const (
	Linked    Reason = iota + 1 // a symbolic link is on the way
	NoFile                      // it is a folder, a pipe or a device
	NoFolder                    // what should be a folder is something else
	ReadOnly                    // nobody may write it
	TooLarge                    // over the bound, before the change or after
	Changed                     // another program changed or made it at this moment
	KeyReused                   // the key belongs to another change
	Unclear                     // whether the change took effect cannot be told
	Busy                        // another program holds the lock
	NoRoot                      // the root's own folder is gone
	NotSynced                   // it is written, but may be lost if the machine fails
	NoMemory                    // this process may not use as much memory as it takes
)

// Error is a refusal.
type Error struct {
	Reason Reason
	text   string
	err    error
}

func (e *Error) Error() string { return e.text }

func (e *Error) Unwrap() error { return e.err }

func refuse(reason Reason, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Reason: reason, text: err.Error(), err: errors.Unwrap(err)}
}

// Hash names a content: "sha256:" and hex digits.
func Hash(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// File is a file as it was read; the zero File is a missing one.
type File struct {
	Content []byte
	Info    fs.FileInfo
	Cut     bool // it is longer than was read: Content is its beginning
}

// Exists says whether there is a file.
func (f File) Exists() bool { return f.Info != nil }

// Read reads at most limit bytes of a regular file.
func Read(root *os.Root, name string, limit int) (File, error) {
	var content bytes.Buffer
	return ReadInto(root, name, limit, &content)
}

// ReadInto is Read for many files: what is read lies in the buffer, and is valid until the next call with it.
func ReadInto(root *os.Root, name string, limit int, content *bytes.Buffer) (File, error) {
	f, err := root.Open(name)
	if err != nil {
		return File{}, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	info, err := f.Stat()
	if err != nil {
		return File{}, withName(name, err)
	}
	if !info.Mode().IsRegular() {
		return File{}, refuse(NoFile, "%s is not a file", name)
	}
	if err := CheckMemory(name, min(info.Size(), int64(limit)), 0); err != nil {
		return File{}, err
	}
	content.Reset()
	content.Grow(int(min(info.Size(), int64(limit))) + bytes.MinRead)
	if _, err := content.ReadFrom(io.LimitReader(f, int64(limit)+1)); err != nil {
		return File{}, withName(name, err)
	}
	return File{Content: content.Bytes()[:min(content.Len(), limit)], Info: info, Cut: content.Len() > limit}, nil
}

// NoLinks fails if a part of name is a symbolic link, or is missing. The last part must be a regular file: a pipe would
// keep its reader waiting.
func NoLinks(root *os.Root, name string) error {
	parts := strings.Split(name, "/")
	for i := range parts {
		part := strings.Join(parts[:i+1], "/")
		info, err := root.Lstat(part)
		switch {
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return refuse(Linked, "%s is a symbolic link, and links are not followed", part)
		case i == len(parts)-1 && !info.Mode().IsRegular():
			return refuse(NoFile, "%s is not a file", part)
		}
	}
	return nil
}

// List gives what a folder holds, in the order of the file system.
func List(root *os.Root, folder string) ([]fs.FileInfo, error) {
	f, err := root.Open(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	infos, err := f.Readdir(-1)
	return infos, withName(folder, err)
}

// withName puts the name below the root into an error of an open file: the path of the root must not be shown.
func withName(name string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: failed.Op, Path: name, Err: failed.Err}
	}
	return err
}

// Cause is an error without the path that it names, so that no path of this machine is shown to others.
func Cause(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return &cause{failed.Err}
	}
	return err
}

// cause is an error of the system, without the full stop that some systems end it with.
type cause struct{ error }

func (c *cause) Error() string { return strings.TrimRight(c.error.Error(), ".") }

// Unwrap returns the error as it is.
func (c *cause) Unwrap() error { return c.error }

// Write gives a file this content. Mode 0 keeps that of the file in its place, and is 0666 less the umask for a new
// one. The folder must exist. On an error the file is as it was.
func Write(root *os.Root, name string, content []byte, mode fs.FileMode) error {
	temp := path.Join(path.Dir(name), "."+path.Base(name)+"."+rand.Text()+".tmp")
	if mode == 0 {
		if info, err := root.Lstat(name); err == nil {
			mode = info.Mode().Perm()
		}
	}
	if err := writeNew(root, temp, content, mode); err != nil {
		return err
	}
	if err := root.Rename(temp, name); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return syncFolder(root, path.Dir(name))
}

// Replace is Write for a path of the machine. Missing folders are made, for this user alone; a link is followed, so
// that it stays one.
func Replace(name string, content []byte, mode fs.FileMode) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	folder, base := filepath.Split(name)
	if err := os.MkdirAll(filepath.Clean(folder), 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Clean(folder))
	if err != nil {
		return err
	}
	return errors.Join(Write(root, base, content, mode), root.Close())
}

// writeNew writes a new file and syncs it; mode 0 is 0666 less the umask. On an error nothing stays.
func writeNew(root *os.Root, name string, content []byte, mode fs.FileMode) (err error) {
	open := mode
	if open == 0 {
		open = 0o666
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, open)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Remove(name))
		}
	}()
	if mode != 0 {
		_ = f.Chmod(mode) // gives back what the umask took; some file systems have no modes
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return withName(name, errors.Join(err, f.Close()))
}

// MakeFolder makes a folder and its missing parents; an error if one of them is a link.
func MakeFolder(root *os.Root, folder string, mode fs.FileMode) error {
	if folder == "." {
		return nil
	}
	info, err := root.Lstat(folder)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return refuse(NoFolder, "%s is not a folder", folder)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := MakeFolder(root, path.Dir(folder), mode); err != nil {
		return err
	}
	if err := root.Mkdir(folder, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(root, path.Dir(folder))
}

// syncFolder makes the names in a folder durable.
func syncFolder(root *os.Root, folder string) error {
	f, err := root.Open(folder)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing was written through it
	return withName(folder, syncNames(f))
}
