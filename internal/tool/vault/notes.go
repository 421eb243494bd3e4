package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sibyl/internal/files"
	doc "sibyl/internal/media/document"
	"sibyl/internal/text"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

// settledAfter is how old a change must be so that the file's time and size show the next one: some file systems store
// times in steps of two seconds, and hide a second change within one.
const settledAfter = 2 * time.Second

// note is what is kept in memory of a document. It never changes.
type note struct {
	path, title string
	date        string
	at          time.Time
	tags        []string
	aliases     []string
	sections    []section
	links       []link
	words       search.Entry
	info        fs.FileInfo // of a PDF or DOCX; nil: it is a note
}

func (n *note) isDocument() bool { return n.info != nil } // a PDF or DOCX

// snapshot is the vault as one call sees it. It never changes.
type snapshot struct {
	notes   []*note       // by path
	folders []string      // by path, without "."
	skipped []string      // what could not be read, and why
	graph   func() *graph // made at its first use
}

// noteAt returns the note at exactly this path; nil if there is none.
func (s *snapshot) noteAt(p string) *note {
	if i := s.position(p); i < len(s.notes) && s.notes[i].path == p {
		return s.notes[i]
	}
	return nil
}

// position returns how many notes sort before the path p.
func (s *snapshot) position(p string) int {
	i, _ := slices.BinarySearchFunc(s.notes, p, func(n *note, p string) int { return strings.Compare(n.path, p) })
	return i
}

// noteCache keeps the notes of the last call, so that unchanged notes are not read again.
type noteCache struct {
	mu    sync.Mutex
	files map[string]cachedFile
}

type cachedFile struct {
	note *note
	info fs.FileInfo // nil if another change would not show in it
}

// readSnapshot reads the vault as it is on disk.
func (v *Vault) readSnapshot(ctx context.Context) (*snapshot, error) {
	v.cache.mu.Lock()
	defer v.cache.mu.Unlock()
	w := walk{ctx: ctx, vault: v}
	switch err := w.walkFolder(".", 0); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, tool.Errorf(tool.Unavailable, missingHint, "the vault's folder is gone: %w", err)
	case err != nil:
		return nil, err
	}
	read, err := v.loadChanged(ctx, w.notes)
	if err != nil {
		return nil, err
	}
	s := &snapshot{folders: w.folders, skipped: w.skipped}
	if w.notesOver > 0 {
		s.skipped = append(s.skipped, fmt.Sprintf("%d notes after the first %d", w.notesOver, v.maxNotes))
	}
	if w.documentsOver > 0 {
		s.skipped = append(s.skipped, fmt.Sprintf("%d documents after the first %d", w.documentsOver, doc.MaxFiles))
	}
	v.cache.files = make(map[string]cachedFile, len(read))
	for i, l := range read {
		if l.err != nil {
			s.skipped = append(s.skipped, whySkipped(w.notes[i].path, l.err))
			continue
		}
		v.cache.files[w.notes[i].path] = l.cachedFile
		s.notes = append(s.notes, l.note)
	}
	for _, f := range w.documents {
		base := path.Base(f.path)
		s.notes = append(s.notes, &note{path: f.path, title: strings.TrimSuffix(base, path.Ext(base)), info: f.info})
	}
	slices.SortFunc(s.notes, func(a, b *note) int { return strings.Compare(a.path, b.path) })
	s.graph = sync.OnceValue(func() *graph { return newGraph(s.notes) })
	return s, nil
}

// walk finds the notes, documents and folders of a vault.
type walk struct {
	ctx                      context.Context
	vault                    *Vault
	notes, documents         []foundFile
	folders                  []string
	skipped                  []string
	notesOver, documentsOver int // how many are beyond the bounds
}

type foundFile struct {
	path string
	info fs.FileInfo
}

func whySkipped(p string, err error) string { return p + ": " + text.Brief(err.Error(), 200) }

func (w *walk) walkFolder(folder string, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	infos, err := files.List(w.vault.root, folder)
	if err != nil && folder == "." {
		return err
	}
	if err != nil {
		w.skipped = append(w.skipped, whySkipped(folder, err))
		return nil
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	for _, info := range infos {
		p := path.Join(folder, info.Name())
		switch {
		case strings.HasPrefix(info.Name(), "."):
		case info.IsDir() && depth == maxDepth:
			w.skipped = append(w.skipped, fmt.Sprintf("%s: lies more than %d folders deep", p, maxDepth))
		case info.IsDir():
			w.folders = append(w.folders, p)
			if err := w.walkFolder(p, depth+1); err != nil {
				return err
			}
		case info.Mode().IsRegular() && doc.IsPDFOrDOCX(info.Name()) && w.vault.documents != nil:
			if len(w.documents) == doc.MaxFiles {
				w.documentsOver++
			} else {
				w.documents = append(w.documents, foundFile{p, info})
			}
		case !info.Mode().IsRegular() || !isNote(info.Name()):
		case len(w.notes) == w.vault.maxNotes:
			w.notesOver++
		default:
			w.notes = append(w.notes, foundFile{p, info})
		}
	}
	return nil
}

type loadedNote struct {
	cachedFile
	err error
}

// loadChanged reads those of the files that have changed, several at a time, and takes the others from the cache.
func (v *Vault) loadChanged(ctx context.Context, files []foundFile) ([]loadedNote, error) {
	result := make([]loadedNote, len(files))
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		if ctx.Err() != nil {
			break
		}
		if old := v.cache.files[f.path]; old.info != nil && isSameFile(old.info, f.info) {
			result[i].cachedFile = old
			continue
		}
		all.Go(func() error {
			result[i] = v.loadFile(f.path)
			return nil
		})
	}
	_ = all.Wait() // each result holds its own error
	return result, ctx.Err()
}

func isSameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func (v *Vault) loadFile(p string) loadedNote {
	began := time.Now()
	content, err := files.Read(v.root, p, maxNote)
	if err != nil {
		return loadedNote{err: err}
	}
	d := parseNote(p, content.Content, content.Cut)
	l := loadedNote{cachedFile: cachedFile{note: noteOf(d)}}
	if content.Info.ModTime().Before(began.Add(-settledAfter)) {
		l.info = content.Info
	}
	return l
}

func noteOf(d *document) *note {
	return &note{
		path: d.path, title: d.title, date: d.front.date, at: d.front.at, tags: d.tags, aliases: d.front.aliases,
		sections: d.sections, links: d.links, words: search.Count(searchDocument(d)),
	}
}

// searchDocument returns the texts of a document that a search finds.
func searchDocument(d *document) search.Document {
	found := search.Document{Fields: []search.Field{
		{Weight: 3, Texts: append([]string{d.title, noteName(d.path)}, d.front.aliases...)},
		{Weight: 2.5, Texts: d.tags},
		{Weight: 0.8, Texts: d.front.otherTexts()},
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
