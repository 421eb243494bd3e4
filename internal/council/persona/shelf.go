package persona

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"sibyl/internal/preset"
	"sibyl/prompts"
)

//go:embed template/*.md
var templates embed.FS

// Config says where oracles come from.
type Config struct {
	// the folder; "": the built-in ones serve. A path that is not absolute is one of the working folder
	Dir         string
	Placeholder string           // "": DefaultPlaceholder
	TTL         time.Duration    // how long a listing is taken for true; 0: the folder is read each time
	Now         func() time.Time // nil: time.Now
	Names       []string         // that front matter may have
	// the files are presets: they are called by their file names, and the folder may be missing
	Presets bool
}

// Skipped is a file that cannot be used.
type Skipped struct {
	File   string `json:"file"`
	Reason string `json:"reason"` // for people, with what would help
}

// Listing is what a shelf holds: oracles by their names, skipped files by theirs.
type Listing struct {
	Oracles []Persona `json:"oracles"`
	Skipped []Skipped `json:"skipped"`
}

// Brief is a listing without the texts of its oracles.
func (l Listing) Brief() Listing {
	l = Listing{Oracles: append([]Persona{}, l.Oracles...), Skipped: append([]Skipped{}, l.Skipped...)}
	for i := range l.Oracles {
		l.Oracles[i].Content, l.Oracles[i].Slug = "", ""
	}
	return l
}

// clone makes a listing that its user may change.
func (l Listing) clone() Listing {
	l.Oracles, l.Skipped = slices.Clone(l.Oracles), slices.Clone(l.Skipped)
	for i := range l.Oracles {
		l.Oracles[i].Warnings = slices.Clone(l.Oracles[i].Warnings)
	}
	return l
}

// Read reads one file as a preset is read, wherever it lies.
func Read(file, placeholder string) (Persona, error) {
	s := New(Config{Placeholder: placeholder, Presets: true})
	abs, err := filepath.Abs(file)
	if err != nil {
		return Persona{}, err
	}
	p, err := s.readOracle(abs)
	if err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// Shelf is a folder of oracles.
type Shelf struct {
	config Config

	mu       sync.Mutex
	listedAt time.Time // when listing was true; zero: never
	listing  Listing
}

// New gives the shelf of a folder. Nothing is read before it is asked.
func New(c Config) *Shelf {
	c.Placeholder = cmp.Or(c.Placeholder, DefaultPlaceholder)
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Shelf{config: c}
}

// List gives the oracles and the files that cannot be used. An error means that the folder itself cannot be read, or
// ctx.Err.
func (s *Shelf) List(ctx context.Context) (Listing, error) {
	s.mu.Lock()
	age := s.config.Now().Sub(s.listedAt)
	known, isTrue := s.listing.clone(), !s.listedAt.IsZero() && age >= 0 && age < s.config.TTL
	s.mu.Unlock()
	if isTrue {
		return known, ctx.Err()
	}
	return s.refresh(ctx)
}

func (s *Shelf) refresh(ctx context.Context) (l Listing, err error) {
	now := s.config.Now()
	if s.config.Dir == "" {
		l, err = builtIn()
	} else {
		l, err = s.readFolder(ctx)
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return Listing{}, err
	}
	sortAndWarn(&l)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listing, s.listedAt = l.clone(), now
	return l, nil
}

// BuiltIn is the folder in the paths of oracles that came with the program.
const BuiltIn = "/prompts/oracles"

// builtIn lists the oracles that came with the program. They have the placeholder that they were written with.
func builtIn() (l Listing, err error) {
	names, err := fs.Glob(prompts.Oracles(), "*.md")
	if err != nil {
		return l, err
	}
	for _, name := range names {
		known := path.Join(BuiltIn, name)
		data, err := fs.ReadFile(prompts.Oracles(), name)
		if err != nil {
			return l, err
		}
		text, err := decode(data)
		if err != nil {
			return l, fmt.Errorf("%s: %w", known, err)
		}
		p, err := parse(text, known, name, DefaultPlaceholder)
		if err != nil {
			return l, fmt.Errorf("%s: %w", known, err)
		}
		l.Oracles = append(l.Oracles, p)
	}
	return l, nil
}

// readFolder lists those of a person's folder.
func (s *Shelf) readFolder(ctx context.Context) (l Listing, err error) {
	dir, err := filepath.Abs(s.config.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	var entries []fs.DirEntry
	if err == nil {
		entries, err = os.ReadDir(dir)
	}
	switch {
	case s.config.Presets && errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err != nil && s.config.Presets:
		return l, fmt.Errorf("the folder of presets cannot be read: %w", err)
	case err != nil:
		return l, folderError(s.config.Dir, err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		name := e.Name()
		return strings.HasPrefix(name, ".") || !strings.EqualFold(filepath.Ext(name), ".md") ||
			strings.EqualFold(name, "README.md")
	})
	if len(entries) > MaxFiles {
		l.Skipped = append(l.Skipped,
			Skipped{File: dir, Reason: fmt.Sprintf(
				"%d of its files are left out, from %s on: the folder has more than %d",
				len(entries)-MaxFiles, entries[MaxFiles].Name(), MaxFiles)})
		entries = entries[:MaxFiles]
	}
	isLink := func(e fs.DirEntry) fs.FileMode { return e.Type() & fs.ModeSymlink }
	// a file before links to it
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(isLink(a), isLink(b)) })
	taken := map[string]bool{}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return l, err
		}
		name := filepath.Join(dir, entry.Name())
		p, err := s.readOracle(name)
		switch {
		case err != nil:
			l.Skipped = append(l.Skipped, Skipped{File: name, Reason: err.Error()})
		case !taken[p.File]:
			taken[p.File] = true
			l.Oracles = append(l.Oracles, p)
		}
	}
	return l, nil
}

