package document

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sibyl/internal/files"
)

// ReadAll reads a file, or the documents of a folder and of those in it, in the order of their names. What could not be read is in failed,
// also in that order; hidden files and folders are left out, and what is called as files with secrets are is refused, unless it is what name names. The error is that of ctx, or says why path itself can't be
// opened or Command can't be started.
func (r Reader) ReadAll(ctx context.Context, name string) (docs []Document, failed []*Error, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, of(name, unopened(err))
	}
	folder, only := name, ""
	if !info.IsDir() {
		// A person who names a file may name a link: the file behind it is what is meant.
		if folder, err = filepath.EvalSymlinks(name); err != nil {
			return nil, nil, of(name, unopened(err))
		}
		folder, only = filepath.Split(folder)
		folder = filepath.Clean(folder)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil, of(name, unopened(err))
	}
	defer func() { _ = root.Close() }() // opened for reading only
	w := walk{reader: r, root: root}
	if only != "" {
		err = w.file(ctx, only, info.Size())
	} else {
		err = w.folder(ctx, ".", 1)
	}
	return w.docs, w.failed, err
}

// walk is a folder that is read.
type walk struct {
	reader Reader
	root   *os.Root
	files  int
	bytes  int64
	docs   []Document
	failed []*Error
}

func (w *walk) fail(name string, e *Error) {
	e.File = name
	w.failed = append(w.failed, e)
}

// folder reads what is in a folder. The error is as that of file.
func (w *walk) folder(ctx context.Context, name string, depth int) error {
	if depth > MaxDepth {
		w.fail(name, refuse(TooLarge, "folders lie deeper in each other than %d; give this one by itself", MaxDepth))
		return nil
	}
	infos, err := files.List(w.root, name)
	if err != nil {
		w.fail(name, unopened(err))
		return nil
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, info := range infos {
		if err := ctx.Err(); err != nil {
			return err
		}
		if strings.HasPrefix(info.Name(), ".") {
			continue
		}
		within := path.Join(name, info.Name())
		why := files.SecretReason(path.Base(name), info.Name(), info.IsDir())
		switch {
		case why != "":
			w.fail(within, refuse(Closed, "%s; name the file itself if it is meant", why))
		case info.IsDir():
			err = w.folder(ctx, within, depth+1)
		case w.files >= MaxFiles:
			if w.files == MaxFiles {
				w.files++
				w.fail(within, refuse(TooLarge, "there are more than %d files in the folder; this one and those after it are not read", MaxFiles))
			}
		default:
			w.files++
			err = w.file(ctx, within, info.Size())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file reads a file. The error is that of ctx, or says why no file of its kind can be read.
func (w *walk) file(ctx context.Context, name string, size int64) error {
	if w.bytes+size > MaxFolder && size <= MaxFile {
		w.fail(name, refuse(TooLarge, "the documents of the folder are together larger than %d MB; give fewer", MaxFolder>>20))
		return nil
	}
	d, err := w.reader.Read(ctx, w.root, name)
	switch {
	case err == nil:
		w.bytes += size
		w.docs = append(w.docs, d)
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		failed, ok := errors.AsType[*Error](err)
		if !ok {
			return err
		}
		w.failed = append(w.failed, failed)
	}
	return nil
}
