package persona

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sibyl/prompts"
)

// settled is how old a file's time must be for a later change to show in it: file systems count time in steps of up to two seconds.
const settled = 3 * time.Second

// Shelf is a folder of oracles.
type Shelf struct {
	config Config
	read   func(path string) (string, error)

	turn    chan struct{} // holds a token while somebody uses what follows; waiting for it can be cancelled
	looked  time.Time     // when listing was true; zero: never
	listing Listing
	known   map[string]*file // by their paths in the folder
}

// file is what was read of a file.
type file struct {
	info    fs.FileInfo // when it was read; nil if it must be read again
	persona Persona
	err     error
}

// New gives the shelf of a folder. Nothing is read before it is asked.
func New(c Config) *Shelf {
	if c.Placeholder == "" {
		c.Placeholder = DefaultPlaceholder
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Shelf{config: c, read: load, turn: make(chan struct{}, 1), known: map[string]*file{}}
}

// take waits for the turn of the caller, who gives it back by calling done.
func (s *Shelf) take(ctx context.Context) (done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// List gives the oracles and the files that cannot be used. An error means that the folder itself cannot be read, or ctx.Err.
func (s *Shelf) List(ctx context.Context) (Listing, error) {
	done, err := s.take(ctx)
	if err != nil {
		return Listing{}, err
	}
	defer done()
	if err := s.look(ctx, false); err != nil {
		return Listing{}, err
	}
	return s.listing.clone(), nil
}

// look makes the listing true, if it is too old or that is wanted.
func (s *Shelf) look(ctx context.Context, again bool) error {
	now := s.config.Now()
	age := now.Sub(s.looked)
	if !again && !s.looked.IsZero() && (age >= 0 && age < s.config.TTL || s.config.Dir == "") {
		return nil
	}
	var listing Listing
	var err error
	if s.config.Dir == "" {
		listing, err = builtIn()
	} else {
		listing, err = s.folder(ctx)
	}
	if err != nil {
		return err
	}
	arrange(&listing)
	s.listing, s.looked = listing, now
	return nil
}

// builtIn lists the oracles that came with the program. They have the placeholder that they were written with.
func builtIn() (Listing, error) {
	names, err := fs.Glob(prompts.Oracles(), "*.md")
	if err != nil {
		return Listing{}, err
	}
	var l Listing
	for _, name := range names {
		data, err := fs.ReadFile(prompts.Oracles(), name)
		if err != nil {
			return Listing{}, err
		}
		known := path.Join("/prompts/oracles", name)
		text, err := decode(data)
		if err != nil {
			return Listing{}, fmt.Errorf("%s: %w", known, err)
		}
		p, err := parse(text, known, name, DefaultPlaceholder)
		if err != nil {
			return Listing{}, fmt.Errorf("%s: %w", known, err)
		}
		l.Oracles = append(l.Oracles, p)
	}
	return l, nil
}

// folder lists those of a person's folder.
func (s *Shelf) folder(ctx context.Context) (Listing, error) {
	dir, names, err := s.names()
	if err != nil {
		return Listing{}, err
	}
	l := Listing{}
	if len(names) > MaxFiles {
		l.Skipped = append(l.Skipped, Skipped{File: dir, Reason: fmt.Sprintf("%d of its files are left out, from %s on: the folder has more than %d",
			len(names)-MaxFiles, names[MaxFiles].Name(), MaxFiles)})
		names = names[:MaxFiles]
	}
	slices.SortStableFunc(names, func(a, b fs.DirEntry) int { return cmp.Compare(a.Type()&fs.ModeSymlink, b.Type()&fs.ModeSymlink) }) // a file before links to it
	known, taken := map[string]*file{}, map[string]bool{}
	for _, entry := range names {
		if err := ctx.Err(); err != nil {
			return Listing{}, err
		}
		name := filepath.Join(dir, entry.Name())
		f := s.fresh(name, entry.Type()&fs.ModeSymlink != 0)
		known[name] = f
		switch {
		case f.err != nil:
			l.Skipped = append(l.Skipped, Skipped{File: name, Reason: f.err.Error()})
		case !taken[f.persona.File]:
			taken[f.persona.File] = true
			l.Oracles = append(l.Oracles, f.persona)
		}
	}
	s.known = known
	return l, nil
}

// names gives the folder without links, and what in it may be an oracle, by name.
func (s *Shelf) names() (string, []fs.DirEntry, error) {
	dir, err := filepath.Abs(s.config.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	var entries []fs.DirEntry
	if err == nil {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return "", nil, folderError(s.config.Dir, err)
	}
	return dir, slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		name := e.Name()
		return strings.HasPrefix(name, ".") || !strings.EqualFold(filepath.Ext(name), ".md") || strings.EqualFold(name, "README.md")
	}), nil
}

// fresh is what is known of a file, which is read if it may have changed.
func (s *Shelf) fresh(name string, link bool) *file {
	info, err := os.Stat(name)
	if err != nil {
		return &file{err: plain(err)}
	}
	if old := s.known[name]; old != nil && old.info != nil && same(old.info, info) {
		return old
	}
	f := &file{}
	began := time.Now() // of the clock that files are stamped by
	f.persona, f.err = s.open(name, link)
	if _, content := errors.AsType[unusable](f.err); (f.err == nil || content) && began.Sub(info.ModTime()) > settled {
		f.info = info
	}
	return f
}

// same says that a file did not change, as far as its size, its time and its place on the disk tell.
func same(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode() && os.SameFile(a, b)
}

func (s *Shelf) open(name string, link bool) (Persona, error) {
	real := name
	if link {
		var err error
		if real, err = filepath.EvalSymlinks(name); err != nil {
			return Persona{}, plain(err)
		}
	}
	text, err := s.read(real)
	if err != nil {
		return Persona{}, err
	}
	return parse(text, real, name, s.config.Placeholder)
}

// arrange orders a listing, and warns of names that two oracles have.
func arrange(l *Listing) {
	slices.SortFunc(l.Oracles, func(a, b Persona) int {
		return cmp.Or(cmp.Compare(fold(a.Name), fold(b.Name)), cmp.Compare(a.File, b.File))
	})
	slices.SortFunc(l.Skipped, func(a, b Skipped) int { return cmp.Compare(a.File, b.File) })
	names := make([]string, len(l.Oracles))
	for i, p := range l.Oracles {
		names[i] = fold(p.Name)
	}
	for from := 0; from < len(names); {
		to := from + 1
		for to < len(names) && names[to] == names[from] {
			to++
		}
		for i := from; to-from > 1 && i < to; i++ {
			other := l.Oracles[from]
			if i == from {
				other = l.Oracles[from+1]
			}
			p := &l.Oracles[i]
			p.warn("%s has the same name; ask for it by its id %s, or rename one", filepath.Base(other.File), p.ID)
		}
		from = to
	}
}
