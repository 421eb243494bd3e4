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

	"sibyl/internal/files"
	"sibyl/internal/redact"
	"sibyl/internal/text/search"
)

const (
	maxScanned = 2 << 20 // bytes of a file that is searched
	maxDepth   = 100     // folders below each other that are entered
	batch      = 64      // files that are visited at a time
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

// found is one file of a walk. It is valid during the visit.
type found struct {
	path   string
	info   fs.FileInfo
	dir    *os.Root
	name   string // by which dir opens it
	worker *worker
}

// worker is what a goroutine of a walk has for itself while it works.
type worker struct {
	buf     []byte
	skipped Skipped
}

// read gives the file's content, valid until the worker's next read, with search.Padding behind it; false if the file is
// binary, too large or can't be read, which is counted.
func (f *found) read() ([]byte, bool) {
	content, err := readScanned(f.dir, f.name, f.info, &f.worker.buf)
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

func readScanned(dir *os.Root, name string, seen fs.FileInfo, buf *[]byte) ([]byte, error) {
	if seen.Size() > maxScanned {
		return nil, errLarge
	}
	f, info, err := openRegular(dir, name, seen)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	return readText(f, info, buf)
}

// readText reads an open file.
func readText(f *os.File, info fs.FileInfo, buf *[]byte) ([]byte, error) {
	if info.Size() > maxScanned {
		return nil, errLarge
	}
	size := int(info.Size())
	if cap(*buf) < size+search.Padding {
		*buf = make([]byte, max(2*size, 64<<10)+search.Padding)
	}
	n, err := io.ReadFull(f, (*buf)[:size])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) { // it may have shrunk meanwhile
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
func (r *Root) content(clean string) ([]byte, error) {
	at, err := r.locate(clean)
	if err != nil {
		return nil, err
	}
	defer at.close()
	text, err := readScanned(at.parent, at.info.Name(), at.info, new([]byte))
	return withoutSecrets(text), err
}

// withoutSecrets is content as it may be shown, with its lines where they were and room for a search behind it.
func withoutSecrets(content []byte) []byte {
	clean := redact.Lines(content)
	if len(clean) == 0 || &clean[0] == &content[0] {
		return content
	}
	return append(clean, make([]byte, search.Padding)...)[:len(clean)]
}

func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), sniffed)], 0) >= 0
}

// walker visits the files below a folder in parallel, in no particular order.
type walker struct {
	ctx   context.Context
	visit func(*found)
	free  chan *worker // those that nobody works with
}

// hand is a goroutine of a walk, with its worker; none while it waits.
type hand struct{ *worker }

// job is a folder that is still to be listed.
type job struct {
	parent  *os.Root
	info    fs.FileInfo
	path    string
	depth   int
	ignores *ignoreLayer
	device  uint64 // that the folder above lies on; 0: not known
}

// crosses says that a folder is where what the system says of itself is mounted: no file in it is anybody's.
func (j *job) crosses(root *os.Root) bool {
	device := deviceOf(j.info)
	return j.device != 0 && device != j.device && isMade(root)
}

// workers bounds the goroutines of a call that work at the same time.
func workers() int { return runtime.GOMAXPROCS(0) }

// walk visits every file that may be read at or below start, a cleaned path. At most so many visits as there are workers run at the same time.
func (r *Root) walk(ctx context.Context, start string, visit func(*found)) (skipped Skipped, err error) {
	at, err := r.locate(start)
	if err != nil {
		return skipped, err
	}
	defer at.close()
	crew := make([]worker, workers())
	w := &walker{ctx: ctx, visit: visit, free: make(chan *worker, len(crew))}
	for i := range crew {
		w.free <- &crew[i]
	}
	me := &hand{<-w.free}
	if at.info.IsDir() {
		err = w.folder(me, job{parent: at.parent, info: at.info, path: start, ignores: at.ignores})
	} else {
		w.visitAll(me, at.parent, path.Dir(start), []fs.FileInfo{at.info})
	}
	for i := range crew {
		skipped.add(crew[i].skipped)
	}
	return skipped, cmp.Or(ctx.Err(), err)
}

// folder visits what is in a folder. The error says why it can't be read.
func (w *walker) folder(me *hand, j job) error {
	if w.ctx.Err() != nil {
		return nil // walk says so
	}
	root, err := openFolder(j.parent, j.info)
	if err != nil {
		me.skipped.Unreadable++
		return ioError(j.path, err)
	}
	defer func() { _ = root.Close() }() // opened for reading only
	if j.crosses(root) {
		me.skipped.Links++
		return nil
	}
	entries, err := list(root)
	if err != nil {
		me.skipped.Unreadable++
		return ioError(j.path, err)
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ignoreFile }) {
		below := j.path
		if below == "." {
			below = ""
		}
		j.ignores = loadIgnores(root, below, j.ignores)
	}
	regular, folders := w.part(me, root, j, entries)
	var shared sync.WaitGroup
	for _, f := range folders {
		w.share(&shared, me, func(me *hand) { _ = w.folder(me, f) }) // what can't be read is counted
	}
	for some := range slices.Chunk(regular, batch) {
		w.share(&shared, me, func(me *hand) { w.visitAll(me, root, j.path, some) })
	}
	w.free <- me.worker
	shared.Wait()
	me.worker = <-w.free
	return nil
}

// share has work done by another goroutine if a worker is free, else by this one.
func (w *walker) share(shared *sync.WaitGroup, me *hand, do func(*hand)) {
	select {
	case free := <-w.free:
		shared.Go(func() {
			other := &hand{free}
			do(other)
			w.free <- other.worker
		})
	default:
		do(me)
	}
}

// part divides a folder's entries into files to visit and folders to enter, and leaves out what is closed.
func (w *walker) part(me *hand, root *os.Root, j job, entries []fs.DirEntry) (regular []fs.FileInfo, folders []job) {
	for _, e := range entries {
		name := e.Name()
		at := path.Join(j.path, name)
		switch {
		case !showable(name):
			me.skipped.Unreadable++
		case files.SecretReason(parentOf(root, at), name, e.IsDir()) != "":
			if !e.IsDir() {
				me.skipped.Secret++
			}
		case j.ignores.ignored(at, e.IsDir()):
		case e.IsDir():
			info, err := e.Info() // taken when the folder was listed
			if err != nil || j.depth == maxDepth {
				me.skipped.Unreadable++
				continue
			}
			folders = append(folders, job{parent: root, info: info, path: at, depth: j.depth + 1, ignores: j.ignores, device: deviceOf(j.info)})
		case e.Type().IsRegular():
			if info, err := e.Info(); err == nil {
				regular = append(regular, info)
			}
		default:
			me.skipped.Links++
		}
	}
	return regular, folders
}

func (w *walker) visitAll(me *hand, dir *os.Root, at string, files []fs.FileInfo) {
	below := at + "/" // and not path.Join, which looks at each byte: these are many
	if at == "." {
		below = ""
	}
	for _, f := range files {
		if w.ctx.Err() != nil || exceeds(w.ctx, f.Size()) {
			return
		}
		w.visit(&found{path: below + f.Name(), info: f, dir: dir, name: f.Name(), worker: me.worker})
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
