package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"sibyl/internal/tool"
)

// hashOf names a content as tool.Ref does.
func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// file is a note's content as it was read. cut says that it is longer than maxNote and this is its beginning.
type file struct {
	raw  []byte
	info fs.FileInfo
	cut  bool
}

// readFile reads the note at p, if nothing on the way to it is a symbolic link.
func (v *Vault) readFile(p string) (file, error) {
	if err := v.refuseLinks(p); err != nil {
		return file{}, err
	}
	return v.readPlain(p)
}

// readPlain is readFile for a path that the walk of the vault came by, and that so has no link in it.
func (v *Vault) readPlain(p string) (file, error) {
	f, err := v.root.Open(p)
	if err != nil {
		return file{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return file{}, at(p, err)
	}
	if !info.Mode().IsRegular() {
		return file{}, tool.Errorf(tool.Denied, "", "%s is not a file", p)
	}
	raw := make([]byte, 0, min(info.Size(), maxNote)+1)
	for len(raw) <= maxNote {
		if len(raw) == cap(raw) {
			raw = append(raw, 0)[:len(raw)]
		}
		n, err := f.Read(raw[len(raw):min(cap(raw), maxNote+1)])
		raw = raw[:len(raw)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return file{}, at(p, err)
		}
	}
	if len(raw) > maxNote {
		return file{raw: raw[:maxNote], info: info, cut: true}, nil
	}
	return file{raw: raw, info: info}, nil
}

// refuseLinks fails if a part of p is a symbolic link, or is missing. The last part must be a regular file: a pipe would
// keep its reader waiting.
func (v *Vault) refuseLinks(p string) error {
	names := strings.Split(p, "/")
	for i := range names {
		part := strings.Join(names[:i+1], "/")
		info, err := v.root.Lstat(part)
		switch {
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return tool.Errorf(tool.Denied, "put the note itself into the vault", "%s is a symbolic link, and links are not followed", part)
		case i == len(names)-1 && !info.Mode().IsRegular():
			return tool.Errorf(tool.Denied, "", "%s is not a file", part)
		}
	}
	return nil
}

// readDir lists a folder of the vault in the order of the file system.
func (v *Vault) readDir(folder string) ([]fs.FileInfo, error) {
	f, err := v.root.Open(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	infos, err := f.Readdir(-1)
	return infos, at(folder, err)
}

// at makes an error of an open file name it as the vault does: where the vault lies is nobody else's business.
func at(p string, err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return &fs.PathError{Op: failed.Op, Path: p, Err: failed.Err}
	}
	return err
}

// gone tells that the vault's own folder is missing from a file in it that is.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return tool.Errorf(tool.Unavailable, missingHint, "the vault's folder is gone: %w", err)
	}
	return err
}

// stage writes content to a file that no tool sees, and syncs it. On an error nothing stays.
func (v *Vault) stage(name string, content []byte, mode fs.FileMode) (err error) {
	f, err := v.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, v.root.Remove(name))
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return at(name, errors.Join(err, f.Close()))
}

// makeFolder makes folder and what it lies in, as far as they are missing.
func (v *Vault) makeFolder(folder string, mode fs.FileMode) error {
	if folder == "." {
		return nil
	}
	info, err := v.root.Lstat(folder)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return tool.Errorf(tool.Denied, "", "%s is not a folder", folder)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := v.makeFolder(path.Dir(folder), mode); err != nil {
		return err
	}
	if err := v.root.Mkdir(folder, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return v.syncFolder(path.Dir(folder))
}

// syncFolder makes the names in folder durable.
func (v *Vault) syncFolder(folder string) error {
	f, err := v.root.Open(folder)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return at(folder, syncNames(f))
}
