package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"sibyl/internal/files"
	doc "sibyl/internal/media/document"
	"sibyl/internal/text"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

// note is what a call knows of a document that it has read. It never changes.
type note struct {
	path, title string
	date        string
	at          time.Time
	tags        []string
	aliases     []string
	sections    []section
	links       []link
}

// noteIn returns what is known of a document, as long as its text is kept.
func noteIn(d *document) *note {
	return &note{
		path: d.path, title: d.title, date: d.front.date, at: d.front.at, tags: d.tags, aliases: d.front.aliases,
		sections: d.sections, links: d.links,
	}
}

// noteOf returns what is known of a document. It does not keep the text.
func noteOf(d *document) *note {
	n := noteIn(d)
	n.title, n.date = strings.Clone(n.title), strings.Clone(n.date)
	n.tags, n.aliases, n.sections, n.links = cloned(n.tags), cloned(n.aliases), slices.Clone(n.sections),
		slices.Clone(n.links)
	for i := range n.sections {
		s := &n.sections[i]
		s.heading, s.id = strings.Clone(s.heading), strings.Clone(s.id)
	}
	for i := range n.links {
		l := &n.links[i]
		l.target, l.heading = strings.Clone(l.target), strings.Clone(l.heading)
	}
	return n
}

func cloned(texts []string) []string {
	texts = slices.Clone(texts)
	for i := range texts {
		texts[i] = strings.Clone(texts[i])
	}
	return texts
}

// place is a note or document of the vault that need not have been read.
type place struct {
	path string
	info fs.FileInfo
}

func (p place) isDocument() bool { return doc.IsPDFOrDOCX(p.path) } // a PDF or DOCX

// unread is what is known of a document without reading it.
func (p place) unread() *note {
	base := path.Base(p.path)
	return &note{path: p.path, title: strings.TrimSuffix(base, path.Ext(base))}
}

// snapshot is the vault, or its threads, as one call sees it. It never changes.
type snapshot struct {
	vault   *Vault
	places  []place  // by path
	folders []string // by path, without "."
	unseen  unseen   // what could not be read, and why
}

// has says whether there is a note or document at exactly this path.
func (s *snapshot) has(p string) bool {
	i := s.position(p)
	return i < len(s.places) && s.places[i].path == p
}

// position returns how many places sort before the path p.
func (s *snapshot) position(p string) int {
	i, _ := slices.BinarySearchFunc(s.places, p, func(at place, p string) int { return strings.Compare(at.path, p) })
	return i
}

// below returns the places in a folder, at any depth.
func (s *snapshot) below(folder string) []place {
	if folder == "." {
		return s.places
	}
	const afterSlash = "0" // the character after /: what begins with folder/ sorts between the two
	return s.places[s.position(folder+"/"):s.position(folder+afterSlash)]
}

// look lists the vault as it is on disk, without reading a note.
func (v *Vault) look(ctx context.Context) (*snapshot, error) {
	s, err := v.lookIn(ctx, ".", maxDepth)
	return s, goneError(err)
}

// lookAtThreads lists the threads.
func (v *Vault) lookAtThreads(ctx context.Context) (*snapshot, error) {
	s, err := v.lookIn(ctx, threadDir, 0)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = files.List(v.root, ".")
		s = &snapshot{vault: v}
	}
	if err != nil {
		return nil, goneError(err)
	}
	s.places = slices.DeleteFunc(s.places, func(at place) bool { return !isThread(at.path) })
	return s, nil
}

// goneError is the error of a look.
func goneError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return tool.Errorf(tool.Unavailable, missingHint, "the vault's folder is gone: %w", err)
	}
	return err
}

// lookIn lists a folder and what lies at most depth folders below it.
func (v *Vault) lookIn(ctx context.Context, folder string, depth int) (*snapshot, error) {
	top := &listing{path: folder}
	var lists errgroup.Group
	lists.SetLimit(runtime.GOMAXPROCS(0))
	v.list(ctx, top, depth, &lists)
	switch _ = lists.Wait(); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case top.err != nil:
		return nil, top.err
	}
	w := walk{vault: v}
	w.walkFolder(top, depth)
	s := &snapshot{vault: v, places: w.places, folders: w.folders, unseen: w.unseen}
	if over := w.notes - v.maxNotes; over > 0 {
		s.unseen.add(left{tool.BeyondBound, over, fmt.Sprintf("%d notes after the first %d", over, v.maxNotes)})
	}
	if over := w.documents - doc.MaxFiles; over > 0 {
		s.unseen.add(left{tool.BeyondBound, over, fmt.Sprintf("%d documents after the first %d", over, doc.MaxFiles)})
	}
	slices.SortFunc(s.places, func(a, b place) int { return strings.Compare(a.path, b.path) })
	return s, nil
}

// listing is what a folder holds.
type listing struct {
	path    string
	infos   []fs.FileInfo // by name
	folders []*listing    // those among infos, unless they lie too deep
	err     error
}

// list fills a listing and those below it, several at a time.
func (v *Vault) list(ctx context.Context, l *listing, depth int, lists *errgroup.Group) {
	if ctx.Err() != nil {
		return
	}
	l.infos, l.err = files.List(v.root, l.path)
	l.infos = slices.DeleteFunc(l.infos, func(info fs.FileInfo) bool { return isHidden(info.Name()) })
	slices.SortFunc(l.infos, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	for _, info := range l.infos {
		if !info.IsDir() || depth == 0 {
			continue
		}
		below := &listing{path: path.Join(l.path, info.Name())}
		l.folders = append(l.folders, below)
		fill := func() error {
			v.list(ctx, below, depth-1, lists)
			return nil
		}
		if !lists.TryGo(fill) {
			_ = fill() // each listing holds its own error
		}
	}
}

// walk finds the notes, documents and folders of a vault in its listings.
type walk struct {
	vault            *Vault
	places           []place
	folders          []string
	unseen           unseen
	notes, documents int // how many there are, with those beyond the bounds
}

// left is what was not looked at, for one reason. name says what it was, and may say why in the words of an error.
type left struct {
	reason tool.Reason
	count  int
	name   string
}

// unseen is all that was not looked at.
type unseen []left

func (u *unseen) add(l left) { *u = append(*u, l) }

// report adds what was not looked at to a result.
func (u unseen) report(res *tool.Result) {
	for _, l := range u {
		res.LeaveOut(l.reason, l.count, l.name)
	}
}

func whySkipped(p string, err error) left {
	return left{tool.Unreadable, 1, p + ": " + text.Brief(strings.TrimPrefix(err.Error(), p+": "), 150)}
}

func (w *walk) walkFolder(l *listing, depth int) {
	if l.err != nil {
		w.unseen.add(whySkipped(l.path, l.err))
		return
	}
	below := l.folders
	for _, info := range l.infos {
		p := path.Join(l.path, info.Name())
		switch {
		case info.IsDir() && depth == 0:
			w.unseen.add(left{tool.BeyondBound, 1, fmt.Sprintf("%s: lies more than %d folders deep", p, maxDepth)})
		case info.IsDir():
			w.folders = append(w.folders, p)
			w.walkFolder(below[0], depth-1)
			below = below[1:]
		case info.Mode().IsRegular() && doc.IsPDFOrDOCX(info.Name()) && w.vault.documents != nil:
			if w.documents++; w.documents <= doc.MaxFiles {
				w.places = append(w.places, place{p, info})
			}
		case info.Mode().IsRegular() && isNote(info.Name()):
			if w.notes++; w.notes <= w.vault.maxNotes {
				w.places = append(w.places, place{p, info})
			}
		}
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
