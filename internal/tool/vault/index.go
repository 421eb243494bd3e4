package vault

import (
	"context"
	"fmt"
	"hash/maphash"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"sibyl/internal/files"
	"sibyl/internal/text/search"
)

// settledAfter is how old a change must be for a file's time and size to tell the next one: file systems keep times as
// coarse as two seconds, and a second change within that looks like none.
const settledAfter = 2 * time.Second

// note is what the index keeps of a document. It never changes.
type note struct {
	path, title string
	date        string
	at          time.Time
	tags        []string
	aliases     []string
	lines       int
	sections    []section
	links       []link
	words       search.Entry
}

// snapshot is the vault as one call sees it. It never changes.
type snapshot struct {
	notes   []*note  // by path
	folders []string // by path, without "."
	words   search.View
	skipped []string // what could not be read, and why
	byPath  map[string]*note
	graph   func() *graph // made when first asked for
}

// index keeps the last snapshot, and what tells which files changed since. Everything beside turn is guarded by it.
type index struct {
	turn    *semaphore.Weighted // of one; unlike a mutex, it lets those who wait give up
	files   map[string]indexed
	current *snapshot
	lexicon search.Lexicon
	seed    maphash.Seed
	pruneAt int // number of words at which those of notes long gone are dropped
}

type indexed struct {
	note    *note
	stamp   stamp
	sum     uint64 // 0: not known
	settled bool   // another change would show in stamp
}

// stamp is what shows that a file changed.
type stamp struct {
	size, time      int64
	number, changed uint64
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), time: info.ModTime().UnixNano()}
	s.number, s.changed = files.Identity(info)
	return s
}

// snapshot returns the vault as it is on disk. Only files that changed since the last call are read.
func (v *Vault) snapshot(ctx context.Context) (*snapshot, error) {
	x := &v.index
	if err := x.turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer x.turn.Release(1)
	if x.files == nil || x.lexicon.Size() > x.pruneAt {
		x.files, x.lexicon, x.seed = map[string]indexed{}, search.Lexicon{}, maphash.MakeSeed()
		x.current, x.pruneAt = nil, 0
	}
	w := walk{ctx: ctx, vault: v}
	if err := w.folder(".", 0); err != nil {
		return nil, gone(err)
	}
	read, err := v.load(ctx, w.files)
	if err != nil {
		return nil, err
	}
	changed := x.current == nil
	files := make(map[string]indexed, len(read))
	for i, l := range read {
		if l.err != nil {
			w.skip(w.files[i].path, l.err)
			continue
		}
		if l.words != nil {
			l.entry.note.words = x.lexicon.Add(*l.words)
			changed = true
		}
		files[w.files[i].path] = l.entry
	}
	if w.over > 0 {
		w.skipped = append(w.skipped, fmt.Sprintf("%d notes after the first %d", w.over, v.maxNotes))
	}
	if changed || len(files) != len(x.files) || !slices.Equal(w.folders, x.current.folders) || !slices.Equal(w.skipped, x.current.skipped) {
		x.current = newSnapshot(files, w.folders, w.skipped, x.lexicon.View())
	}
	x.files = files
	if x.pruneAt == 0 {
		x.pruneAt = 2*x.lexicon.Size() + 100_000
	}
	return x.current, nil
}

func newSnapshot(files map[string]indexed, folders, skipped []string, words search.View) *snapshot {
	s := &snapshot{folders: folders, skipped: skipped, words: words, byPath: make(map[string]*note, len(files))}
	for p, f := range files {
		s.byPath[p] = f.note
		s.notes = append(s.notes, f.note)
	}
	slices.SortFunc(s.notes, func(a, b *note) int { return strings.Compare(a.path, b.path) })
	s.graph = sync.OnceValue(func() *graph { return newGraph(s.notes) })
	return s
}

// walk finds the notes and folders of a vault.
type walk struct {
	ctx     context.Context
	vault   *Vault
	files   []found
	folders []string
	skipped []string
	over    int // notes beyond the bound
}

type found struct {
	path string
	info fs.FileInfo
}

