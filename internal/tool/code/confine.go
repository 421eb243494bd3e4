package code

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"sibyl/internal/files"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

const secretHint = "it is never read; look for an example or a template beside it"

// cleanPath checks a path from outside and returns its canonical form: slash-separated, relative to the root, "." for
// the root itself.
func cleanPath(p string) (string, error) {
	const hint = "give a path relative to the folder, such as src/main.go"
	slashed := filepath.ToSlash(p)
	drive := len(p) >= 2 && p[1] == ':' && 'a' <= search.Lower(p[0]) && search.Lower(p[0]) <= 'z'
	switch {
	case !isShowable(p):
		return "", tool.Errorf(tool.InvalidArgs, hint, "the path %q holds a control character", p)
	case strings.HasPrefix(p, "/"), strings.HasPrefix(p, `\`), drive:
		return "", tool.Errorf(tool.Denied, hint, "the path %q is absolute", p)
	}
	clean := path.Clean(slashed)
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return "", tool.Errorf(tool.Denied, hint, "the path %q leads out of the folder", p)
	}
	return clean, nil
}

// isShowable reports whether a name can be shown unchanged in a line of text. Other files are neither listed nor
// opened: a line break in a name would forge lines of a result.
func isShowable(name string) bool {
	return utf8.ValidString(name) && strings.IndexFunc(name, func(r rune) bool {
		return r == '\t' || visible(r) != r
	}) < 0
}

// place is a file or folder found below the root, and the ignore rules that hold for what is in its folder.
type place struct {
	parent    *os.Root
	isOwned   bool // close closes parent
	path      string
	info      fs.FileInfo
	ignores   *ignoreLayer
	inProject bool // a folder that contains it is a project
}

func (p *place) close() {
	if p.isOwned {
		_ = p.parent.Close() // opened for reading only: nothing can be lost
	}
}

// locate walks from the root to a cleaned path, and refuses everything on the way that must not be read. The caller
// closes the place.
func (r *Root) locate(clean string) (*place, error) {
	at := &place{parent: r.root, path: "."}
	if clean == "." {
		info, err := r.root.Lstat(".")
		if err != nil {
			return nil, ioError(clean, err)
		}
		at.info = info
		return at, nil
	}
	at.ignores = loadIgnores(r.root, "", nil)
	parts := strings.Split(clean, "/")
	for i, name := range parts {
		at.path = strings.Join(parts[:i+1], "/")
		err := at.checkComponent(name, clean)
		if err == nil && at.info.IsDir() && isHidden(name) && !r.inProject(parts[:i+1]) {
			err = tool.Errorf(tool.Denied, "outside a project hidden folders are not read", "%s is hidden", at.path)
		}
		if err != nil {
			at.close()
			return nil, err
		}
		if i == len(parts)-1 {
			break
		}
		child, err := openFolder(at.parent, at.info)
		at.close()
		if err != nil {
			return nil, ioError(at.path, err)
		}
		at.parent, at.isOwned = child, true
		at.ignores = loadIgnores(child, at.path, at.ignores)
	}
	return at, nil
}

// checkComponent checks one component of a path: it must exist, must not be a link, and must be allowed to be read.
func (p *place) checkComponent(name, whole string) error {
	info, err := p.parent.Lstat(name)
	if err != nil {
		return ioError(p.path, err)
	}
	p.info = info
	if why := files.SecretReason(parentOf(p.parent, p.path), name, info.IsDir()); why != "" {
		return tool.Errorf(tool.Denied, secretHint, "%s is closed: %s", p.path, why)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return linkError(p.parent, p.path, name)
	}
	if p.ignores.isIgnored(p.path, info.IsDir()) {
		return tool.Errorf(tool.Denied, "ignored files are not read", "%s is excluded by a .gitignore", p.path)
	}
	if p.path != whole && !info.IsDir() {
		return tool.Errorf(tool.NotFound, "see repo_map for what there is", "%s is not a folder", p.path)
	}
	return nil
}

// linkError returns the error for a symbolic link, and names its target if that can be read itself.
func linkError(dir *os.Root, at, name string) error {
	hint := "links are not followed"
	if target, err := dir.Readlink(name); err == nil && !filepath.IsAbs(target) {
		if inside := path.Join(path.Dir(at), filepath.ToSlash(target)); filepath.IsLocal(filepath.FromSlash(inside)) {
			hint += "; try " + printable(inside, maxLine)
		}
	}
	return tool.Errorf(tool.Denied, hint, "%s is a symbolic link", at)
}

// errChanged says that a name was another file when it was opened than when it was checked.
var errChanged = errors.New("it changed while it was being opened")

// openFolder opens a folder in dir that was checked before. The trailing "/." makes the system refuse anything but a
// folder: without it, opening a named pipe would wait for a writer.
func openFolder(dir *os.Root, seen fs.FileInfo) (*os.Root, error) {
	child, err := dir.OpenRoot(seen.Name() + "/.")
	if err != nil {
		return nil, err
	}
	if opened, err := child.Stat("."); err != nil || !os.SameFile(seen, opened) {
		_ = child.Close()
		return nil, errChanged
	}
	return child, nil
}

var errNotRegular = errors.New("it is not a regular file")

// openRegular opens a file in dir that was a regular one when it was checked. It compares identities, so that a name
// that was replaced by a link in between is refused; with O_NONBLOCK, a pipe or device there can't block the call.
func openRegular(dir *os.Root, name string, seen fs.FileInfo) (*os.File, fs.FileInfo, error) {
	if !seen.Mode().IsRegular() {
		return nil, nil, errNotRegular
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	// Identity alone is not enough: what replaces a removed file may get its number.
	if err == nil && (!info.Mode().IsRegular() || !os.SameFile(seen, info)) {
		err = errChanged
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ioError makes a tool's error for a file that could not be checked or read.
func ioError(at string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tool.Errorf(tool.NotFound, "see repo_map or code_search for what there is", "%s does not exist", at)
	case errors.Is(err, errNotRegular):
		return tool.Errorf(tool.Denied, "pipes, devices and sockets are not read", "%s is not a regular file", at)
	case errors.Is(err, errLarge):
		return tool.Errorf(tool.TooLarge, "files of up to 64 MB are searched and read",
			"%s is too large", at)
	case errors.Is(err, errBinary):
		return tool.Errorf(tool.Failed, "only text can be read", "%s is binary", at)
	case errors.Is(err, errEncoding):
		return tool.Errorf(tool.Failed, "save it as UTF-8", "%s is in an encoding that is not known", at)
	case errors.Is(err, errChanged):
		return tool.Errorf(tool.Conflict, "try again", "%s: %w", at, err)
	case errors.Is(err, fs.ErrPermission):
		return tool.Errorf(tool.Failed, "its permissions forbid reading it", "%s cannot be read", at)
	}
	return tool.Errorf(tool.Failed, "", "%s cannot be read: %w", at, files.Cause(err))
}

// parentOf returns the name of the folder that contains a path; dir is that folder, opened.
func parentOf(dir *os.Root, at string) string {
	if parent := path.Base(path.Dir(at)); parent != "." {
		return parent
	}
	return filepath.Base(dir.Name())
}