func (s *Shelf) readOracle(name string) (Persona, error) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return Persona{}, readError(err)
	}
	text, err := load(real)
	if err != nil {
		return Persona{}, err
	}
	p, err := parse(text, real, name, s.config.Placeholder)
	if err != nil {
		return p, err
	}
	if s.config.Presets {
		p.Name, p.Warnings = fileTitle(name), []string{}
		p.Slug = Slug(p.Name)
	}
	for _, e := range p.Front {
		if err := preset.Check(e, filepath.Base(name), s.config.Names); err != nil {
			p.warn("%v", err)
		}
	}
	return p, nil
}

// sortAndWarn orders a listing, and warns of names that two oracles have.
func sortAndWarn(l *Listing) {
	slices.SortFunc(l.Oracles, func(a, b Persona) int {
		return cmp.Or(cmp.Compare(fold(a.Name), fold(b.Name)), cmp.Compare(a.File, b.File))
	})
	slices.SortFunc(l.Skipped, func(a, b Skipped) int { return cmp.Compare(a.File, b.File) })
	called := map[string][]*Persona{}
	for i := range l.Oracles {
		name := fold(l.Oracles[i].Name)
		called[name] = append(called[name], &l.Oracles[i])
	}
	for _, all := range called {
		for i := 0; len(all) > 1 && i < len(all); i++ {
			other := all[0]
			if i == 0 {
				other = all[1]
			}
			all[i].warn("%s has the same name; ask for it by its id %s, or rename one",
				filepath.Base(other.File), all[i].ID)
		}
	}
}

// Create makes a file to start from in the folder, with comments that explain it, in a language of "pt", "en", "de".
// The folder is made if it is missing. It never replaces a file. File is the path of the new one.
func (s *Shelf) Create(ctx context.Context, name, language string) (file string, err error) {
	template, err := templates.ReadFile("template/" + language + ".md")
	if err != nil {
		return "", fmt.Errorf("there is no template in the language %q; use en, pt or de", language)
	}
	if file, err = s.place(ctx, name); err != nil {
		return "", err
	}
	if err := writeNew(file, s.draft(string(template), oneLine(name))); err != nil {
		return file, err
	}
	_, err = s.refresh(ctx) // the next one has it
	return file, err
}

// place gives the path of the file of a new oracle, in a folder that is there then. Errors that the name is to blame
// for wrap ErrText.
func (s *Shelf) place(ctx context.Context, name string) (file string, err error) {
	if s.config.Dir == "" {
		return "", ErrBuiltIn
	}
	if err := checkName(name); err != nil {
		return "", err
	}
	dir, err := filepath.Abs(s.config.Dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return "", folderError(s.config.Dir, err)
	}
	l, err := s.refresh(ctx)
	if err != nil {
		return "", err
	}
	for _, p := range l.Oracles {
		if fold(p.Name) == fold(name) {
			return "", nameError{fmt.Sprintf("there is already an oracle “%s”: %s", p.Name, p.File)}
		}
	}
	base := Slug(name) + ".md"
	if !filepath.IsLocal(base) || strings.EqualFold(base, "README.md") {
		return "", nameError{fmt.Sprintf("no oracle can be called “%s”: the file name %s has another meaning; choose "+
			"another name", oneLine(name), base)}
	}
	return filepath.Join(dir, base), nil
}

// nameError is why an oracle can't have a name.
type nameError struct{ text string }

func (e nameError) Error() string { return e.text }

// Unwrap says of which kind it is.
func (nameError) Unwrap() error { return ErrText }

// checkName says why a name can't be a title.
func checkName(name string) error {
	switch n := utf8.RuneCountInString(name); {
	case !utf8.ValidString(name) || strings.ContainsAny(name, "\r\n\x00"):
		return errors.New("the name of an oracle is one line of text")
	case oneLine(name) == "":
		return errors.New("the name of an oracle is empty")
	case n > maxName:
		return fmt.Errorf("the name of an oracle has at most %d characters; this one has %d", maxName, n)
	}
	return nil
}

// draft is what a new file holds.
func (s *Shelf) draft(template, name string) string {
	return strings.NewReplacer("@NAME@", heading(name, s.config.Placeholder), "@PLACEHOLDER@", s.config.Placeholder).
		Replace(template)
}

// heading writes a name so that it is read back as it is, and is neither a comment nor the placeholder.
func heading(name, placeholder string) string {
	if title("# "+name) == name && !strings.Contains(name, commentOpens) && !strings.Contains(name, placeholder) {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// writeNew makes a file that must not be there yet. On an error none is left.
func writeNew(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nameError{file + " already exists and is not replaced; choose another name"}
	}
	if err != nil {
		return fmt.Errorf("making the oracle: %w", err)
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("making the oracle: %w", err), os.Remove(file))
	}
	return nil
}

// folderError says what is wrong with the folder, and which setting names it.
func folderError(dir string, err error) error {
	what := "cannot be read"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		what = "does not exist; create it, or remove the setting to use the built-in oracles"
	case errors.Is(err, fs.ErrPermission):
		what = "may not be read; change its permissions"
	}
	return fmt.Errorf("the folder of oracles (ORACLES_DIR) %s %s: %w", dir, what, err)
}
