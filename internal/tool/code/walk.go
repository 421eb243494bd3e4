package code

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
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
	maxScanned = maxRead // bytes of a file that is searched
	maxDepth   = 100     // folders below each other that are entered
	sniffBytes = 8000    // bytes in which a NUL marks a file as binary, as in git
)

// limits bound how much of a folder a walk reads. The rest is left out, and the result says so.
type limits struct {
	files int
	bytes int64
	time  time.Duration
}

var defaultLimits = limits{files: 200_000, bytes: 1 << 30, time: 12 * time.Second}

// skipped counts what a walk left out, by kind. Files that .gitignore excludes are not counted.
type skipped struct {
	counts    map[string]int
	names     map[string][]string // of some
	seenFiles int                 // if the folder was too large: the files that were read
}

// add counts an entry. One whose name can't be shown has no name.
func (s *skipped) add(kind, name string) {
	s.counts[kind]++
	if s.names == nil {
		s.names = map[string][]string{}
	}
	if name != "" && len(s.names[kind]) < mostNamed {
		s.names[kind] = append(s.names[kind], printable(name, maxShort))
	}
}

const mostNamed = 5

// uncovered are the kinds that a search would have looked at.
func uncovered() map[string]tool.Reason {
	return map[string]tool.Reason{errLarge.Error(): tool.IsLarge, errEncoding.Error(): tool.Encoding,
		unreadable: tool.Unreadable, notCheckedOut: tool.Submodule}
}

// report adds what was left out to a result.
func (s skipped) report(res *tool.Result) {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(s.counts)) {
		if reason, is := uncovered()[what]; is {
			res.LeaveOut(reason, s.counts[what], slices.Sorted(slices.Values(s.names[what]))...)
			continue
		}
		parts = append(parts, fmt.Sprintf("%d × %s", s.counts[what], what))
	}
	if len(parts) > 0 {
		res.Text += "Skipped: " + strings.Join(parts, ", ") + ".\n"
	}
	if s.seenFiles > 0 {
		res.LeaveOut(tool.BeyondBound, 1, "what comes after "+tool.Count(s.seenFiles, "file"))
	}
}

var (
	errLarge    = errors.New("file over 64 MB")
	errBinary   = errors.New("binary file")
	errEncoding = errors.New("file in an unknown encoding")
)

// openText opens a file that was checked before, of at most `most` bytes.
func openText(dir *os.Root, name string, seen fs.FileInfo, most int64) (*os.File, int64, error) {
	f, info, err := openRegular(dir, name, seen)
	if err != nil {
		return nil, 0, err
	}
	if info.Size() > most {
		_ = f.Close()
		return nil, 0, errLarge
	}
	return f, info.Size(), nil
}

// readInto reads a part of a file into buf, if that is large enough. search.Padding zero bytes follow what was read,
// which is less if the file has shrunk.
func readInto(f io.ReaderAt, offset int64, size int, buf []byte) (content, buffer []byte, err error) {
	if cap(buf) < size+search.Padding {
		buf = make([]byte, max(2*size, 64<<10)+search.Padding)
	}
	n, err := f.ReadAt(buf[:size], offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, buf, err
	}
	clear(buf[n : n+search.Padding])
	return buf[:n], buf, nil
}

