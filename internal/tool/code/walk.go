package code

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"sibyl/internal/search"
)

const (
	maxScanned = 2 << 20 // bytes of a file that is searched
	maxDepth   = 100     // folders below each other that are entered
	batch      = 64      // files handed to one goroutine at a time
	sniffed    = 8000    // bytes in which a NUL marks a file as binary, as in git
)

// Skipped counts what a call passed over, by reason. Ignored files are not counted: nobody misses them.
type Skipped struct {
	Binary     int `json:"binary,omitempty"`
	Large      int `json:"large,omitempty"` // over 2 MB
	Secret     int `json:"secret,omitempty"`
	Links      int `json:"links,omitempty"`      // symbolic links, pipes, devices
	Unreadable int `json:"unreadable,omitempty"` // or gone, too deep, or of a name that can't be shown
}

func (s *Skipped) add(o Skipped) {
	s.Binary += o.Binary
	s.Large += o.Large
	s.Secret += o.Secret
	s.Links += o.Links
	s.Unreadable += o.Unreadable
}

// folder is an open directory, closed with its last user.
type folder struct {
	root  *os.Root
	users atomic.Int32
}

func newFolder(root *os.Root) *folder {
	f := &folder{root: root}
	f.users.Store(1)
	return f
}

func (f *folder) release() {
	if f.users.Add(-1) == 0 {
		_ = f.root.Close() // opened for reading only
	}
}

// job is a folder still to be listed, which lies in parent, or, with files, files in parent still to be visited.
type job struct {
	parent  *folder
	info    fs.FileInfo
	path    string // of the folder that is listed or that holds the files
	depth   int
	files   []fs.FileInfo
	ignores *ignoreLayer
}

// found is one file of a walk. It is valid during the visit.
type found struct {
	path   string
	info   fs.FileInfo
	dir    *os.Root
	worker *worker
}

// worker is what one goroutine of a walk has for itself.
type worker struct {
	id      int
	buf     []byte
	skipped Skipped
}

// read gives the file's content, valid until the worker's next read, with search.Padding behind it; false if the file is
// binary, too large or can't be read, which is counted.
func (f *found) read() ([]byte, bool) {
	content, err := readScanned(f.dir, f.info, &f.worker.buf)
	switch {
	case errors.Is(err, errLarge):
		f.worker.skipped.Large++
	case errors.Is(err, errBinary):
		f.worker.skipped.Binary++
	case err != nil:
		f.worker.skipped.Unreadable++
	}
	return content, err == nil
}

var (
	errLarge  = errors.New("it is over 2 MB")
	errBinary = errors.New("it is binary")
)

func readScanned(dir *os.Root, seen fs.FileInfo, buf *[]byte) ([]byte, error) {
	if seen.Size() > maxScanned {
		return nil, errLarge
	}
	f, info, err := openRegular(dir, seen.Name(), seen)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	if info.Size() > maxScanned {
		return nil, errLarge
	}
	size := int(info.Size())
	if cap(*buf) < size+search.Padding {
		*buf = make([]byte, max(2*size, 64<<10)+search.Padding)
	}
	n, err := io.ReadFull(f, (*buf)[:size])
	if err != nil && !isEOF(err) { // it may have shrunk meanwhile
		return nil, err
	}
	content := (*buf)[:n]
	if isBinary(content) {
		return nil, errBinary
	}
	clear((*buf)[n : n+search.Padding])
	return content, nil
}

// content reads the file at a cleaned path as readScanned does.
func (r *Root) content(clean string, buf *[]byte) ([]byte, error) {
	at, err := r.locate(clean)
	if err != nil {
		return nil, err
	}
	defer at.close()
	return readScanned(at.parent, at.info, buf)
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), sniffed)], 0) >= 0
}

// walker visits the files below a folder in parallel, in no particular order.
type walker struct {
	ctx   context.Context
	visit func(*found)

	mu    sync.Mutex
	more  sync.Cond
	queue []job // last in, first out: few folders are open at a time
	busy  int

	failed error // why the first folder can't be read
}

// workers bounds the goroutines of a call.
func workers() int { return runtime.GOMAXPROCS(0) }

