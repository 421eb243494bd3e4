package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

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
	info fs.FileInfo // of a PDF or DOCX; nil: it is a note
}

func (p place) isDocument() bool { return p.info != nil } // a PDF or DOCX

// unread is what is known of a document without reading it.
func (p place) unread() *note {
	base := path.Base(p.path)
	return &note{path: p.path, title: strings.TrimSuffix(base, path.Ext(base))}
}

// snapshot is the vault as one call sees it. It never changes.
type snapshot struct {
	vault   *Vault
	places  []place  // by path
	folders []string // by path, without "."
	skipped []string // what could not be read, and why
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

// threads are the places of the threads.
func (s *snapshot) threads() []place {
	return slices.DeleteFunc(slices.Clone(s.places), func(at place) bool { return !isThread(at.path) })
}

// look lists the vault as it is on disk, without reading a note.
func (v *Vault) look(ctx context.Context) (*snapshot, error) {
	w := walk{ctx: ctx, vault: v}
	switch err := w.walkFolder(".", 0); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, tool.Errorf(tool.Unavailable, missingHint, "the vault's folder is gone: %w", err)
	case err != nil:
		return nil, err
	}
	s := &snapshot{vault: v, places: w.places, folders: w.folders, skipped: w.skipped}
	if over := w.notes - v.maxNotes; over > 0 {
		s.skipped = append(s.skipped, fmt.Sprintf("%d notes after the first %d", over, v.maxNotes))
	}
	if over := w.documents - doc.MaxFiles; over > 0 {
		s.skipped = append(s.skipped, fmt.Sprintf("%d documents after the first %d", over, doc.MaxFiles))
	}
	slices.SortFunc(s.places, func(a, b place) int { return strings.Compare(a.path, b.path) })
	return s, nil
}

// walk finds the notes, documents and folders of a vault.
type walk struct {
	ctx              context.Context
	vault            *Vault
	places           []place
	folders          []string
	skipped          []string
	notes, documents int // how many there are, with those beyond the bounds
}

func whySkipped(p string, err error) string { return p + ": " + text.Brief(err.Error(), 200) }

func (w *walk) walkFolder(folder string, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	names, err := files.Names(w.vault.root, folder)
	if err != nil && folder == "." {
		return err
	}
	if err != nil {
		w.skipped = append(w.skipped, whySkipped(folder, err))
		return nil
	}
	slices.SortFunc(names, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range names {
		p := path.Join(folder, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case entry.IsDir() && depth == maxDepth:
			w.skipped = append(w.skipped, fmt.Sprintf("%s: lies more than %d folders deep", p, maxDepth))
		case entry.IsDir():
			w.folders = append(w.folders, p)
			if err := w.walkFolder(p, depth+1); err != nil {
				return err
			}
		case entry.Type().IsRegular() && doc.IsPDFOrDOCX(entry.Name()) && w.vault.documents != nil:
			if w.documents++; w.documents > doc.MaxFiles {
				continue
			}
			info, err := w.vault.root.Lstat(p)
			if err != nil {
				w.skipped = append(w.skipped, whySkipped(p, err))
				continue
			}
			w.places = append(w.places, place{p, info})
		case entry.Type().IsRegular() && isNote(entry.Name()):
			if w.notes++; w.notes <= w.vault.maxNotes {
				w.places = append(w.places, place{path: p})
			}
		}
	}
	return nil
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