// content reads the file at a cleaned path, of at most maxRead bytes, with any secrets in it, and hashes it as it is.
func (r *Root) content(clean string) (text []byte, hash string, err error) {
	at, err := r.locate(clean)
	if err != nil {
		return nil, "", err
	}
	defer at.close()
	if at.info.IsDir() {
		return nil, "", tool.Errorf(tool.InvalidArgs, "name a file in it; repo_map shows what there is",
			"%s is a folder", clean)
	}
	f, size, err := openText(at.parent, at.info.Name(), at.info, maxRead)
	if err != nil {
		return nil, "", ioError(clean, err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	raw, _, err := readInto(f, 0, int(size), nil)
	if err == nil {
		text, err = decode(clean, raw)
	}
	if err != nil {
		return nil, "", ioError(clean, err)
	}
	return text, files.Hash(raw), nil
}

// source reads the file at a cleaned path without its secrets, and hashes all of it.
func (r *Root) source(clean string) (s *source, hash string, err error) {
	text, hash, err := r.content(clean)
	if err != nil {
		return nil, "", err
	}
	return newSource(clean, withoutSecrets(text)), hash, nil
}

// withoutSecrets removes the secrets of a content. The number of lines stays, and search.Padding follows.
func withoutSecrets(content []byte) []byte {
	clean := redact.Lines(content)
	if len(clean) == 0 || &clean[0] == &content[0] {
		return content
	}
	return append(clean, make([]byte, search.Padding)...)[:len(clean)]
}

// workers bounds the goroutines of a call that read at the same time.
func workers() int { return runtime.GOMAXPROCS(0) }

// walk visits every file of a scope that can be searched, in no particular order. Its pieces follow each other, and
// each is valid until the next. At most workers() visits run at the same time.
func (r *Root) walk(ctx context.Context, sc scope, visit func(at string, pieces iter.Seq[piece])) (skipped, error) {
	type file struct {
		path string
		info fs.FileInfo
	}
	files := make(chan file)
	var mu sync.Mutex
	unread := skipped{counts: map[string]int{}}
	var readers sync.WaitGroup
	for range workers() {
		readers.Go(func() {
			var buf []byte
			for f := range files {
				if ctx.Err() != nil {
					continue
				}
				err := r.eachPiece(f.path, f.info, &buf, func(pieces iter.Seq[piece]) { visit(f.path, pieces) })
				if err == nil {
					continue
				}
				what := unreadable
				for _, kind := range []error{errLarge, errBinary, errEncoding} {
					if errors.Is(err, kind) {
						what = kind.Error()
					}
				}
				mu.Lock()
				unread.add(what, f.path)
				mu.Unlock()
			}
		})
	}
	passed, err := r.list(ctx, sc.start, func(at string, info fs.FileInfo) {
		if sc.contains(at) {
			select {
			case files <- file{at, info}:
			case <-ctx.Done():
			}
		}
	})
	close(files)
	readers.Wait()
	for what, n := range unread.counts {
		for _, name := range unread.names[what] {
			passed.add(what, name)
		}
		passed.counts[what] += n - len(unread.names[what])
	}
	return passed, cmp.Or(ctx.Err(), err)
}

type lister struct {
	ctx      context.Context
	root     *Root
	offer    func(at string, info fs.FileInfo)
	skipped  skipped
	seen     limits
	deadline time.Time
}

// list calls offer for every file that may be read at or below start, a cleaned path, by name within each folder.
func (r *Root) list(ctx context.Context, start string, offer func(at string, info fs.FileInfo)) (skipped, error) {
	l := &lister{ctx: ctx, root: r, offer: offer, deadline: time.Now().Add(r.limits.time)}
	l.skipped.counts = map[string]int{}
	at, err := r.locate(start)
	if err != nil {
		return l.skipped, err
	}
	defer at.close()
	if at.info.IsDir() {
		at.inProject = r.inProject(strings.Split(start, "/"))
		err = l.listFolder(at, 0)
		l.findSubmodules(at)
	} else {
		l.offerFile(start, at.info)
	}
	return l.skipped, cmp.Or(ctx.Err(), err)
}

// offerFile offers a file, unless the limits of the walk are reached.
func (l *lister) offerFile(at string, info fs.FileInfo) {
	if l.skipped.seenFiles > 0 {
		return
	}
	most := l.root.limits
	if l.seen.files++; l.seen.files > most.files || l.seen.bytes > most.bytes || time.Now().After(l.deadline) {
		l.skipped.seenFiles = max(1, l.seen.files-1)
		return
	}
	l.seen.bytes += info.Size()
	l.offer(at, info)
}

// The kinds of skipped entries that no error names. An unreadable entry may also be gone, too deep, or badly named.
const (
	unreadable = "unreadable entry"
	notAFile   = "link or special file"
	secretFile = "file that may hold secrets"

	notCheckedOut = "submodule that is not checked out"
)

// submodulePath matches the line of .gitmodules that says where a submodule is.
var submodulePath = pattern(`(?m)^\s*path\s*=\s*"?([^"\n\r]+?)"?\s*$`)

// findSubmodules counts the submodules of a folder that are empty, since nobody checked them out.
func (l *lister) findSubmodules(at *place) {
	text, _, err := l.root.content(path.Join(at.path, ".gitmodules"))
	if err != nil {
		return
	}
	for _, m := range submodulePath().FindAllSubmatch(text, maxSubmodules) {
		below, err := l.root.locate(path.Join(at.path, path.Clean("/"+string(m[1]))))
		if err != nil {
			continue
		}
		if below.info.IsDir() {
			entries, err := fs.ReadDir(below.parent.FS(), below.info.Name())
			if err == nil && len(entries) == 0 {
				l.skipped.add(notCheckedOut, below.path)
			}
		}
		below.close()
	}
}

const maxSubmodules = 1000

// listFolder offers all files in and below a folder. The error says why the folder itself can't be read.
func (l *lister) listFolder(at *place, depth int) error {
	if l.ctx.Err() != nil || l.skipped.seenFiles > 0 {
		return nil // list reports that
	}
	root, err := openFolder(at.parent, at.info)
	if err != nil {
		l.skipped.add(unreadable, at.path)
		return ioError(at.path, err)
	}
	defer func() { _ = root.Close() }() // opened for reading only
	entries, err := entriesOf(root)
	if err != nil {
		l.skipped.add(unreadable, at.path)
		return ioError(at.path, err)
	}
	project := at.inProject || isProject(filepath.Join(l.root.root.Name(), at.path), entries)
	ignores := at.ignores
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ignoreFile }) {
		ignores = loadIgnores(root, strings.TrimPrefix(at.path, "."), ignores)
	}
	for _, e := range entries {
		child := path.Join(at.path, e.Name())
		if !l.mayEnter(e, parentOf(root, child), child, ignores) {
			continue
		}
		info, err := e.Info() // from the listing of the folder
		if runtime.GOOS == "windows" {
			info, err = root.Lstat(e.Name()) // a listing identifies a file on NTFS, but not on FAT or shares
		}
		switch {
		case err != nil || e.IsDir() && depth == maxDepth:
			l.skipped.add(unreadable, child)
		case e.IsDir() && isHidden(e.Name()) && !project: // programs keep their own files there
		case e.IsDir():
			below := &place{parent: root, path: child, info: info, ignores: ignores, inProject: project}
			_ = l.listFolder(below, depth+1) // a failure is counted
		default:
			l.offerFile(child, info)
		}
	}
	return nil
}

// systemFolders contain what the system says about itself, no files of users.
var systemFolders = []string{"/proc", "/sys", "/dev"}

// mayEnter says whether a file or folder is to be read, and counts it if not.
func (l *lister) mayEnter(e fs.DirEntry, parent, at string, ignores *ignoreLayer) bool {
	switch {
	case !isShowable(e.Name()):
		l.skipped.add(unreadable, "")
	case files.SecretReason(parent, e.Name(), e.IsDir()) != "":
		if !e.IsDir() {
			l.skipped.add(secretFile, "")
		}
	case ignores.isIgnored(at, e.IsDir()):
	case !e.IsDir() && !e.Type().IsRegular(), slices.Contains(systemFolders, filepath.Join(l.root.root.Name(), at)):
		l.skipped.add(notAFile, "")
	default:
		return true
	}
	return false
}

func entriesOf(root *os.Root) ([]fs.DirEntry, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}
