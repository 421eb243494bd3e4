package code

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"sibyl/internal/files"
	"sibyl/internal/redact"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

const (
	maxScanned = 2 << 20 // bytes of a file that is searched
	maxDepth   = 100     // folders below each other that are entered
	sniffed    = 8000    // bytes in which a NUL marks a file as binary, as in git
)

// limits are what a walk looks at in a folder at most. What is beyond is left out, and said.
type limits struct {
	files int
	bytes int64
	time  time.Duration
}

var usualLimits = limits{files: 200_000, bytes: 1 << 30, time: 12 * time.Second}

// Skipped counts what a call passed over, by reason. Ignored files are not counted: nobody misses them.
type Skipped struct {
	Binary     int `json:"binary,omitempty"`
	Large      int `json:"large,omitempty"` // over 2 MB
	Secret     int `json:"secret,omitempty"`
	Links      int `json:"links,omitempty"`      // symbolic links, pipes, devices
	Unreadable int `json:"unreadable,omitempty"` // or gone, too deep, or of a name that can't be shown
	Beyond     int `json:"beyond,omitempty"`     // where the folder was too large: the files that were looked at
}

// tell says in a result what was passed over.
func (s Skipped) tell(res *tool.Result) {
	var parts []string
	for _, p := range []struct {
		n    int
		noun string
	}{
		{s.Binary, "binary file"}, {s.Large, "file over 2 MB"}, {s.Secret, "file that may hold secrets"},
		{s.Links, "link or special file"}, {s.Unreadable, "unreadable entry"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d × %s", p.n, p.noun))
		}
	}
	if len(parts) > 0 {
		res.Text += "Skipped: " + strings.Join(parts, ", ") + ".\n"
	}
	if s.Beyond > 0 {
		res.Beside = fmt.Sprintf("This folder is too large to be searched whole: %s looked at. Name the folder that you mean, as with --in.",
			tool.Count(s.Beyond, "file"))
		res.Text += res.Beside + "\n"
	}
}

// found is one file of a walk. It is valid during the visit.
type found struct {
	path    string
	info    fs.FileInfo
	root    *os.Root
	buf     *[]byte // of whoever visits
	skipped *Skipped
}

// read gives the file's content, valid until the end of the visit, with search.Padding behind it; false if the file is binary, too large or can't be read,
// which is counted.
func (f *found) read() ([]byte, bool) {
	content, err := readText(f.root, f.path, f.info, maxScanned, *f.buf)
	switch {
	case errors.Is(err, errLarge):
		f.skipped.Large++
	case errors.Is(err, errBinary):
		f.skipped.Binary++
	case err != nil:
		f.skipped.Unreadable++
	default:
		*f.buf = content
	}
	return content, err == nil
}

var (
	errLarge  = errors.New("it is too large")
	errBinary = errors.New("it is binary")
)

// readText reads a file that was seen, of at most so many bytes, into a buffer if that is large enough. There is room for a search behind it.
func readText(dir *os.Root, name string, seen fs.FileInfo, most int64, buf []byte) ([]byte, error) {
	f, info, err := openRegular(dir, name, seen)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	if info.Size() > most {
		return nil, errLarge
	}
	size := int(info.Size())
	if cap(buf) < size+search.Padding {
		buf = make([]byte, max(2*size, 64<<10)+search.Padding)
	}
	n, err := io.ReadFull(f, buf[:size])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) { // it may have shrunk meanwhile
		return nil, err
	}
	content := buf[:n]
	if bytes.IndexByte(content[:min(n, sniffed)], 0) >= 0 {
		return nil, errBinary
	}
	clear(buf[n : n+search.Padding])
	return content, nil
}

// content reads the file at a cleaned path, of at most so many bytes, as it stands there.
func (r *Root) content(clean string, most int64) ([]byte, error) {
	at, err := r.locate(clean)
	if err != nil {
		return nil, err
	}
	defer at.close()
	if at.info.IsDir() {
		return nil, tool.Errorf(tool.InvalidArgs, "name a file in it; repo_map shows what there is", "%s is a folder", clean)
	}
	text, err := readText(at.parent, at.info.Name(), at.info, most, nil)
	if err != nil {
		return nil, ioError(clean, err)
	}
	return text, nil
}

// source reads the file at a cleaned path as it may be shown, with the hash of all of it.
func (r *Root) source(clean string) (s *source, hash string, err error) {
	text, err := r.content(clean, maxScanned)
	if err != nil {
		return nil, "", err
	}
	return newSource(clean, withoutSecrets(text)), files.Hash(text), nil
}

