package persona

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

//go:embed template/*.md
var templates embed.FS

// Create makes a file to start from in the folder, with comments that explain it, in a language of "pt", "en", "de"; any other is taken as
// "pt". The folder is made if it is missing. It never replaces a file. File is the path of the new one.
func (s *Shelf) Create(ctx context.Context, name, language string) (file string, err error) {
	done, err := s.take(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	if s.config.Dir == "" {
		return "", errors.New("the oracles in use are built in; set ORACLES_DIR to a folder of your own to create new ones there")
	}
	if err := usable(name); err != nil {
		return "", err
	}
	dir, err := filepath.Abs(s.config.Dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return "", folderError(s.config.Dir, err)
	}
	if err := s.look(ctx, true); err != nil {
		return "", err
	}
	for _, p := range s.listing.Oracles {
		if fold(p.Name) == fold(name) {
			return "", fmt.Errorf("there is already an oracle “%s”: %s", p.Name, p.File)
		}
	}
	base := Slug(name) + ".md"
	if !filepath.IsLocal(base) || strings.EqualFold(base, "README.md") {
		return "", fmt.Errorf("no oracle can be called “%s”: the file name %s has another meaning; choose another name", oneLine(name), base)
	}
	file = filepath.Join(dir, base)
	s.looked = time.Time{} // the next list has it
	return file, writeNew(file, s.draft(oneLine(name), language))
}

// usable says why a name cannot be a title.
func usable(name string) error {
	switch {
	case !utf8.ValidString(name) || strings.ContainsAny(name, "\r\n\x00"):
		return errors.New("the name of an oracle is one line of text")
	case oneLine(name) == "":
		return errors.New("the name of an oracle is empty")
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Errorf("the name of an oracle has at most %d characters; this one has %d", maxName, utf8.RuneCountInString(name))
	}
	return nil
}

// draft is what a new file holds.
func (s *Shelf) draft(name, language string) string {
	text, err := templates.ReadFile("template/" + language + ".md")
	if err != nil {
		text, _ = templates.ReadFile("template/pt.md")
	}
	return strings.NewReplacer("@NAME@", heading(name, s.config.Placeholder), "@PLACEHOLDER@", s.config.Placeholder).Replace(string(text))
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
		return fmt.Errorf("%s already exists and is not replaced; choose another name", file)
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