// walk visits every file that may be read at or below start, a cleaned path. Visits run at the same time on different
// workers; worker.id is below workers().
func (r *Root) walk(ctx context.Context, start string, visit func(*found)) (Skipped, error) {
	at, err := r.locate(start)
	if err != nil {
		return Skipped{}, err
	}
	defer at.close()
	first := newFolder(at.parent)
	first.users.Add(1) // the place closes it
	w := &walker{ctx: ctx, visit: visit}
	w.more.L = &w.mu
	j := job{parent: first, info: at.info, path: start, ignores: at.ignores}
	if !at.info.IsDir() {
		j.files, j.path = []fs.FileInfo{at.info}, path.Dir(start)
	}
	w.queue = []job{j}

	crew := make([]worker, workers())
	var wg sync.WaitGroup
	for i := range crew {
		crew[i].id = i
		wg.Go(func() { w.run(&crew[i]) })
	}
	wg.Wait()
	var skipped Skipped
	for i := range crew {
		skipped.add(crew[i].skipped)
	}
	if err := ctx.Err(); err != nil {
		return skipped, err
	}
	return skipped, w.failed
}

// run takes jobs until there are none and nobody is left to make any.
func (w *walker) run(me *worker) {
	for {
		w.mu.Lock()
		for len(w.queue) == 0 && w.busy > 0 {
			w.more.Wait()
		}
		if len(w.queue) == 0 {
			w.mu.Unlock()
			w.more.Broadcast()
			return
		}
		last := len(w.queue) - 1
		j := w.queue[last]
		w.queue = w.queue[:last]
		w.busy++
		w.mu.Unlock()

		if w.ctx.Err() == nil {
			w.do(me, j)
		}
		j.parent.release()

		w.mu.Lock()
		w.busy--
		w.mu.Unlock()
		w.more.Broadcast()
	}
}

func (w *walker) do(me *worker, j job) {
	if j.files != nil {
		w.visitAll(me, j)
		return
	}
	root, err := openFolder(j.parent.root, j.info)
	if err != nil {
		w.unreadable(me, j, err)
		return
	}
	dir := newFolder(root)
	defer dir.release()
	entries, err := list(root)
	if err != nil {
		w.unreadable(me, j, err)
		return
	}
	below := j.path
	if below == "." {
		below = ""
	}
	ignores := j.ignores
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".gitignore" }) {
		ignores = loadIgnores(root, below, ignores)
	}
	files, folders := w.part(me, j, entries, ignores, dir)
	for i := batch; i < len(files); i += batch {
		dir.users.Add(1)
		folders = append(folders, job{parent: dir, path: j.path, files: files[i:min(i+batch, len(files))]})
	}
	w.mu.Lock()
	w.queue = append(w.queue, folders...)
	w.mu.Unlock()
	w.more.Broadcast()
	w.visitAll(me, job{parent: dir, path: j.path, files: files[:min(batch, len(files))]})
}

// unreadable counts a folder that can't be read; the one that the walk starts from fails it.
func (w *walker) unreadable(me *worker, j job, err error) {
	me.skipped.Unreadable++
	if j.depth == 0 {
		w.mu.Lock()
		w.failed = ioError(j.path, err)
		w.mu.Unlock()
	}
}

// part divides a folder's entries into files to visit and folders to enter, and leaves out what is closed.
func (w *walker) part(me *worker, j job, entries []fs.DirEntry, ignores *ignoreLayer, dir *folder) ([]fs.FileInfo, []job) {
	var files []fs.FileInfo
	var folders []job
	for _, e := range entries {
		name := e.Name()
		at := path.Join(j.path, name)
		switch {
		case !showable(name):
			me.skipped.Unreadable++
		case secretReason(name, e.IsDir()) != "":
			if !e.IsDir() {
				me.skipped.Secret++
			}
		case ignores.ignored(at, e.IsDir()):
		case e.IsDir():
			info, err := e.Info() // taken when the folder was listed
			if err != nil || j.depth == maxDepth {
				me.skipped.Unreadable++
				continue
			}
			dir.users.Add(1)
			folders = append(folders, job{parent: dir, info: info, path: at, depth: j.depth + 1, ignores: ignores})
		case e.Type().IsRegular():
			if info, err := e.Info(); err == nil {
				files = append(files, info)
			}
		default:
			me.skipped.Links++
		}
	}
	return files, folders
}

func (w *walker) visitAll(me *worker, j job) {
	for _, info := range j.files {
		if w.ctx.Err() != nil {
			return
		}
		w.visit(&found{path: path.Join(j.path, info.Name()), info: info, dir: j.parent.root, worker: me})
	}
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