func (w *walk) skip(p string, err error) {
	w.skipped = append(w.skipped, fmt.Sprintf("%s: %s", p, oneLine(err.Error(), 200)))
}

func (w *walk) folder(folder string, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	infos, err := files.List(w.vault.root, folder)
	if err != nil && folder == "." {
		return err
	}
	if err != nil {
		w.skip(folder, err)
		return nil
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	for _, info := range infos {
		p := path.Join(folder, info.Name())
		switch {
		case strings.HasPrefix(info.Name(), "."):
		case info.IsDir() && depth == maxDepth:
			w.skip(p, fmt.Errorf("lies more than %d folders deep", maxDepth))
		case info.IsDir():
			w.folders = append(w.folders, p)
			if err := w.folder(p, depth+1); err != nil {
				return err
			}
		case !info.Mode().IsRegular() || !isNote(info.Name()):
		case len(w.files) == w.vault.maxNotes:
			w.over++
		default:
			w.files = append(w.files, found{p, info})
		}
	}
	return nil
}

// loaded is a file's part of the next index: the entry, and its words if they are not numbered yet.
type loaded struct {
	entry indexed
	words *search.Counted
	err   error
}

// load reads those of the files that changed, several at a time.
func (v *Vault) load(ctx context.Context, files []found) ([]loaded, error) {
	result := make([]loaded, len(files))
	var all errgroup.Group
	all.SetLimit(min(runtime.GOMAXPROCS(0), 8))
	for i, f := range files {
		all.Go(func() error {
			result[i] = v.loadFile(f, v.index.files[f.path])
			return nil
		})
		if ctx.Err() != nil {
			break
		}
	}
	_ = all.Wait() // a file that fails says so itself
	return result, ctx.Err()
}

func (v *Vault) loadFile(f found, old indexed) loaded {
	if old.settled && old.stamp == stampOf(f.info) {
		return loaded{entry: old}
	}
	began := time.Now()
	content, err := files.Read(v.root, f.path, maxNote)
	if err != nil {
		return loaded{err: err}
	}
	entry := indexed{
		note:    old.note,
		stamp:   stampOf(content.Info),
		sum:     maphash.Bytes(v.index.seed, content.Content),
		settled: content.Info.ModTime().Before(began.Add(-settledAfter)),
	}
	if old.note != nil && old.sum == entry.sum && old.stamp.size == entry.stamp.size {
		return loaded{entry: entry}
	}
	d := parse(f.path, content.Content, content.Cut)
	entry.note = &note{
		path: d.path, title: d.title, date: d.front.date, at: d.front.at, tags: d.tags, aliases: d.front.aliases,
		lines: len(d.lines), sections: d.sections, links: d.links,
	}
	words := search.Count(searchable(d))
	return loaded{entry: entry, words: &words}
}

// searchable is what a search finds of a document.
func searchable(d *document) search.Document {
	found := search.Document{Fields: []search.Field{
		{Weight: 3, Texts: append([]string{d.title, bare(d.path)}, d.front.aliases...)},
		{Weight: 2.5, Texts: d.tags},
		{Weight: 0.8, Texts: otherFields(d.front.fields)},
	}}
	for _, s := range d.sections {
		lines := d.lines[s.start-1 : s.end]
		if s.level > 0 {
			lines = lines[1:]
		}
		found.Sections = append(found.Sections, search.Section{Heading: s.heading, Lines: lines})
	}
	return found
}

// otherFields are the texts of the front matter that have no field of their own.
func otherFields(fields map[string]any) []string {
	var texts []string
	var add func(value any)
	add = func(value any) {
		switch value := value.(type) {
		case string:
			texts = append(texts, value)
		case []any:
			for _, item := range value {
				add(item)
			}
		case map[string]any:
			for name, item := range value {
				texts = append(texts, name)
				add(item)
			}
		}
	}
	for name, value := range fields {
		switch name {
		case "title", "tags", "tag", "aliases", "alias", "date":
		default:
			texts = append(texts, name)
			add(value)
		}
	}
	return texts
}
