package code

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	maxScanned = 2 << 20 // bytes of a file that is searched
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
	seenFiles int // if the folder was too large: the files that were read
}

// report adds what was left out to a result.
func (s skipped) report(res *tool.Result) {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(s.counts)) {
		parts = append(parts, fmt.Sprintf("%d × %s", s.counts[what], what))
	}
	if len(parts) > 0 {
		res.Text += "Skipped: " + strings.Join(parts, ", ") + ".\n"
	}
	if s.seenFiles > 0 {
		res.Remark = fmt.Sprintf(
			"This folder is too large to be searched whole: %s looked at. Name the folder that you mean, as with --in.",
			tool.Count(s.seenFiles, "file"))
		res.Text += res.Remark + "\n"
	}
}

var (
	errLarge  = errors.New("file over 2 MB")
	errBinary = errors.New("binary file")
)

// readText reads a file that was checked before, of at most `most` bytes, into buf if that is large enough.
// search.Padding zero bytes follow the content.
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
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) { // it may have shrunk
		return nil, err
	}
	content := buf[:n]
	if bytes.IndexByte(content[:min(n, sniffBytes)], 0) >= 0 {
		return nil, errBinary
	}
	clear(buf[n : n+search.Padding])
	return content, nil
}

// content reads the file at a cleaned path, of at most `most` bytes, with any secrets in it.
func (r *Root) content(clean string, most int64) ([]byte, error) {
	at, err := r.locate(clean)
	if err != nil {
		return nil, err
	}
	defer at.close()
	if at.info.IsDir() {
		return nil, tool.Errorf(tool.InvalidArgs, "name a file in it; repo_map shows what there is",
			"%s is a folder", clean)
	}
	text, err := readText(at.parent, at.info.Name(), at.info, most, nil)
	if err != nil {
		return nil, ioError(clean, err)
	}
	return text, nil
}

// source reads the file at a cleaned path without its secrets, and hashes all of it.
func (r *Root) source(clean string) (s *source, hash string, err error) {
	text, err := r.content(clean, maxScanned)
	if err != nil {
		return nil, "", err
	}
	return newSource(clean, withoutSecrets(text)), files.Hash(text), nil
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

// walk visits every file of a scope that can be searched, in no particular order. Its content is valid during the
// visit, and search.Padding zero bytes follow it. At most workers() visits run at the same time.
func (r *Root) walk(ctx context.Context, sc scope, visit func(at string, content []byte)) (skipped, error) {
	type file struct {
		path string
		info fs.FileInfo
	}
	files := make(chan file)
	var mu sync.Mutex
	unread := map[string]int{}
	var readers sync.WaitGroup
	for range workers() {
		readers.Go(func() {
			var buf []byte
			for f := range files {
				if ctx.Err() != nil {
					continue
				}
				content, err := readText(r.root, f.path, f.info, maxScanned, buf)
				if err == nil {
					buf = content
					visit(f.path, content)
					continue
				}
				what := unreadable
				if errors.Is(err, errLarge) || errors.Is(err, errBinary) {
					what = err.Error()
				}
				mu.Lock()
				unread[what]++
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
	for what, n := range unread {
		passed.counts[what] += n
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
)

// listFolder offers all files in and below a folder. The error says why the folder itself can't be read.
func (l *lister) listFolder(at *place, depth int) error {
	if l.ctx.Err() != nil || l.skipped.seenFiles > 0 {
		return nil // list reports that
	}
	root, err := openFolder(at.parent, at.info)
	if err != nil {
		l.skipped.counts[unreadable]++
		return ioError(at.path, err)
	}
	defer func() { _ = root.Close() }() // opened for reading only
	entries, err := entriesOf(root)
	if err != nil {
		l.skipped.counts[unreadable]++
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
			l.skipped.counts[unreadable]++
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
		l.skipped.counts[unreadable]++
	case files.SecretReason(parent, e.Name(), e.IsDir()) != "":
		if !e.IsDir() {
			l.skipped.counts[secretFile]++
		}
	case ignores.isIgnored(at, e.IsDir()):
	case !e.IsDir() && !e.Type().IsRegular(), slices.Contains(systemFolders, filepath.Join(l.root.root.Name(), at)):
		l.skipped.counts[notAFile]++
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