// withoutSecrets is content as it may be shown, with its lines where they were and room for a search behind it.
func withoutSecrets(content []byte) []byte {
	clean := redact.Lines(content)
	if len(clean) == 0 || &clean[0] == &content[0] {
		return content
	}
	return append(clean, make([]byte, search.Padding)...)[:len(clean)]
}

// workers bounds the goroutines of a call that read at the same time.
func workers() int { return runtime.GOMAXPROCS(0) }

// walker lists the files below a folder, for others to visit.
type walker struct {
	ctx     context.Context
	root    *Root
	files   chan found
	skipped Skipped
	looked  limits
	until   time.Time
}

// walk visits every file that may be read at or below start, a cleaned path, in no particular order. At most so many visits as there are workers run at
// the same time.
func (r *Root) walk(ctx context.Context, start string, visit func(*found)) (Skipped, error) {
	at, err := r.locate(start)
	if err != nil {
		return Skipped{}, err
	}
	defer at.close()
	w := &walker{ctx: ctx, root: r, files: make(chan found), until: time.Now().Add(r.limits.time)}
	crew := make([]Skipped, workers())
	var visits sync.WaitGroup
	for i := range crew {
		visits.Go(func() {
			var buf []byte
			for f := range w.files {
				f.root, f.buf, f.skipped = r.root, &buf, &crew[i]
				if ctx.Err() == nil {
					visit(&f)
				}
			}
		})
	}
	if at.info.IsDir() {
		err = w.folder(at, 0)
	} else {
		w.offer(start, at.info)
	}
	close(w.files)
	visits.Wait()
	for _, s := range crew {
		w.skipped.Binary += s.Binary
		w.skipped.Large += s.Large
		w.skipped.Unreadable += s.Unreadable
	}
	return w.skipped, cmp.Or(ctx.Err(), err)
}

// offer has a file visited, if the folder is not too large for it.
func (w *walker) offer(at string, info fs.FileInfo) {
	if w.skipped.Beyond > 0 {
		return
	}
	if w.looked.files++; w.looked.files > w.root.limits.files || w.looked.bytes > w.root.limits.bytes || time.Now().After(w.until) {
		w.skipped.Beyond = w.looked.files - 1
		return
	}
	w.looked.bytes += info.Size()
	select {
	case w.files <- found{path: at, info: info}:
	case <-w.ctx.Done():
	}
}

// folder offers what is in a folder. The error says why it can't be read.
func (w *walker) folder(at *place, depth int) error {
	if w.ctx.Err() != nil || w.skipped.Beyond > 0 {
		return nil // walk says so
	}
	root, err := openFolder(at.parent, at.info)
	if err != nil {
		w.skipped.Unreadable++
		return ioError(at.path, err)
	}
	defer func() { _ = root.Close() }() // opened for reading only
	entries, err := list(root)
	if err != nil {
		w.skipped.Unreadable++
		return ioError(at.path, err)
	}
	ignores := at.ignores
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ignoreFile }) {
		ignores = loadIgnores(root, strings.TrimPrefix(at.path, "."), ignores)
	}
	for _, e := range entries {
		child := path.Join(at.path, e.Name())
		if !w.mayEnter(e, parentOf(root, child), child, ignores) {
			continue
		}
		info, err := e.Info() // taken when the folder was listed
		switch {
		case err != nil || e.IsDir() && depth == maxDepth:
			w.skipped.Unreadable++
		case e.IsDir():
			_ = w.folder(&place{parent: root, path: child, info: info, ignores: ignores}, depth+1) // what can't be read is counted
		default:
			w.offer(child, info)
		}
	}
	return nil
}

// systemFolders are those in which a system tells of itself: no file in them is anybody's.
var systemFolders = []string{"/proc", "/sys", "/dev"}

// mayEnter says whether a file or folder is to be read, and counts it otherwise.
func (w *walker) mayEnter(e fs.DirEntry, parent, at string, ignores *ignoreLayer) bool {
	switch {
	case !showable(e.Name()):
		w.skipped.Unreadable++
	case files.SecretReason(parent, e.Name(), e.IsDir()) != "":
		if !e.IsDir() {
			w.skipped.Secret++
		}
	case ignores.ignored(at, e.IsDir()):
	case !e.IsDir() && !e.Type().IsRegular(), slices.Contains(systemFolders, filepath.Join(w.root.root.Name(), at)):
		w.skipped.Links++
	default:
		return true
	}
	return false
}

// list gives a folder's entries by name.
func list(root *os.Root) ([]fs.DirEntry, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}
