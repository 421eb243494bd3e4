// Package prompts holds the prompt texts as files, embedded in the binary, and lays a person's own texts over them.
package prompts

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// FS holds the embedded prompts: oracle/base.md and its siblings, tasks/intent.md, and those of council and inquiry.
//
//go:embed oracle/*.md tasks/*.md council/*.md inquiry/*.md
var FS embed.FS

//go:embed oracles/*.md
var oracles embed.FS

// Oracles holds the personas of the Council that are built in, a Markdown file each. They are no prompts in the sense
// of FS: who wants others has a folder of oracles.
func Oracles() fs.FS {
	sub, err := fs.Sub(oracles, "oracles")
	if err != nil {
		panic(err) // the name is valid
	}
	return sub
}

// Overlay returns the embedded prompts with the files of upper in place of those of the same name. upper may hold
// only some of them. A Markdown file in it that replaces nothing is an error, because a misspelt name would
// otherwise be ignored without a word. README.md, files of other kinds, hidden folders and a folder of oracles are
// ignored.
//
// The result is for opening files by name: its directories are the embedded ones. A file of upper that cannot be
// read is an error when it is opened, never a reason to serve the embedded text.
func Overlay(upper fs.FS) (fs.FS, error) {
	err := fs.WalkDir(upper, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("reading the prompt folder: %w", err)
		case entry.IsDir() && (name == "oracles" || name != "." && strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case entry.IsDir() || !strings.EqualFold(path.Ext(name), ".md") || entry.Name() == "README.md":
			return nil
		}
		if info, err := fs.Stat(FS, name); err != nil || info.IsDir() {
			known, _ := fs.Glob(FS, "*/*.md")
			return fmt.Errorf("%s in the prompt folder replaces no prompt; rename it to one of %s, or remove it",
				name, strings.Join(known, ", "))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return overlay{upper: upper}, nil
}

type overlay struct{ upper fs.FS }

func (o overlay) Open(name string) (fs.File, error) {
	if info, err := fs.Stat(FS, name); err == nil && info.IsDir() {
		return FS.Open(name)
	}
	file, err := o.upper.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return FS.Open(name)
	}
	return file, err
}
